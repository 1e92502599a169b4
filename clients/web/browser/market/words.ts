/** The texts of values, moments and reasons on the page of a market. Pure. */

import type { Note } from '../../../../contract/bodies/latest-words.ts';
import { latenessSeconds } from '../../../../contract/freshness/expected-next.ts';
import { MONTH_NAMES } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric } from '../../../../contract/values/metric.ts';

/** `29 Sep 2026`. @param instant RFC 3339 in UTC */
export function dayText(instant: string): string {
  const [year = '', month, day] = instant.slice(0, 'YYYY-MM-DD'.length).split('-');
  return `${Number(day)} ${MONTH_NAMES[Number(month) - 1] ?? month} ${year}`;
}

/** `29 Sep 2026, 00:00 UTC`; with seconds and milliseconds where they are not zero. @param instant RFC 3339 in UTC */
export function momentText(instant: string): string {
  const time = instant.slice('YYYY-MM-DDT'.length, -1).replace(/\.0+$/, '').replace(/:00$/, '');
  return `${dayText(instant)}, ${time.includes(':') ? time : `${time}:00`} UTC`;
}

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

export type Badge = Note;

/**
 * Whether the market has no price but other metrics: those of a list, such as `inputPrice` and `outputPrice` of a language
 * model. A value of a list is valid until the list changes.
 */
export function isOnList(metrics: Market['metrics']): boolean {
  return !metrics.price && Object.values(metrics).some((metric) => metric !== null);
}

/** The default metrics of a page: all of them if the market {@link isOnList}, otherwise only the price. */
function shownMetrics(metrics: Market['metrics']): readonly PublicMetric[] {
  const shown = isOnList(metrics) ? Object.values(metrics) : [metrics.price];
  return shown.filter((metric) => metric != null);
}

/** The badges as a text, to compare them: see {@link badgesOf}. */
export function badgesText(market: Market, nowMs: number): string {
  return JSON.stringify(badgesOf(market, nowMs));
}

/** Warnings before the use of the market's price. @param nowMs milliseconds since the epoch */
export function badgesOf(market: Market, nowMs: number): readonly Badge[] {
  const shown = shownMetrics(market.metrics);
  const stale = staleDaysOf(market, nowMs);
  const lateSeconds = Math.max(0, ...market.sources.map((source) => lateSecondsOf(source, nowMs)));
  const others = market.disputedMetrics.filter((name) => name !== 'price');
  const badges: (Badge | false)[] = [
    market.disputedMetrics.includes('price') && { text: 'disputed', look: 'alarm' },
    others.length > 0 && { text: `disputed: ${others.join(', ')}`, look: 'alarm' },
    market.status === 'retired' && { text: 'retired', look: 'notice' },
    lateSeconds > 0 && { text: 'late', look: 'notice' },
    stale !== null && { text: staleText(stale), look: 'notice' },
    ...[...new Set(shown.map(({ status }) => status))].map(
      (status) => status !== 'final' && ({ text: status, look: 'notice' } as const),
    ),
    shown.some(({ confidence }) => confidence === 'low') && { text: 'low confidence', look: 'notice' },
    market.representedBy !== null && { text: `represented by ${market.representedBy}`, look: 'plain' },
  ];
  return badges.filter((badge) => badge !== false);
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

/** A URL that is safe as a link. Null for any other text, such as `javascript:…`. */
export function safeUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { href, protocol } = new URL(text);
  return /^https?:$/.test(protocol) ? href : null;
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
