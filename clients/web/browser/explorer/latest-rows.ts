/** The rows of the explorer: one for each market, from the file of newest prices or from the list. Pure. */
import { latenessSeconds } from '../../../../contract/files/expected-next.ts';
import { type LatestEntry, latestEntry } from '../../../../contract/files/latest-entries.ts';
import { groupedDigits } from '../../../../contract/values/decimal-text.ts';
import type { Market } from '../../../../contract/values/market.ts';
import { leadMetric, metricTitle, unknownWords } from '../../../../contract/values/metric-words.ts';
import { shownAmount, unitText } from '../../../../contract/values/shown-value.ts';
import { type Badge, dayText } from '../market/words.ts';
import { staleDays, staleText } from '../staleness.ts';
import { digitsOfMetric, isEntryOnList, unitOfMetric } from './metric-columns.ts';

/** Members that a file from before this version of the service does not have. */
const ADDED = {
  kind: '',
  decimalPerUnit: null,
  confidence: null,
  disputed: false,
  retired: false,
  expectedNextAt: null,
  graceSeconds: null,
  rounded: null,
  sourceValue: null,
} as const;

/** Reads the body of `GET /api/v1/latest`. @throws TypeError if the body has another form */
export function entriesOfLatest(body: unknown): LatestEntry[] {
  return dataOf(body).map((entry) => ({ ...ADDED, ...(entry as LatestEntry) }));
}

/** Of a page of the list. */
export function entriesOfList(markets: readonly Market[]): LatestEntry[] {
  return markets.map((market) => latestEntry(market, null));
}

/** @throws TypeError for a body without a list in `data` */
export function dataOf(body: unknown): readonly unknown[] {
  const { data } = body as { readonly data?: unknown };
  if (Array.isArray(data)) return data;
  throw new TypeError('the answer has no list of data');
}

/**
 * The new entries, where each that is the same as before is the same object. So rows of the page that show it can stay.
 */
export function keepEqual(before: readonly LatestEntry[], after: readonly LatestEntry[]): LatestEntry[] {
  const known = new Map(before.map((entry) => [entry.slug, entry]));
  return after.map((entry) => {
    const same = known.get(entry.slug);
    return same !== undefined && JSON.stringify(same) === JSON.stringify(entry) ? same : entry;
  });
}

/** The price. `digits` is null if it is unknown; `below` then says why. */
export interface PriceWords {
  readonly digits: string | null;
  /** `per EUR`. */
  readonly below: readonly string[];
}

/** Of a market that is on a list. */
function leadOf(entry: LatestEntry) {
  return leadMetric(isEntryOnList(entry) ? entry.metrics : {}, ({ decimalPerUnit }) => decimalPerUnit !== undefined);
}

function metricWords(entry: LatestEntry): PriceWords | null {
  const lead = leadOf(entry);
  if (lead === null) return null;
  const [name, metric] = lead;
  const digits = digitsOfMetric(entry, metric);
  const words = [metricTitle(name), unitOfMetric(entry, metric)];
  return { digits: digits && groupedDigits(digits), below: digits === null ? [...words, 'unknown'] : words };
}

export function priceWords(entry: LatestEntry): PriceWords {
  const { decimal, quantity, unit, observedAt, unknownReason } = entry;
  if (decimal === null) {
    const ofMetric = metricWords(entry);
    if (ofMetric !== null) return ofMetric;
    if (observedAt === null) return { digits: null, below: ['no price recorded'] };
    return { digits: null, below: [unknownWords(unknownReason)] };
  }
  return { digits: groupedDigits(shownAmount(decimal, quantity)), below: [unitText({ quantity, of: unit })] };
}

/** The value that stands for a market. */
export interface KnownValue {
  readonly metric: string;
  readonly decimal: string;
  readonly observedAt: string;
  /** `4,129.10 USD per troy ounce`. */
  readonly words: string;
}

/** Null: it is unknown, or nothing was observed. */
export function knownValue(entry: LatestEntry): KnownValue | null {
  const { decimal, observedAt, currency } = entry;
  if (decimal !== null && observedAt !== null) {
    const { digits, below } = priceWords(entry);
    return { metric: 'price', decimal, observedAt, words: [digits, currency, ...below].join(' ') };
  }
  const [metric, lead] = leadOf(entry) ?? [];
  const digits = lead === undefined ? null : digitsOfMetric(entry, lead);
  if (metric === undefined || lead === undefined || digits === null || lead.decimal === null) return null;
  const words = `${metricTitle(metric)} ${groupedDigits(digits)} ${unitOfMetric(entry, lead)}`;
  return { metric, decimal: lead.decimal, observedAt: lead.observedAt, words };
}

/** Since when the next price is late. Null: it is not late, or nobody says when it is due. @param nowMs since the epoch */
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

/** Null: it is not old, something says when the next price is due, or none will come. @param nowMs since the epoch */
export function staleDaysOf({ observedAt, expectedNextAt, retired }: LatestEntry, nowMs: number): number | null {
  return observedAt === null || expectedNextAt !== null || retired ? null : staleDays(observedAt, nowMs);
}

/** What a reader must know before he uses the price, the gravest first. @param nowMs milliseconds since the epoch */
export function rowBadges(entry: LatestEntry, nowMs: number): readonly Badge[] {
  const { disputed, retired, status, confidence } = entry;
  const late = lateSince(entry, nowMs);
  const stale = staleDaysOf(entry, nowMs);
  const metrics = isEntryOnList(entry) ? Object.values(entry.metrics) : [];
  const badges: (Badge | false)[] = [
    (disputed || metrics.some((metric) => metric.disputed)) && { text: 'disputed', look: 'alarm' },
    late !== null && { text: lateWords(late, nowMs), look: 'notice' },
    stale !== null && { text: staleText(stale), look: 'notice' },
    status !== null && status !== 'final' && { text: status, look: 'notice' },
    confidence === 'low' && { text: 'low confidence', look: 'notice' },
    retired && { text: 'retired', look: 'plain' },
  ];
  return badges.filter((badge) => badge !== false);
}
