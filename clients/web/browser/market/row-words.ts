/** The texts for values of one market, which depend on its unit and on replaced versions. Pure. */

import { momentText } from '../../../../contract/values/instants.ts';
import type { Unit } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import { perText, shownDigits, shownText } from '../../../../contract/values/shown-text.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';

/** The special kind of a version of an observation, for its mark and its text. */
export type PointMark = 'unknown' | 'retracted' | 'corrected' | 'announced' | null;

export interface RowOwner {
  readonly slug: string;
  readonly marketName: string;
  readonly words: RowWords;
  readonly versionOf: (id: string) => PublicObservation | undefined;
}

export class RowWords {
  readonly unit: Unit;
  readonly #versionOf: (id: string) => PublicObservation | undefined;

  /** @param versionOf a version that was read */
  constructor(unit: Unit, versionOf: (id: string) => PublicObservation | undefined = () => undefined) {
    this.unit = unit;
    this.#versionOf = versionOf;
  }

  /** `per EUR`. Empty for a number that is not money. */
  per(metric: PublicMetric): string {
    return perText(metric, this.unit);
  }

  /** The exact digits in the form of the pages. Null: unknown. */
  digits(metric: PublicMetric): string | null {
    return shownDigits(metric, this.unit);
  }

  /** `4,129.10 USD`, `200,000 tokens`; or `unknown: ` with the reason. */
  value(metric: PublicMetric & { readonly retraction?: PublicObservation['retraction'] }): string {
    return shownText(metric, this.unit);
  }

  /** `4,129.10 USD per troy ounce`. An unknown value has no unit. */
  whole(metric: Parameters<RowWords['value']>[0]): string {
    return this.digits(metric) === null ? this.value(metric) : `${this.value(metric)} ${this.per(metric)}`.trimEnd();
  }

  mark(row: PublicObservation): PointMark {
    if (row.retraction !== null) return 'retracted';
    if (row.unknownReason !== null) return 'unknown';
    if (row.supersedes === null) return null;
    return this.#wasAnnounced(row) ? 'announced' : 'corrected';
  }

  /** Notes of one row, for its table and its speech, e.g. `corrected`, `provisional`. */
  notes(row: PublicObservation): readonly string[] {
    const wasAnnounced = this.#wasAnnounced(row);
    return [
      ...(row.announced || wasAnnounced ? ['announced'] : []),
      ...(row.retraction === null ? [] : ['retracted']),
      ...(row.retraction === null && row.supersedes !== null && !wasAnnounced ? ['corrected'] : []),
      ...(row.supersededBy === null ? [] : ['replaced since']),
      ...(row.status === 'final' ? [] : [row.status]),
      ...(row.confidence === 'low' ? ['low confidence'] : []),
    ];
  }

  /** Why the version corrects or retracts the previous one, and why another version has replaced it, in the senders' words. */
  reasons(row: PublicObservation): readonly (readonly [term: string, reason: string])[] {
    const next = row.supersededBy === null ? undefined : this.#versionOf(row.supersededBy);
    return [
      ...(row.publicReason === undefined ? [] : [['Reason', row.publicReason] as const]),
      ...(next?.publicReason === undefined ? [] : [['Replaced because', next.publicReason] as const]),
    ];
  }

  /** The notes with the reasons: `corrected`, `reason: The source has corrected it.` */
  explained(row: PublicObservation): readonly string[] {
    const reasons = this.reasons(row).map(([term, reason]) => `${term.toLowerCase()}: ${reason}`);
    return [...this.notes(row), ...reasons];
  }

  /** One point as one text, for the live region. */
  speech(row: PublicObservation): string {
    return [`${momentText(row.observedAt)}: ${this.value(row)}`, row.sourceLabel, ...this.explained(row)].join(', ');
  }

  /** Whether the version only states that an announced value has become effective. */
  #wasAnnounced(row: PublicObservation): boolean {
    const before = row.supersedes === null ? undefined : this.#versionOf(row.supersedes);
    return !row.announced && before?.announced === true && decimalOf(before) === decimalOf(row);
  }
}
