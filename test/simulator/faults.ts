/** The faults of one world, their rates, and the speed of storage: drawn once from the seed. */
import type { Random } from './random.ts';

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

/** Draws the fate of each operation, until faults end. */
export class Fates {
  readonly conditions: Conditions;
  readonly #random: Random;
  #over = false;

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
    if (this.#over || faultRate === 0 || !this.#random.chance(faultRate)) return 'done';
    const dies = isMortal && this.#random.chance(deathShare);
    if (!isWrite) return READ_FAULTS[dies ? 1 : 0];
    return this.#random.pick<Fate>(
      dies ? ['dies-before', 'dies-after', 'dies-late'] : ['fails', 'answer-lost', 'lands-late'],
    );
  }
}
