/** How fresh the prices of each source are. Pure. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { newestKnownMoment } from '../../../../contract/bodies/latest-words.ts';
import { laterInstant } from '../../../../contract/values/instants.ts';
import { lateSince } from '../explorer/latest-rows.ts';
import { staleDays } from '../market/words.ts';

export interface SourceFreshness {
  readonly label: string;
  /** Markets whose newest price is of this source; of a market without a price, its newest other value. */
  readonly markets: number;
  /** The youngest of their newest values that are known. Null: each is unknown. */
  readonly newestKnownAt: string | null;
  /** The youngest and the oldest of their newest values. */
  readonly newestAt: string;
  readonly oldestAt: string;
  /** Markets whose next price is late. */
  readonly late: number;
  /** The earliest moment since when one is late. Null: none is. */
  readonly lateSince: string | null;
  /** Markets whose newest price is unknown. */
  readonly unknown: number;
  /** Whether it is known when a price is due. */
  readonly hasCadence: boolean;
  /** The age of its newest price, if that is old and the next one has no due time. Null otherwise. */
  readonly staleDays: number | null;
}

/** Those that have been late for longest come first; then the ones whose newest price is oldest. @param nowMs since the epoch */
export function sourceFreshness(entries: readonly LatestEntry[], nowMs: number): readonly SourceFreshness[] {
  const sources = new Map<string, SourceFreshness>();
  const priced = new Set<string>();
  for (const entry of entries) {
    const { source, decimal, expectedNextAt, metrics = {} } = entry;
    const observedAt = Object.values(metrics).reduce(
      (last, metric) => laterInstant(metric.observedAt, last),
      entry.observedAt,
    );
    // No price of a retired market is expected.
    if (source === null || observedAt === null || entry.retired) continue;
    // A value on a list stands until the list says something else: only prices grow old.
    if (entry.observedAt !== null) priced.add(source);
    const since = lateSince(entry, nowMs);
    const known = sources.get(source);
    sources.set(source, {
      label: source,
      markets: (known?.markets ?? 0) + 1,
      newestKnownAt: later(newestKnownMoment(entry), known?.newestKnownAt ?? null),
      newestAt: laterInstant(observedAt, known?.newestAt ?? null),
      oldestAt: earlier(observedAt, known?.oldestAt ?? null),
      late: (known?.late ?? 0) + (since === null ? 0 : 1),
      lateSince: since === null ? (known?.lateSince ?? null) : earlier(since, known?.lateSince ?? null),
      unknown: (known?.unknown ?? 0) + (decimal === null && entry.observedAt !== null ? 1 : 0),
      hasCadence: (known?.hasCadence ?? false) || expectedNextAt !== null,
      staleDays: null,
    });
  }
  const lateness = ({ lateSince: since }: SourceFreshness): number => (since === null ? Infinity : Date.parse(since));
  const found = [...sources.values()].map((source) => ({
    ...source,
    staleDays: source.hasCadence || !priced.has(source.label) ? null : staleDays(source.newestAt, nowMs),
  }));
  return found.sort(
    (left, right) =>
      compareNumbers(lateness(left), lateness(right)) ||
      compareNumbers(Date.parse(left.newestAt), Date.parse(right.newestAt)) ||
      (left.label < right.label ? -1 : 1),
  );
}

const compareNumbers = (left: number, right: number): number => (left === right ? 0 : left < right ? -1 : 1);

export function later(one: string | null, other: string | null): string | null {
  return one === null ? other : laterInstant(one, other);
}

function earlier(one: string, other: string | null): string {
  return other === null || Date.parse(one) <= Date.parse(other) ? one : other;
}

/** Publications follow a write within seconds: after a longer time, something else was published. */
const LAG_SECONDS_MAX = 300;

/**
 * The time from the recording of the newest price to the publication that shows it, at most; in seconds. Null: no price is known, or
 * something else was published long after it.
 */
export function publicationLagSeconds(entries: readonly LatestEntry[], publishedAt: string): number | null {
  const recorded = entries.flatMap(({ recordedAt }) => (recordedAt === null ? [] : [Date.parse(recordedAt)]));
  const newest = recorded.reduce((latest, ms) => Math.max(latest, ms), Number.NEGATIVE_INFINITY);
  const seconds = Math.ceil((Date.parse(publishedAt) - newest) / 1000);
  return seconds >= 0 && seconds <= LAG_SECONDS_MAX ? seconds : null;
}
