/** Publishes until nothing more is due. */
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';

/** A clock that can be set forward. */
export class SettableClock {
  readonly #nowMs: () => number;
  #aheadMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  readonly nowMs = (): number => this.#nowMs() + this.#aheadMs;

  forwardTo(atMs: number): void {
    this.#aheadMs += Math.max(0, atMs - this.nowMs());
  }
}

/** Publishes all marked markets, but not a list that its cadence delays. */
async function publishMarked(
  dependencies: PublisherDependencies,
): Promise<{ readonly generations: number; readonly listDueAtMs: number | null }> {
  for (let generations = 0; ; ) {
    const { kind, isMoreDue, listDueAtMs } = await publish(dependencies);
    if (kind === 'published') generations++;
    if (!isMoreDue) return { generations, listDueAtMs };
  }
}

/**
 * Publishes all marked markets, and then the list: the clock is set to the moment when the list is due. Returns the number
 * of generations.
 */
export async function publishDue(dependencies: PublisherDependencies, clock: SettableClock): Promise<number> {
  const { generations, listDueAtMs } = await publishMarked({ ...dependencies, nowMs: clock.nowMs });
  if (listDueAtMs === null) return generations;
  clock.forwardTo(listDueAtMs);
  return generations + (await publishMarked({ ...dependencies, nowMs: clock.nowMs })).generations;
}
