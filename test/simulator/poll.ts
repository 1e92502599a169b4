/** The schedule, which wakes processes once a minute, so that a lost wake-up costs a minute at most. */
import type { Actors } from './actors.ts';
import { wokenBy } from './facts.ts';
import type { World } from './world.ts';

const POLL_MS = 60_000;
const MANY_POLLS = 10;
const LONGEST_POLL_MS = 4 * 60 * 60 * 1000;

/** Wakes processes once a minute while work is due, up to a limit. Reports if that was not enough. */
export class Poll {
  readonly #world: World;
  readonly #actors: Actors;
  #isScheduled = false;
  #left = Number.POSITIVE_INFINITY;
  /** Polls since new work was due. */
  #fruitless = 0;

  constructor(world: World, actors: Actors) {
    this.#world = world;
    this.#actors = actors;
    world.onCommit(({ changes }) => {
      const { publishing, working } = wokenBy(changes);
      if (publishing || working) this.#fruitless = 0;
      this.start();
    });
  }

  start(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After so many polls without effect, time may pass faster.
    const slower = this.#left === Number.POSITIVE_INFINITY ? 2 ** Math.max(0, this.#fruitless - MANY_POLLS) : 1;
    this.#world.scheduler.after(Math.min(POLL_MS * slower, LONGEST_POLL_MS), () => this.#poll());
  }

  /** From now on this many polls must be enough. */
  limit(polls: number): void {
    this.#left = polls;
    this.start();
  }

  #poll(): void {
    this.#isScheduled = false;
    const { publishing, working } = this.#world.due();
    if (publishing.length + working.length === 0 || this.#left-- <= 0) return;
    this.#fruitless++;
    const { random } = this.#world;
    // Each process at a different time within the minute.
    if (publishing.length > 0) for (const actor of this.#actors.publishers) actor.wake(random.unit() * POLL_MS);
    if (working.length > 0) for (const actor of this.#actors.workers) actor.wake(random.unit() * POLL_MS);
    this.start();
  }
}
