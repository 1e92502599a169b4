/** The freshness of each source's prices. Pure. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { newestKnownMoment } from '../../../../contract/bodies/latest-words.ts';
import { laterInstant } from '../../../../contract/values/instants.ts';
import { lateSince } from '../explorer/latest-rows.ts';
import { staleDays } from '../market/words.ts';

export interface SourceFreshness {
  readonly label: string;
  /** The number of markets whose newest price is from this source; of a market without a price, its newest other value. */
  readonly markets: number;
  /** The latest time of their newest known values. Null: all are unknown. */
  readonly newestKnownAt: string | null;
  /** The latest and the earliest time of their newest values. */
  readonly newestAt: string;
  readonly oldestAt: string;
  /** The number of markets whose next price is late. */
  readonly late: number;
  /** The earliest moment since which one is late. Null: none is late. */
  readonly lateSince: string | null;
  /** The number of markets whose newest price is unknown. */
  readonly unknown: number;
  /** Whether the due times of prices are known. */
  readonly hasCadence: boolean;
  /** The age of its newest price, if that is old and the next one has no due time. Null otherwise. */
  readonly staleDays: number | null;
}

/**
 * The sources that have been late for longest come first, then those with the oldest newest price. @param nowMs since the epoch
 */
export function sourceFreshness(entries: readonly LatestEntry[], nowMs: number): readonly SourceFreshness[] {
  const sources = new Map<string, SourceFreshness>();
  const priced = new Set<string>();
  for (const entry of entries) {
    const { source, decimal, expectedNextAt, metrics = {} } = entry;
    const observedAt = Object.values(metrics).reduce(
      (last, metric) => laterInstant(metric.observedAt, last),
      entry.observedAt,
    );
    // A retired market gets no further price.
    if (source === null || observedAt === null || entry.retired) continue;
    // A value of a list is valid until the list changes, so only prices become old.
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
    staleDays:
      source.hasCadence || !priced.has(source.label) ? null : staleDays(source.newestKnownAt ?? source.newestAt, nowMs),
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

/** A publication follows a write within seconds. After a longer time, the publication had another cause. */
const LAG_SECONDS_MAX = 300;

/**
 * The time from the recording of the newest price to the publication that shows it, at most; in seconds. Null: no price is
 * known, or something else was published long after it.
 */
export function publicationLagSeconds(entries: readonly LatestEntry[], publishedAt: string): number | null {
  const recorded = entries.flatMap(({ recordedAt }) => (recordedAt === null ? [] : [Date.parse(recordedAt)]));
  const newest = recorded.reduce((latest, ms) => Math.max(latest, ms), Number.NEGATIVE_INFINITY);
  const seconds = Math.ceil((Date.parse(publishedAt) - newest) / 1000);
  return seconds >= 0 && seconds <= LAG_SECONDS_MAX ? seconds : null;
}
