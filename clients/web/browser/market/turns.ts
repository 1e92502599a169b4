/** Long work in short turns: between two of them the page answers its reader. */

/** Work that may pause at each `yield`, and its result. */
export type Work<Result> = Generator<undefined, Result>;

/** Work on a list may pause after this many items. */
export const PAUSE_EVERY = 64;

/** A frame of a screen has 16. */
const TURN_MS = 8;

/** Numbers that stand side by side are sorted without a pause, and much faster than those of a list. @param count of them */
export function ascending(numbers: Iterable<number>, count: number): Float64Array {
  const sorted = new Float64Array(count);
  let at = 0;
  for (const number of numbers) sorted[at++] = number;
  return sorted.sort();
}

/** Does it all at once. */
export function finished<Result>(work: Work<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** @param isWanted asked before each turn. @returns null: it was no longer wanted */
export async function inTurns<Result>(
  work: Work<Result>,
  isWanted: () => boolean = () => true,
): Promise<Result | null> {
  let endMs = performance.now() + TURN_MS;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < endMs) continue;
    await nextTurn();
    if (!isWanted()) return null;
    endMs = performance.now() + TURN_MS;
  }
}

/** With the scheduler of browsers that have it, because timers wait four milliseconds. */
export async function nextTurn(): Promise<void> {
  const { scheduler } = globalThis as { readonly scheduler?: { readonly yield?: () => Promise<void> } };
  if (scheduler?.yield !== undefined) return await scheduler.yield();
  await new Promise((resolve) => setTimeout(resolve));
}
