/**
 * Chooses the earlier price with which a market's newest price is compared. The choice depends on the moment of the newest
 * price, not on the clock: a change stays the same until there is another price. Without the schema library. Pure.
 */

export interface PricePoint {
  /** The exact amount. Null: unknown. */
  readonly decimal: string | null;
  /** RFC 3339 in UTC. */
  readonly observedAt: string;
}

export type ChangeSpan = 'day' | 'month' | 'year';

const DAY_MS = 86_400_000;

/** In days. Markets close on weekends and holidays, so a price of some days earlier is accepted. */
const SPANS: Readonly<Record<ChangeSpan, { readonly least: number; readonly aim: number; readonly most: number }>> = {
  day: { least: 0.5, aim: 1, most: 4 },
  month: { least: 25, aim: 30, most: 36 },
  year: { least: 350, aim: 365, most: 380 },
};

/** Searches the prices of one source for the known one whose distance from the newest price is closest to a span. */
export class PriceBefore {
  readonly #span: (typeof SPANS)[ChangeSpan];
  #newestMs: number | null = null;
  #off = Number.POSITIVE_INFINITY;
  /** Null: there is no known price from about that time. */
  found: (PricePoint & { readonly decimal: string }) | null = null;
  /** Whether older prices cannot change the result. */
  isComplete = false;

  constructor(span: ChangeSpan) {
    this.#span = SPANS[span];
  }

  /** Adds the next older price. @param decimalOf called only for a price from about that time */
  add(observedAt: string, decimalOf: () => string | null): void {
    const { least, aim, most } = this.#span;
    const ms = Date.parse(observedAt);
    this.#newestMs ??= ms;
    const days = (this.#newestMs - ms) / DAY_MS;
    const off = Math.abs(days - aim);
    if (days > most) this.isComplete = true;
    if (this.isComplete || days < least || off >= this.#off) return;
    const decimal = decimalOf();
    if (decimal !== null) [this.found, this.#off] = [{ decimal, observedAt }, off];
  }

  /** Whether the newest `rows` rows are so dense that `rowsMax` rows would not cover the span. */
  isTooDense(observedAt: string, rows: number, rowsMax: number): boolean {
    const days = ((this.#newestMs ?? 0) - Date.parse(observedAt)) / DAY_MS;
    return days * rowsMax < this.#span.least * rows;
  }
}
