/**
 * The sum of a history: the checksum by which a view of a market is compared with the market's record.
 *
 * The items of one transaction may become visible one after the other. So neither a count nor a second read shows whether
 * the items that were read belong together. A sum does: every transaction changes it together with the observations that it
 * writes. If the sum of the read items equals the record's sum, then no item is missing, too old, or too new.
 */
import { hash } from 'node:crypto';

/** 128 bits: two different histories do not have the same sum by accident. */
const DIGITS = 32;
const MODULUS = 1n << 128n;

/** The sum of a history without observations. */
export const EMPTY_SUM = '0'.repeat(DIGITS);

/** Adds observations in any order: the same observations give the same sum. */
export class HistorySum {
  #sum: bigint;

  /** @param sum the sum to start from: 32 hex digits */
  constructor(sum: string = EMPTY_SUM) {
    this.#sum = BigInt(`0x${sum}`);
  }

  /**
   * Adds the observation at this place of the history. `revision` is the market's revision that its transaction wrote.
   */
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
