/**
 * The sum of a history: which observations, each at which revision, a market's record speaks of.
 *
 * Items of one transaction may become visible one after the other, so neither a count nor a second reading can tell whether
 * what was read belongs together. A sum can: every transaction moves it together with the observations that it writes, and a
 * reader who adds up what it has read knows whether anything is missing, old, or too much.
 */
import { hash } from 'node:crypto';

/** 128 bits: no accident makes two different histories add up alike. */
const DIGITS = 32;
const MODULUS = 1n << 128n;

/** The sum of no observations. */
export const EMPTY_SUM = '0'.repeat(DIGITS);

/** Adds up observations in any order; the same ones give the same sum. */
export class HistorySum {
  #sum: bigint;

  /** @param sum where to begin: 32 hex digits. */
  constructor(sum: string = EMPTY_SUM) {
    this.#sum = BigInt(`0x${sum}`);
  }

  /** Adds the observation at this place of the history, as the transaction wrote it that gave the market this revision. */
  add(order: string, revision: number): void {
    this.#sum = (this.#sum + termOf(order, revision)) % MODULUS;
  }

  remove(order: string, revision: number): void {
    this.#sum = (this.#sum - termOf(order, revision) + MODULUS) % MODULUS;
  }

  /** 32 hex digits. */
  get text(): string {
    return this.#sum.toString(16).padStart(DIGITS, '0');
  }
}

function termOf(order: string, revision: number): bigint {
  return BigInt(`0x${hash('sha256', `${order}/${revision}`).slice(0, DIGITS)}`);
}
