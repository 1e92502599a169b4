/** The sources of many markets whose next value is late, by the reader's clock. */

import type { Market } from '../values/market.ts';
import { latenessSeconds } from './expected-next.ts';

/** A late source. The market that has waited longest decides how late its source is. */
export interface LateSource {
  readonly label: string;
  /** Seconds since the value was expected. */
  readonly lateSeconds: number;
  readonly expectedNextAt: string;
  /** The number of markets that wait for a value of this source. */
  readonly markets: number;
}

/** When a number of markets expect a value of one source, with their grace period. */
interface Expectation {
  readonly label: string;
  readonly expectedNextAt: string;
  readonly graceSeconds: number;
  markets: number;
}

/** Holds one line for each source and moment, however many markets there are. Sources are distinguished by label. */
export class Expectations {
  readonly #lines = new Map<string, Expectation>();

  constructor(markets: readonly Pick<Market, 'sources'>[] = []) {
    for (const market of markets) this.add(market);
  }

  add({ sources }: Pick<Market, 'sources'>): void {
    for (const { label, cadence, expectedNextAt } of sources) {
      // A list of an earlier version has neither field.
      if (!expectedNextAt || !cadence) continue;
      const { graceSeconds } = cadence;
      const key = `${expectedNextAt} ${graceSeconds} ${label}`;
      const line = this.#lines.get(key);
      if (line === undefined) this.#lines.set(key, { label, expectedNextAt, graceSeconds, markets: 1 });
      else line.markets++;
    }
  }

  addAll({ lines }: Pick<Expectations, 'lines'>): void {
    for (const [key, { markets, ...line }] of lines) {
      this.#lines.set(key, { ...line, markets: markets + (this.#lines.get(key)?.markets ?? 0) });
    }
  }

  get lines(): ReadonlyMap<string, Readonly<Expectation>> {
    return this.#lines;
  }

  /** The next moment after this one at which an expected value becomes late; both in milliseconds. Null: no value is expected. */
  nextLateMs(nowMs: number): number | null {
    let next: number | null = null;
    for (const { expectedNextAt, graceSeconds } of this.#lines.values()) {
      // A value is late once more whole seconds have passed than its grace period has.
      const lateMs = Date.parse(expectedNextAt) + (graceSeconds + 1) * 1000;
      if (lateMs > nowMs && (next === null || lateMs < next)) next = lateMs;
    }
    return next;
  }

  /** The earliest moment at which a value is expected. Null: no value is expected. */
  get oldest(): string | null {
    const moments = [...this.#lines.values()].map(({ expectedNextAt }) => Date.parse(expectedNextAt));
    return moments.length === 0 ? null : new Date(Math.min(...moments)).toISOString();
  }

  /**
   * Late sources, the latest first; equally late ones are ordered by label.
   *
   * @param nowMs milliseconds since the epoch
   */
  late(nowMs: number): readonly LateSource[] {
    const late = new Map<string, LateSource>();
    for (const { label, expectedNextAt, graceSeconds, markets } of this.#lines.values()) {
      const lateSeconds = latenessSeconds(expectedNextAt, graceSeconds, nowMs);
      if (lateSeconds === 0) continue;
      const other = late.get(label);
      const worst = other !== undefined && other.lateSeconds >= lateSeconds ? other : { lateSeconds, expectedNextAt };
      late.set(label, { ...worst, label, markets: markets + (other?.markets ?? 0) });
    }
    return [...late.values()].sort(
      (left, right) => right.lateSeconds - left.lateSeconds || (left.label < right.label ? -1 : 1),
    );
  }
}
