/** Reduces a history to one price a day. */
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { isShowable } from '../../../contract/values/showable.ts';

export interface DayPrice {
  /** UTC, e.g. `2026-11-22`. */
  readonly date: string;
  readonly currency: string;
  /** The exact price for the market's quantity. */
  readonly decimal: string;
  /** The exact price for one unit; null if its decimals do not end. */
  readonly decimalPerUnit: string | null;
}

/** Receives a history, newest first. Keeps the newest standing price of each day; if that price is unknown, the day has none. */
export class DayPrices {
  readonly #days: DayPrice[] = [];
  readonly #most: number;
  #date = '';

  /** @param most the most days to keep */
  constructor(most: number) {
    this.#most = most;
  }

  /** False: enough days are kept, so stop. */
  add(observation: PublicObservation): boolean {
    if (observation.metric !== 'price' || observation.kind !== 'money' || !isShowable(observation)) return true;
    const date = millisecondInstant(observation.observedAt).slice(0, '2026-11-22'.length);
    if (date === this.#date) return true;
    this.#date = date;
    const { currency, decimal, decimalPerUnit } = observation;
    if (decimal === null) return true;
    if (this.#days.length === this.#most) return false;
    this.#days.push({ date, currency, decimal, decimalPerUnit });
    return true;
  }

  /** @param observations newest first */
  addAll(observations: readonly PublicObservation[]): boolean {
    return observations.every((observation) => this.add(observation));
  }

  /** Oldest first. */
  get days(): readonly DayPrice[] {
    return this.#days.toReversed();
  }
}
