/** The tool `find_markets`. */
import * as z from 'zod';
import type { AskedService } from './service.ts';

const LIMIT = 20;
const LIMIT_MAX = 100;

export const findMarketsInput = z.strictObject({
  query: z
    .string()
    .max(200)
    .optional()
    .describe('Words that the name or the slug must contain, e.g. `gold`. Left out: all markets.'),
  currency: z.string().length(3).optional().describe('ISO 4217 code of the currency of the price, e.g. `USD`.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .optional()
    .describe(`The largest number of results. Default: ${LIMIT}.`),
});

export const findMarketsOutput = z.object({
  markets: z.array(
    z.object({
      slug: z.string().describe('The name of the market for the other tools.'),
      name: z.string(),
      unit: z.string().describe('What the price counts, e.g. `USD for 1 troy ounce`.'),
      decimal: z.string().nullable().describe('The newest price, exactly. Null: unknown, never zero.'),
      unknownReason: z
        .string()
        .nullable()
        .describe('Why the price is null. `not-observed`: the market has none; get_market gives its other metrics.'),
      observedAt: z.string().nullable(),
      source: z.string().nullable(),
    }),
  ),
  found: z.number().int().describe('Markets that fit, those that are left out included.'),
  leftOut: z
    .number()
    .int()
    .describe('Markets that fit and are not in this answer: narrow the query, or raise `limit`.'),
});

export async function findMarkets(
  { tidemark }: AskedService,
  { query = '', currency, limit = LIMIT }: z.infer<typeof findMarketsInput>,
): Promise<z.infer<typeof findMarketsOutput>> {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const fitting = (await tidemark.latest()).filter((entry) => {
    const text = `${entry.slug} ${entry.name}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (currency === undefined || entry.currency === currency.toUpperCase())
    );
  });
  const markets = fitting.slice(0, limit).map(({ slug, name, quantity, unit, currency: code, ...entry }) => ({
    slug,
    name,
    unit: `${code} for ${quantity} ${unit}`,
    decimal: entry.decimal,
    unknownReason: entry.unknownReason,
    observedAt: entry.observedAt,
    source: entry.source,
  }));
  return { markets, found: fitting.length, leftOut: fitting.length - markets.length };
}
