/** The rows of the explorer: one for each market, from the file of newest prices or from the list. Pure. */

import { type LatestEntry, latestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { entryNotes, type Note } from '../../../../contract/bodies/latest-words.ts';
import { latenessSeconds } from '../../../../contract/freshness/expected-next.ts';
import { dayText } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import { staleDays, staleText } from '../market/words.ts';

export function entriesOfList(markets: readonly Market[]): LatestEntry[] {
  return markets.map((market) => latestEntry(market, null));
}

/** @throws TypeError for a body without a list in `data` */
export function dataOf<Entry>(body: unknown): readonly Entry[] {
  const { data } = body as { readonly data?: unknown };
  if (Array.isArray(data)) return data;
  throw new TypeError('the answer has no list of data');
}

/** The new entries, in which an unchanged entry is the same object as before. So the page can keep its row. */
export function keepEqual(before: readonly LatestEntry[], after: readonly LatestEntry[]): LatestEntry[] {
  const known = new Map(before.map((entry) => [entry.slug, entry]));
  return after.map((entry) => {
    const same = known.get(entry.slug);
    return same !== undefined && JSON.stringify(same) === JSON.stringify(entry) ? same : entry;
  });
}

/** The moment since which the next price is late. Null: it is not late, or has no due time. @param nowMs since the epoch */
export function lateSince({ expectedNextAt, graceSeconds }: LatestEntry, nowMs: number): string | null {
  if (expectedNextAt === null || graceSeconds === null) return null;
  return latenessSeconds(expectedNextAt, graceSeconds, nowMs) > 0 ? expectedNextAt : null;
}

/** `late since 30 Sep 2025`; without the year in this year, and with the time alone within a day. */
function lateWords(since: string, nowMs: number): string {
  if (nowMs - Date.parse(since) < 86_400_000) return `late since ${since.slice(11, 16)} UTC`;
  const day = dayText(since);
  const isThisYear = day.endsWith(` ${new Date(nowMs).getUTCFullYear()}`);
  return `late since ${isThisYear ? day.slice(0, -' 2026'.length) : day}`;
}

/** Null: the price is not old, its next one has a due time, or none will come. @param nowMs since the epoch */
export function staleDaysOf({ observedAt, expectedNextAt, retired }: LatestEntry, nowMs: number): number | null {
  return observedAt === null || expectedNextAt !== null || retired ? null : staleDays(observedAt, nowMs);
}

/** The warnings about the price, the most serious first. @param nowMs milliseconds since the epoch */
export function rowBadges(entry: LatestEntry, nowMs: number): readonly Note[] {
  const late = lateSince(entry, nowMs);
  const stale = staleDaysOf(entry, nowMs);
  const timely: (Note | false)[] = [
    late !== null && { text: lateWords(late, nowMs), look: 'notice' },
    stale !== null && { text: staleText(stale), look: 'notice' },
  ];
  const [alarms = [], others = []] = [true, false].map((isAlarm) =>
    entryNotes(entry).filter(({ look }) => (look === 'alarm') === isAlarm),
  );
  return [...alarms, ...timely.filter((badge) => badge !== false), ...others];
}
