/**
 * The turn machine: who speaks, what was heard, when the call is over. Pure: `step` takes the state,
 * one event and the time, and returns the next state and what is to be done.
 */
export type {
  AgentMode,
  EndReason,
  TurnEffect,
  TurnEvent,
  TurnMessage,
} from "./turn/messages.ts";
export {
  type Entry,
  initialTurnState,
  type TurnConfig,
  type TurnState,
  transcriptAt,
  unheardMs,
} from "./turn/state.ts";
export { resume, type Step, step } from "./turn/step.ts";
