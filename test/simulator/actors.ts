/** The processes of a world: they are woken, by commits and once a minute, do a round of work, die, and are started again. */
import { isMarket, wokenBy } from './facts.ts';
import type { Incarnation } from './processes.ts';
import { type AcceptedBatch, type Api, type Host, isPassing } from './wiring.ts';
import type { World } from './world.ts';

/** The time that an invocation has for more work. */
const INVOCATION_MS = 60_000;
/** How often an invocation tries a deferred market again. */
const DEFERRED_RETRIES = 4;
const DEFERRED_PAUSE_MS = 500;
const OPERATOR_PAUSE_MS = 5_000;

/** The successive lives of one process. */
export class Slot<State> {
  readonly #world: World;
  readonly #name: string;
  readonly #open: (host: Host) => State;
  readonly #onDeath: () => void;
  #lives = 0;
  #life: Incarnation;
  state: State;

  constructor(world: World, name: string, open: (host: Host) => State, onDeath: () => void = () => undefined) {
    this.#world = world;
    this.#name = name;
    this.#open = open;
    this.#onDeath = onDeath;
    this.#life = this.#born();
    this.state = open(world.hostOf(this.#life));
  }

  get life(): Incarnation {
    return this.#life;
  }

  #born(): Incarnation {
    const life: Incarnation = {
      name: `${this.#name}.${++this.#lives}`,
      isMortal: true,
      age: this.#world.operations.age,
      dead: false,
      die: () => {
        if (life.dead) return;
        life.dead = true;
        this.#life = this.#born();
        this.state = this.#open(this.#world.hostOf(this.#life));
        this.#onDeath();
      },
    };
    return life;
  }
}

/** A process that does rounds of work, one at a time, when it is woken. */
export class Actor {
  readonly #world: World;
  readonly #slot: Slot<Host>;
  readonly #round: (host: Host) => Promise<void>;
  readonly #isOperator: boolean;
  #isRunning = false;
  #again = false;

  /** @param isOperator works also while the service is stopped */
  constructor(world: World, name: string, round: (host: Host) => Promise<void>, isOperator = false) {
    this.#world = world;
    this.#isOperator = isOperator;
    this.#round = round;
    world.mortals.push(this);
    this.#slot = new Slot(
      world,
      name,
      (host) => host,
      () => {
        if (!this.#isRunning) return;
        this.#isRunning = false;
        this.#again = false;
        this.wake(world.random.spread(10, 60_000));
      },
    );
  }

  wake(delayMs: number): void {
    this.#world.scheduler.after(delayMs, () => this.#begin());
  }

  die(): void {
    this.#slot.life.die();
  }

  #begin(): void {
    if (this.#world.isDown && !this.#isOperator) return;
    if (this.#isRunning) {
      this.#again = true;
      return;
    }
    this.#isRunning = true;
    const { life } = this.#slot;
    const ended = (outcome: string): void => {
      this.#world.note(life.name, 'round ends', outcome);
      this.#isRunning = false;
      if (this.#again) {
        this.#again = false;
        this.wake(0);
      }
    };
    this.#world.note(life.name, 'round begins');
    this.#round(this.#slot.state).then(
      () => ended(''),
      (error: unknown) => {
        if (!isPassing(error)) this.#world.fail('alarm', `${life.name}: ${describe(error)}`);
        ended(describe(error));
      },
    );
  }
}

export interface Actors {
  readonly publishers: readonly Actor[];
  readonly workers: readonly Actor[];
  readonly sweeper: Actor;
  readonly operator: Actor;
  readonly api: Slot<{ readonly request: Api; readonly accept: (batch: AcceptedBatch) => Promise<void> }>;
}

/** Starts the processes. Commits wake them if work is due, and so does a schedule, once a minute. */
export function startActors(
  world: World,
  publisherCount: number,
  workerCount: number,
  { isRungByCommits = true }: { readonly isRungByCommits?: boolean } = {},
): Actors {
  const { wiring } = world;
  const named = (name: string, count: number, round: (host: Host) => Promise<void>) =>
    Array.from({ length: count }, (_, index) => new Actor(world, `${name}-${index + 1}`, round));
  const publishers = named('publisher', publisherCount, async (host) => {
    for (let retries = 0; ; ) {
      const left = await wiring.publish(host);
      if (left === 'more') continue;
      if (left === 'nothing' || retries++ === DEFERRED_RETRIES) return;
      await host.pause(DEFERRED_PAUSE_MS);
    }
  });
  const workers = named('worker', workerCount, async (host) => {
    const endMs = host.nowMs() + INVOCATION_MS;
    await wiring.work(
      host,
      () => host.nowMs() < endMs,
      (error) => {
        if (world.torn.size === 0) world.fail('work-failed', describe(error));
      },
    );
  });
  const actors: Actors = {
    publishers,
    workers,
    sweeper: new Actor(world, 'sweep', (host) => wiring.sweep(host)),
    operator: new Actor(
      world,
      'operator',
      async (host) => {
        await untilDone(host, () => wiring.restore(host));
        // If a market is in no index, the log of a worker names it, because its batches fail.
        const named = [...world.torn].filter((market) => !isMarket(world.items, market));
        for (const market of named) await untilDone(host, () => wiring.repair(host, market));
        world.restored();
      },
      true,
    ),
    api: new Slot(world, 'api', (host) => {
      return { request: wiring.openApi(host), accept: (batch) => wiring.accept(host, batch) };
    }),
  };
  world.mortals.push({ die: () => actors.api.life.die() });
  const { random } = world;
  if (!isRungByCommits) return actors;
  world.onCommit(({ changes }) => {
    const woken = wokenBy(changes);
    if (woken.publishing) wakeSome(publishers);
    if (woken.working && !world.settings.workersOnlyPoll) wakeSome(workers);
  });
  /** Wakes as a stream does: sometimes twice. */
  function wakeSome(some: readonly Actor[]): void {
    random.pick(some).wake(random.spread(0.5, 400));
    if (random.chance(0.3)) random.pick(some).wake(random.spread(0.5, 400));
  }
  return actors;
}

/** An operator tries failed work again. */
async function untilDone(host: Host, step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await host.pause(OPERATOR_PAUSE_MS);
    }
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

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
