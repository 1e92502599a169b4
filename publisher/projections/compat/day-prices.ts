/** From a history to one price a day. */
import { COMPAT_DAYS_MAX } from '../../../contract/files/compat-limits.ts';

import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { isShowable } from '../../../contract/values/showable.ts';

export interface DayPrice {
  /** UTC, e.g. `2026-11-22`. */
  readonly date: string;
  readonly currency: string;
  /** For the market's quantity, exactly. */
  readonly decimal: string;
  /** For one unit, exactly; null if its decimals do not end. */
  readonly decimalPerUnit: string | null;
}

/** Takes a history, newest first. Of a day it keeps the newest price that stands; if that is unknown, the day has none. */
export class DayPrices {
  readonly #days: DayPrice[] = [];
  #date = '';

  /** False: there are enough days. */
  add(observation: PublicObservation): boolean {
    if (observation.metric !== 'price' || observation.kind !== 'money' || !isShowable(observation)) return true;
    const date = millisecondInstant(observation.observedAt).slice(0, '2026-11-22'.length);
    if (date === this.#date) return true;
    this.#date = date;
    const { currency, decimal, decimalPerUnit } = observation;
    if (decimal === null) return true;
    if (this.#days.length === COMPAT_DAYS_MAX) return false;
    this.#days.push({ date, currency, decimal, decimalPerUnit });
    return true;
  }

  /** Oldest first. */
  get days(): readonly DayPrice[] {
    return this.#days.toReversed();
  }
}
