import { expect, test } from "vitest";
import { Unavailable } from "../../../src/errors.ts";
import { callObject } from "../../../src/http/rpc.ts";

/** Calls an object that breaks with each of `failures` in turn, and then answers. */
async function calls(repeatable: boolean, ...failures: object[]) {
  const stubs: object[] = [];
  const newStub = () => {
    const stub = {};
    stubs.push(stub);
    return stub;
  };
  const call = async () => {
    const failure = failures.shift();
    if (failure) throw Object.assign(new Error("broken"), failure);
    return "answer";
  };
  const outcome = await callObject(newStub, call, { what: "the object", repeatable }).catch(
    (error) => error,
  );
  return { outcome, stubs: new Set(stubs).size };
}

test("a call that breaks is made once more, on a new stub", async () => {
  expect(await calls(true, {})).toEqual({ outcome: "answer", stubs: 2 });
  expect(await calls(true, { remote: true, retryable: true })).toEqual({
    outcome: "answer",
    stubs: 2,
  });
});

test("a call that breaks twice is unavailable", async () => {
  const { outcome, stubs } = await calls(true, {}, {});
  expect(outcome).toBeInstanceOf(Unavailable);
  expect(stubs).toBe(2);
});

test.each([
  ["may not arrive twice", false, {}],
  ["the object's own code refused", true, { remote: true }],
  ["found the object overloaded", true, { overloaded: true, retryable: true }],
])("a call that %s is not repeated", async (_what, repeatable, failure) => {
  const { outcome, stubs } = await calls(repeatable, failure);
  expect(outcome).toBeInstanceOf(Unavailable);
  expect(stubs).toBe(1);
});
