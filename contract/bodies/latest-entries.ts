/** The rows of the newest prices. Without the schema library. */
import type * as z from 'zod';
import { csvFileAt, type FileAt, ndjsonFileAt } from '../files/file-generation.ts';
import { canonicalJson, type Json } from '../values/canonical-json.ts';
import { csvRecord } from '../values/csv.ts';
import type { Market } from '../values/market.ts';
import type { PublicMetric } from '../values/metric.ts';
import { NOT_OBSERVED } from '../values/metric-words.ts';
import type { latestEntrySchema } from './latest.ts';

export type LatestEntry = Readonly<z.infer<typeof latestEntrySchema>>;
export type LatestMetric = Readonly<NonNullable<LatestEntry['metrics']>[string]>;

/** The columns of `GET /api/v1/latest/{part}.csv`. New ones come last: some readers count columns. */
const LATEST_COLUMNS = [
  ...(['slug', 'name', 'decimal', 'quantity', 'unit', 'currency', 'observedAt', 'releasedAt'] as const),
  ...(['updatedAt', 'source', 'status', 'unknownReason', 'recordedAt'] as const),
  ...(['kind', 'decimalPerUnit', 'confidence', 'disputed', 'retired', 'expectedNextAt', 'graceSeconds'] as const),
  ...(['rounded', 'sourceValue', 'metrics'] as const),
] as const;

/** @param recordedAt when the newest price was recorded; only the history has this time */
export function latestEntry(
  { slug, name, kind, status, nativeCurrency, unit, metrics, sources, disputedMetrics, updatedAt }: Market,
  recordedAt: string | null,
): LatestEntry {
  const price = metrics.price ?? null;
  const money = price?.kind === 'money' ? price : null;
  // Without a price, the source of the newest other value counts.
  const sourceLabel = (price ?? newestOf(metrics))?.sourceLabel ?? null;
  const source = sources.find(({ label }) => label === sourceLabel);
  const expectedNextAt = source?.expectedNextAt ?? null;
  return {
    slug,
    name,
    decimal: money?.decimal ?? null,
    quantity: unit.quantity,
    unit: unit.of,
    currency: nativeCurrency,
    observedAt: price?.observedAt ?? null,
    releasedAt: price?.releasedAt ?? null,
    updatedAt,
    source: sourceLabel,
    status: price?.status ?? null,
    unknownReason: price === null ? NOT_OBSERVED : price.unknownReason,
    recordedAt,
    kind,
    decimalPerUnit: money?.decimalPerUnit ?? null,
    confidence: price?.confidence ?? null,
    disputed: disputedMetrics.includes('price'),
    retired: status === 'retired',
    expectedNextAt,
    graceSeconds: expectedNextAt === null ? null : (source?.cadence?.graceSeconds ?? null),
    rounded: price?.rounded ?? null,
    sourceValue: price?.sourceValue ?? null,
    ...latestMetrics(metrics, disputedMetrics),
  };
}

function newestOf(metrics: Market['metrics']): PublicMetric | null {
  return Object.values(metrics).reduce<PublicMetric | null>((newest, metric) => {
    if (metric === null || newest === null) return newest ?? metric;
    return Date.parse(metric.observedAt) > Date.parse(newest.observedAt) ? metric : newest;
  }, null);
}

/** The metrics other than `price`, by name. */
function latestMetrics(metrics: Market['metrics'], disputed: Market['disputedMetrics']): Pick<LatestEntry, 'metrics'> {
  const others = Object.entries(metrics).flatMap(([name, metric]) =>
    name === 'price' || metric === null ? [] : [[name, latestMetric(metric, disputed.includes(name))] as const],
  );
  return others.length === 0 ? {} : { metrics: Object.fromEntries(others) };
}

function latestMetric(metric: PublicMetric, isDisputed: boolean): LatestMetric {
  const { observedAt, rounded, unknownReason } = metric;
  const isMoney = metric.kind === 'money';
  return {
    decimal: isMoney ? metric.decimal : metric.value,
    ...(isMoney && { decimalPerUnit: metric.decimalPerUnit }),
    unit: isMoney ? metric.currency : metric.unit,
    observedAt,
    ...(unknownReason !== null && { unknownReason }),
    ...(isDisputed && { disputed: true }),
    ...(rounded && { rounded: true }),
  };
}

/** One entry, as a line of a file in each format. */
export const LATEST_ROWS = {
  csv: (entry: LatestEntry): string =>
    csvRecord(LATEST_COLUMNS.map((column) => (column === 'metrics' ? namesOf(entry) : entry[column]))),
  ndjson: (entry: LatestEntry): string => canonicalJson(entry as unknown as Json),
};

/** `inputPrice outputPrice`: a cell has one value, and a market has as many metrics as its source. */
function namesOf({ metrics = {} }: LatestEntry): string {
  return Object.keys(metrics).sort().join(' ');
}

export type LatestFormat = keyof typeof LATEST_ROWS;

/** The files of rows, in their order. The generation comes last in each row. */
export const LATEST_FILES: { readonly [Format in LatestFormat]: (rows: readonly string[]) => FileAt } = {
  csv: (rows) => csvFileAt(LATEST_COLUMNS.join(','), rows),
  ndjson: ndjsonFileAt,
};
