/** Processes that call storage, the fates of their calls, and the trace of them for people. */

import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** The fate of one operation. If it dies, the whole process of its caller dies. */
export type Fate =
  | 'done'
  /** Rejects without effect. */
  | 'fails'
  /** Has its effect, but the answer is lost. */
  | 'answer-lost'
  /** Rejects now, and has its effect later, perhaps after a retry. */
  | 'lands-late'
  | 'dies-before'
  | 'dies-after'
  /** The process dies, and the request takes effect later. */
  | 'dies-late';

export interface Conditions {
  /** Probability of a fault in an operation. */
  readonly faultRate: number;
  /** Share of the faults in which the process dies. */
  readonly deathShare: number;
  /** The longest time until an operation reaches the storage. */
  readonly latencyMs: number;
  /** Probability that a transaction's items become visible one by one, and the longest time that this takes. */
  readonly staggerRate: number;
  readonly staggerMs: number;
  /** Only for processes whose names begin with this. Empty: all. */
  readonly staggered: string;
  /** Probability of a short page of a query. */
  readonly shortPageRate: number;
}

export const CALM: Conditions = {
  faultRate: 0,
  deathShare: 0,
  latencyMs: 8,
  staggerRate: 0,
  staggerMs: 0,
  staggered: '',
  shortPageRate: 0,
};

export function drawConditions(random: Random): Conditions {
  return {
    faultRate: random.weighted([
      [3, 0],
      [3, 0.005],
      [3, 0.02],
      [1, 0.06],
    ]),
    deathShare: random.pick([0, 0.2, 0.5]),
    latencyMs: random.weighted([
      [3, 8],
      [1, 60],
    ]),
    staggerRate: random.pick([0, 0.5, 0.9]),
    staggerMs: random.pick([20, 200, 2_000]),
    staggered: random.pick(['', 'worker']),
    shortPageRate: random.pick([0, 0.15]),
  };
}

const READ_FAULTS = ['fails', 'dies-before'] as const;

/**
 * Faults end after this many operations. Otherwise a repair of a restored ledger, which succeeds only if a hundred operations in
 * a row do, may need hundreds of hours.
 */
const MOST_OPERATIONS_WITH_FAULTS = 50_000;

/** Draws the fate of each operation, until faults end. */
export class Fates {
  readonly conditions: Conditions;
  readonly #random: Random;
  #over = false;
  #asked = 0;

  constructor(conditions: Conditions, random: Random) {
    this.conditions = conditions;
    this.#random = random;
  }

  /** From now on all operations succeed. Late requests still arrive. */
  end(): void {
    this.#over = true;
  }

  /** Sometimes minutes, in which the caller waits and others work. */
  latencyMs(): number {
    const { faultRate } = this.conditions;
    if (!this.#over && faultRate > 0 && this.#random.chance(faultRate / 2)) return this.#random.spread(200, 300_000);
    return 0.5 + this.#random.unit() * this.conditions.latencyMs;
  }

  /** From some milliseconds to half an hour. */
  lateMs(): number {
    return this.#random.spread(5, 30 * 60_000);
  }

  of(isWrite: boolean, isMortal: boolean): Fate {
    const { faultRate, deathShare } = this.conditions;
    if (++this.#asked > MOST_OPERATIONS_WITH_FAULTS) this.#over = true;
    if (this.#over || faultRate === 0 || !this.#random.chance(faultRate)) return 'done';
    const dies = isMortal && this.#random.chance(deathShare);
    if (!isWrite) return READ_FAULTS[dies ? 1 : 0];
    return this.#random.pick<Fate>(
      dies ? ['dies-before', 'dies-after', 'dies-late'] : ['fails', 'answer-lost', 'lands-late'],
    );
  }
}

export class Trace {
  readonly isKept: boolean;
  readonly lines: string[] = [];

  constructor(isKept: boolean) {
    this.isKept = isKept;
  }

  note(elapsedMs: number, actor: string, operation: string, key: string, outcome: string): void {
    if (!this.isKept) return;
    this.lines.push(
      `${timeOf(elapsedMs)}  ${actor.padEnd(13)} ${operation.padEnd(16)} ${key}${outcome === '' ? '' : `  → ${outcome}`}`,
    );
  }
}

/** Hours, minutes, seconds and milliseconds, with a fraction to distinguish events of one millisecond. */
function timeOf(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const pad = (value: number) => String(value).padStart(2, '0');
  const clock = `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return `${clock}.${(elapsedMs % 1000).toFixed(2).padStart(6, '0')}`;
}

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
