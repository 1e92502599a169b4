/**
 * Which earlier price of a market its newest one is compared with. It depends on the moment of the newest price, not on the clock: a
 * change stays as it is until there is another price. Without the schema library. Pure.
 */

export interface PricePoint {
  /** Exact. Null: unknown. */
  readonly decimal: string | null;
  /** RFC 3339 in UTC. */
  readonly observedAt: string;
}

export type ChangeSpan = 'day' | 'month' | 'year';

const DAY_MS = 86_400_000;

/** In days. Markets rest on weekends and holidays, so a price of some days before stands in. */
const SPANS: Readonly<Record<ChangeSpan, { readonly least: number; readonly aim: number; readonly most: number }>> = {
  day: { least: 0.5, aim: 1, most: 4 },
  month: { least: 25, aim: 30, most: 36 },
  year: { least: 350, aim: 365, most: 380 },
};

/** Looks among the prices of one source for the known one whose distance to the newest is nearest to a span. */
export class PriceBefore {
  readonly #span: (typeof SPANS)[ChangeSpan];
  #newestMs: number | null = null;
  #off = Number.POSITIVE_INFINITY;
  /** Null: none is from about that time. */
  found: (PricePoint & { readonly decimal: string }) | null = null;
  /** Whether older prices change nothing. */
  isComplete = false;

  constructor(span: ChangeSpan) {
    this.#span = SPANS[span];
  }

  /** Takes the next older price. @param decimalOf called only for a price of about that time */
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

  /** Whether the newest `rows` rows are so close together that `rowsMax` rows would not reach back over the span. */
  isTooDense(observedAt: string, rows: number, rowsMax: number): boolean {
    const days = ((this.#newestMs ?? 0) - Date.parse(observedAt)) / DAY_MS;
    return days * rowsMax < this.#span.least * rows;
  }
}
