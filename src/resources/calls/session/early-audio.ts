/** What comes beyond is dropped. */
const MAX_BYTES = 1024 * 1024;

/** Audio that came before the session began: its format is not certain until then. */
export function earlyAudio() {
  let frames: ArrayBuffer[] = [];
  let bytes = 0;
  return {
    isEmpty: () => frames.length === 0,
    keep(frame: ArrayBuffer): void {
      if (bytes + frame.byteLength > MAX_BYTES) return;
      bytes += frame.byteLength;
      frames.push(frame);
    },
    take(): ArrayBuffer[] {
      const taken = frames;
      frames = [];
      bytes = 0;
      return taken;
    },
  };
}
