/** The texts of values, moments and reasons on the page of a market. Pure. */

import type { Note } from '../../../../contract/bodies/latest-words.ts';
import { latenessSeconds } from '../../../../contract/freshness/expected-next.ts';
import { dayText } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric } from '../../../../contract/values/metric.ts';

/** `23:36 UTC` within a day, and `2 Oct 2026` later. @param nowMs milliseconds since the epoch */
export function sinceText(instant: string, nowMs: number): string {
  return nowMs - Date.parse(instant) < 86_400_000 ? `${instant.slice(11, 16)} UTC` : dayText(instant);
}

const AGES = [
  { name: 'year', seconds: 365.25 * 86_400 },
  { name: 'month', seconds: (365.25 * 86_400) / 12 },
  { name: 'day', seconds: 86_400 },
  { name: 'hour', seconds: 3600 },
  { name: 'minute', seconds: 60 },
] as const;

/** How long something lasts: `54 days`. Units change at two of the larger one. */
export function durationText(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  const age = AGES.find((each) => seconds >= 2 * each.seconds);
  return age === undefined ? 'a minute' : `${Math.floor(seconds / age.seconds)} ${age.name}s`;
}

/** How long ago, or in how long: `54 days ago`. @param ms the age in milliseconds */
export function agoText(ms: number): string {
  if (Math.abs(ms) < 60_000) return 'just now';
  return ms < 0 ? `in ${durationText(ms)}` : `${durationText(ms)} ago`;
}

/** `1 market`, `1,000 markets`. */
export function many(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}

/** The currency, or the unit of a number that is not money. */
export function unitOf(metric: PublicMetric): string {
  return metric.kind === 'money' ? metric.currency : metric.unit;
}

/** Notes on the market that depend on the time. @param nowMs milliseconds since the epoch */
export function timelyNotes(market: Market, nowMs: number): readonly Note[] {
  const stale = staleDaysOf(market, nowMs);
  const isLate = market.sources.some((source) => lateSecondsOf(source, nowMs) > 0);
  const notes: (Note | false)[] = [
    isLate && { text: 'late', look: 'notice' },
    stale !== null && { text: staleText(stale), look: 'notice' },
  ];
  return notes.filter((note) => note !== false);
}

/** The age of the price. Null: it is not old, its source states when the next one is due, or none will come. */
function staleDaysOf({ metrics: { price }, sources, status }: Market, nowMs: number): number | null {
  if (price == null || status === 'retired') return null;
  const source = sources.find(({ label }) => label === price.sourceLabel);
  return source?.expectedNextAt ? null : staleDays(price.observedAt, nowMs);
}

/** The number of seconds since the source's next value was due. 0: it is not late. */
export function lateSecondsOf({ cadence, expectedNextAt }: Market['sources'][number], nowMs: number): number {
  if (!expectedNextAt || !cadence) return 0;
  return latenessSeconds(expectedNextAt, cadence.graceSeconds, nowMs);
}

const DAY_MS = 86_400_000;
/** Longer than markets close for holidays. A source that publishes less often states its cadence. */
const STALE_DAYS = 7;

/** The age in whole days of a price that is older than a week. Null: it is not. @param nowMs since the epoch */
export function staleDays(observedAt: string, nowMs: number): number | null {
  const days = Math.floor((nowMs - Date.parse(observedAt)) / DAY_MS);
  return days > STALE_DAYS ? days : null;
}

/** `55 days old`. */
export function staleText(days: number): string {
  return `${days.toLocaleString('en')} days old`;
}
