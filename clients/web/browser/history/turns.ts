/** Long work in short turns: between two of them the page answers its reader. */

/** Work that may pause at each `yield`, and its result. */
export type Work<Result> = Generator<undefined, Result>;

/** Work on a list may pause after this many items. */
export const PAUSE_EVERY = 64;

/** A frame of a screen has 16. */
const TURN_MS = 8;

/**
 * Numbers that stand side by side are sorted much faster than those of a list, but without a pause. A history is mostly in order: then
 * nothing is sorted. @param count of them
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

/** Does it all at once. */
export function finished<Result>(work: Work<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Says of some work when it has lasted for a turn. */
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

/** @param isWanted asked before each turn. @returns null: it was no longer wanted */
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

/** With the scheduler of browsers that have it, because timers wait four milliseconds. */
export async function nextTurn(): Promise<void> {
  const { scheduler } = globalThis as { readonly scheduler?: { readonly yield?: () => Promise<void> } };
  if (scheduler?.yield !== undefined) return await scheduler.yield();
  await new Promise((resolve) => setTimeout(resolve));
}
