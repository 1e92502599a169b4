import { millisecondInstant } from '../../contract/values/instants.ts';
import type { MappedRecord } from '../declared/mapped-rows.ts';

export interface ObservationSummary {
  readonly count: number;
  /** Observations without a value, by reason. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly rounded: number;
  /** The first observation that is rounded. */
  readonly firstRounded: MappedRecord | null;
  /** Observations with a time of which more than milliseconds were dropped. */
  readonly timesCut: number;
  /** The earliest and the latest moment; null without observations. */
  readonly observedAt: { readonly first: string; readonly last: string } | null;
}

export class ObservationCount {
  readonly #unknown = new Map<string, number>();
  #count = 0;
  #rounded = 0;
  #timesCut = 0;
  #firstRounded: MappedRecord | null = null;
  #first: string | null = null;
  #last: string | null = null;

  add(mapped: MappedRecord): void {
    const { record, isTimeCut = false } = mapped;
    if (record.type !== 'observation') return;
    const { observedAt, unknownReason } = record;
    this.#count += 1;
    if (isTimeCut) this.#timesCut += 1;
    const instant = millisecondInstant(observedAt);
    if (this.#first === null || instant < this.#first) this.#first = instant;
    if (this.#last === null || instant > this.#last) this.#last = instant;
    if (unknownReason != null) this.#unknown.set(unknownReason, (this.#unknown.get(unknownReason) ?? 0) + 1);
    if ('rounded' in record && record.rounded) {
      this.#rounded += 1;
      this.#firstRounded ??= mapped;
    }
  }

  summary(): ObservationSummary {
    const [first, last] = [this.#first, this.#last].map((instant) => instant?.replace('.000Z', 'Z'));
    return {
      count: this.#count,
      unknown: Object.fromEntries(this.#unknown),
      rounded: this.#rounded,
      firstRounded: this.#firstRounded,
      timesCut: this.#timesCut,
      observedAt: first === undefined || last === undefined ? null : { first, last },
    };
  }
}
