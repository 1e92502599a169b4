/** The schedule that rings once a minute: nothing that is due waits for a doorbell for ever. */
import type { Actors } from './actors.ts';
import { rungBy } from './facts.ts';
import type { World } from './world.ts';

const POLL_MS = 60_000;
const MANY_POLLS = 10;
const LONGEST_POLL_MS = 4 * 60 * 60 * 1000;

/** Rings once a minute for what is due, so many times at most; tells when that was not enough. */
export class Poll {
  readonly #world: World;
  readonly #actors: Actors;
  #isScheduled = false;
  #left = Number.POSITIVE_INFINITY;
  /** Polls since anything new was due. */
  #fruitless = 0;

  constructor(world: World, actors: Actors) {
    this.#world = world;
    this.#actors = actors;
    world.onCommit(({ changes }) => {
      const { publishing, working } = rungBy(changes);
      if (publishing || working) this.#fruitless = 0;
      this.start();
    });
  }

  start(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // What has come to nothing so often will: time may pass faster.
    const slower = this.#left === Number.POSITIVE_INFINITY ? 2 ** Math.max(0, this.#fruitless - MANY_POLLS) : 1;
    this.#world.scheduler.after(Math.min(POLL_MS * slower, LONGEST_POLL_MS), () => this.#poll());
  }

  /** From now on so many polls are enough, or something is wrong. */
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
    // Each at its own time within the minute.
    if (publishing.length > 0) for (const actor of this.#actors.publishers) actor.ring(random.unit() * POLL_MS);
    if (working.length > 0) for (const actor of this.#actors.workers) actor.ring(random.unit() * POLL_MS);
    this.start();
  }
}
