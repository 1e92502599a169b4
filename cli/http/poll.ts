/** Reads a resource until it has reached its end. */
import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** The last value that was read; it may be unfinished, if the time was over before. */
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
