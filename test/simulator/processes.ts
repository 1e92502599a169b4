/** Processes that call storage, and the fates of their calls. */
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Fate, Fates } from './faults.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trace } from './trace.ts';

/** One life of a process. After its death no call is answered, so its code stops. */
export interface Incarnation {
  readonly name: string;
  readonly isMortal: boolean;
  /** See {@link Operations.age}. */
  readonly age: number;
  dead: boolean;
  die(): void;
}

/** Another transaction on one of its items is running. Nothing was done. */
export const CONTENDED = Symbol('contended');

export interface Operation<Result> {
  /** E.g. `objects.put`. */
  readonly name: string;
  readonly key: () => string;
  readonly isWrite: boolean;
  /** Does the operation at one moment. Throws for input that the port forbids. */
  readonly effect: () => Result | typeof CONTENDED;
  /** The delay of the answer after the effect. Default: none. */
  readonly answerAfterMs?: (result: Result) => number;
  readonly describe: (result: Result) => string;
}

/** Runs operations, now or later. */
export interface Performer {
  /** Simulated time since the beginning of the world. */
  readonly elapsedMs: number;
  perform<Result>(caller: Incarnation, operation: Operation<Result>): Promise<Result>;
}

/** Runs each operation at once, without the scheduler, e.g. for the oracle. */
export class AtOnce implements Performer {
  elapsedMs = 0;

  async perform<Result>(_caller: Incarnation, operation: Operation<Result>): Promise<Result> {
    // Longer than a transaction runs.
    this.elapsedMs += 10;
    const result = operation.effect();
    if (result === CONTENDED) throw new StorageUnavailable('contended, although nothing is under way');
    return result;
  }
}

/** A caller that never dies. */
export const BYSTANDER = immortal('bystander');

export function immortal(name: string): Incarnation {
  return { name, isMortal: false, age: Number.POSITIVE_INFINITY, dead: false, die: () => undefined };
}

/** As the adapter of DynamoDB does. */
const MOST_TRIES = 10;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

export class Operations implements Performer {
  readonly #scheduler: Scheduler;
  readonly #fates: Fates;
  readonly #random: Random;
  readonly #trace: Trace;
  /** Grows with each restore. Requests of earlier processes then have no effect. */
  age = 0;
  /** The number of operations, and of conflicts between transactions. */
  performed = 0;
  contended = 0;

  constructor(scheduler: Scheduler, fates: Fates, random: Random, trace: Trace) {
    this.#scheduler = scheduler;
    this.#fates = fates;
    this.#random = random;
    this.#trace = trace;
  }

  get elapsedMs(): number {
    return this.#scheduler.elapsedMs;
  }

  perform<Result>(caller: Incarnation, operation: Operation<Result>): Promise<Result> {
    const fate = this.#fates.of(operation.isWrite, caller.isMortal);
    this.performed++;
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.#fates.latencyMs(), () => this.#arrive(caller, operation, fate, resolve, reject, 1));
    });
  }

  #arrive<Result>(
    caller: Incarnation,
    operation: Operation<Result>,
    fate: Fate,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
    tries: number,
  ): void {
    // A request may arrive after its process died, or never.
    if (caller.age < this.age || (caller.dead && (!operation.isWrite || this.#random.chance(0.5)))) return;
    const note = (outcome: string) => this.#note(caller, operation, outcome);
    const unavailable = () => reject(new StorageUnavailable(`${operation.name}: injected`));
    switch (fate) {
      case 'fails':
        note('fails');
        unavailable();
        return;
      case 'dies-before':
        note('its process dies, without effect');
        caller.die();
        return;
      case 'lands-late':
        note('fails, and will land late');
        this.#landLate(caller, operation);
        unavailable();
        return;
      case 'dies-late':
        note('its process dies; will land late');
        this.#landLate(caller, operation);
        caller.die();
        return;
    }
    let result: Result | typeof CONTENDED;
    try {
      result = operation.effect();
    } catch (error) {
      note(String(error));
      reject(error);
      return;
    }
    if (result === CONTENDED) {
      this.contended++;
      note(tries < MOST_TRIES ? 'contended' : 'contended, given up');
      if (tries === MOST_TRIES) {
        unavailable();
        return;
      }
      const pauseMs = this.#random.unit() * Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
      this.#scheduler.after(pauseMs + this.#fates.latencyMs(), () => {
        if (!caller.dead) this.#arrive(caller, operation, fate, resolve, reject, tries + 1);
      });
      return;
    }
    if (this.#trace.isKept) note(operation.describe(result) + (fate === 'done' ? '' : ` (${fate})`));
    if (fate === 'dies-after') {
      caller.die();
      return;
    }
    const answer = () => {
      if (!caller.dead) fate === 'answer-lost' ? unavailable() : resolve(result as Result);
    };
    const answerAfterMs = operation.answerAfterMs?.(result) ?? 0;
    if (answerAfterMs > 0) this.#scheduler.after(answerAfterMs, answer);
    else answer();
  }

  /** A request without a caller. If it conflicts with another transaction, it is not repeated. */
  #landLate<Result>(caller: Incarnation, operation: Operation<Result>): void {
    this.#scheduler.after(this.#fates.lateMs(), () => {
      if (caller.age < this.age) return;
      let outcome: string;
      try {
        const result = operation.effect();
        outcome = result === CONTENDED ? 'contended' : operation.describe(result);
      } catch (error) {
        outcome = String(error);
      }
      this.#note(caller, operation, `lands late: ${outcome}`);
    });
  }

  #note(caller: Incarnation, { name, key }: Pick<Operation<unknown>, 'name' | 'key'>, outcome: string): void {
    if (this.#trace.isKept) this.#trace.note(this.#scheduler.elapsedMs, caller.name, name, key(), outcome);
  }
}
