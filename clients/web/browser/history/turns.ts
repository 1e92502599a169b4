/** Divides long work into short turns, so that the page can react between them. */

/** Work that may pause at each `yield`, and its result. */
export type Work<Result> = Generator<undefined, Result>;

/** The number of list items after which work may pause. */
export const PAUSE_EVERY = 64;

/** The length of a turn. A frame of a screen takes 16 ms. */
const TURN_MS = 8;

/**
 * A typed array is sorted much faster than a list, but without a pause. A history is usually in order: then nothing is sorted.
 *
 * @param count their number
 */
export function* ascending(numbers: Iterable<number>, count: number): Work<Float64Array> {
  const all = new Float64Array(count);
  let [at, last, isFalling, isRising] = [0, Number.NaN, true, true];
  for (const number of numbers) {
    if (at === count) break;
    if (number < last) isRising = false;
    if (number > last) isFalling = false;
    last = number;
    all[at++] = number;
    if (at % PAUSE_EVERY === 0) yield;
  }
  if (isRising) return all;
  return isFalling ? all.reverse() : all.sort();
}

/** Does the work without a pause. */
export function finished<Result>(work: Work<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Measures whether work has lasted for a turn. */
export class PageTurns {
  #endMs = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#endMs = performance.now() + TURN_MS;
  }
}

/** @param isWanted called before each turn. @returns null: the work was no longer wanted */
export async function inTurns<Result>(
  work: Work<Result>,
  isWanted: () => boolean = () => true,
): Promise<Result | null> {
  const turns = new PageTurns();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (!turns.isOver) continue;
    await turns.next();
    if (!isWanted()) return null;
  }
}

/** Uses the browser's scheduler if it has one, because timers wait four milliseconds. */
export async function nextTurn(): Promise<void> {
  const { scheduler } = globalThis as { readonly scheduler?: { readonly yield?: () => Promise<void> } };
  if (scheduler?.yield !== undefined) return await scheduler.yield();
  await new Promise((resolve) => setTimeout(resolve));
}
