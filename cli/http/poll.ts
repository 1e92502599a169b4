/** Reads a resource repeatedly until it has reached its final state. */
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Returns the last value, which is not final if the time was over before. */
export async function poll<Value>(
  read: () => Promise<Value>,
  isDone: (value: Value) => boolean,
  seconds: number,
): Promise<Value> {
  const deadlineMs = performance.now() + seconds * 1000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    const value = await read();
    if (isDone(value) || performance.now() + pauseMs > deadlineMs) return value;
    await sleep(pauseMs);
  }
}
