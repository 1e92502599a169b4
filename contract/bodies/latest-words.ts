/** Texts about the entries of `latest`: the first page shows them for each market, with and without a script. Pure. */

import type { BadgeLook } from '../html/html-parts.ts';
import { laterInstant } from '../values/instants.ts';
import { leadMetric, metricTitle, NO_PRICE, NOT_OBSERVED, unknownWords } from '../values/metric-words.ts';
import { groupedDigits } from '../values/money/decimal-text.ts';
import { several, shownAmount, unitText } from '../values/shown-value.ts';
import type { LatestEntry, LatestMetric } from './latest-entries.ts';

/** Whether the market has other metrics and no price. */
export function isEntryOnList(entry: LatestEntry): entry is LatestEntry & Required<Pick<LatestEntry, 'metrics'>> {
  return entry.observedAt === null && entry.metrics !== undefined;
}

export interface Note {
  readonly text: string;
  readonly look: Exclude<BadgeLook, 'good'>;
}

/** The warnings about a price that do not depend on the time, the gravest first. */
export function entryNotes(entry: LatestEntry): readonly Note[] {
  const { disputed, retired, status, confidence } = entry;
  const metrics = isEntryOnList(entry) ? Object.values(entry.metrics) : [];
  const notes: (Note | false)[] = [
    (disputed || metrics.some((metric) => metric.disputed)) && { text: 'disputed', look: 'alarm' },
    status !== null && status !== 'final' && { text: status, look: 'notice' },
    confidence === 'low' && { text: 'low confidence', look: 'notice' },
    retired && { text: 'retired', look: 'plain' },
  ];
  return notes.filter((note) => note !== false);
}

/** The price. `digits` is null if it is unknown; then `below` has the reason. */
export interface PriceWords {
  readonly digits: string | null;
  /** The same number for programs: `digits` without group marks. */
  readonly value: string | null;
  /** `per EUR`. */
  readonly below: readonly string[];
}

/** The leading metric of a market without a price but with other metrics. */
function leadOf(entry: LatestEntry) {
  return leadMetric(isEntryOnList(entry) ? entry.metrics : {}, ({ decimalPerUnit }) => decimalPerUnit !== undefined);
}

function metricWords(entry: LatestEntry): PriceWords | null {
  const lead = leadOf(entry);
  if (lead === null) return null;
  const [name, metric] = lead;
  const digits = digitsOfMetric(entry, metric);
  const words = [metricTitle(name), unitOfMetric(entry, metric)];
  if (digits === null) return unknownPrice(...words, 'unknown');
  return { digits: groupedDigits(digits), value: digits, below: words };
}

const unknownPrice = (...below: string[]): PriceWords => ({ digits: null, value: null, below });

export function priceWords(entry: LatestEntry): PriceWords {
  const { decimal, quantity, unit, observedAt, unknownReason } = entry;
  if (decimal === null) {
    const ofMetric = metricWords(entry);
    if (ofMetric !== null) return ofMetric;
    const isUnobserved = observedAt === null || unknownReason === NOT_OBSERVED;
    return unknownPrice(isUnobserved ? NO_PRICE : unknownWords(unknownReason));
  }
  const value = shownAmount(decimal, quantity);
  return { digits: groupedDigits(value), value, below: [unitText({ quantity, of: unit })] };
}

/** The value that represents a market. */
export interface KnownValue {
  readonly metric: string;
  readonly decimal: string;
  readonly observedAt: string;
  /** `4,129.10 USD per troy ounce`. */
  readonly words: string;
}

/** Null: the value is unknown, or nothing was observed. */
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

/** `USD per 1M tokens`, or `tokens`. */
export function unitOfMetric({ quantity, unit: of }: LatestEntry, metric: LatestMetric): string {
  return metric.decimalPerUnit === undefined
    ? metric.unit === of
      ? several(of)
      : metric.unit
    : `${metric.unit} ${unitText({ quantity, of })}`;
}

/** The exact digits in the form in which they are shown. Null: unknown. */
export function digitsOfMetric({ quantity }: LatestEntry, { decimal, decimalPerUnit }: LatestMetric): string | null {
  return decimal === null || decimalPerUnit === undefined ? decimal : shownAmount(decimal, quantity);
}

/** The newest moment of a price; for a market without a price, of any metric. Null: nothing was observed. */
export function newestMoment(entry: LatestEntry): string | null {
  if (!isEntryOnList(entry)) return entry.observedAt;
  const moments = Object.values(entry.metrics).map(({ observedAt }) => observedAt);
  return moments.reduce((newest, moment) => (Date.parse(moment) > Date.parse(newest) ? moment : newest));
}

/** The newest moment of a known price; for a market without a price, of any known metric. Null: every value is unknown. */
export function newestKnownMoment(entry: LatestEntry): string | null {
  if (!isEntryOnList(entry)) return entry.decimal === null ? null : entry.observedAt;
  const known = Object.values(entry.metrics).filter(({ decimal }) => decimal !== null);
  return known.reduce<string | null>((newest, { observedAt }) => laterInstant(observedAt, newest), null);
}
