/** The newest price of every market, one short line each. */
import * as z from 'zod';
import { csvRecord } from './csv.ts';
import { type Market, marketSchema } from './market.ts';
import { provenanceFields } from './metric.ts';

/** A service with more markets does not publish these files: they would be too large to be of use. */
export const LATEST_MARKETS_MAX = 200_000;

const { sourceLabel, observedAt, releasedAt, status, unknownReason } = provenanceFields;
const { slug, name, nativeCurrency, unit, updatedAt } = marketSchema.shape;

export const latestEntrySchema = z.strictObject({
  slug,
  name,
  decimal: z.string().nullable().describe('The price in major units, exactly. Null: unknown, or never observed.'),
  quantity: unit.shape.quantity,
  unit: unit.shape.of,
  currency: nativeCurrency,
  observedAt: observedAt.nullable().describe('The moment of the price. Null: there is no observation.'),
  releasedAt,
  updatedAt,
  source: sourceLabel.nullable().describe('The name of its source. Null: there is no observation.'),
  status: status
    .nullable()
    .describe('`final`, `provisional`, `estimated` or `aggregate`. Null: there is no observation.'),
  unknownReason,
});

export type LatestEntry = z.infer<typeof latestEntrySchema>;

/** `GET /api/v1/latest`. */
export const latestSchema = z.strictObject({
  data: z.array(latestEntrySchema).max(LATEST_MARKETS_MAX).describe('By slug.'),
});

/** The columns of `GET /api/v1/latest.csv`: new ones are added at the end. */
const LATEST_COLUMNS = [
  ...(['slug', 'name', 'decimal', 'quantity', 'unit', 'currency', 'observedAt', 'releasedAt'] as const),
  ...(['updatedAt', 'source', 'status', 'unknownReason'] as const),
] as const;

export function latestEntry({ slug, name, nativeCurrency, unit, metrics, updatedAt }: Market): LatestEntry {
  const price = metrics.price ?? null;
  return {
    slug,
    name,
    decimal: price?.kind === 'money' ? price.decimal : null,
    quantity: unit.quantity,
    unit: unit.of,
    currency: nativeCurrency,
    observedAt: price?.observedAt ?? null,
    releasedAt: price?.releasedAt ?? null,
    updatedAt,
    source: price?.sourceLabel ?? null,
    status: price?.status ?? null,
    unknownReason: price?.unknownReason ?? null,
  };
}

export function latestCsv(entries: readonly LatestEntry[]): string {
  const records = entries.map((entry) => csvRecord(LATEST_COLUMNS.map((column) => entry[column])));
  return `${[LATEST_COLUMNS.join(','), ...records].join('\r\n')}\r\n`;
}
