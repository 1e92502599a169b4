/** The last prices of every market, for small charts: one file for a page that shows many markets. */

import * as z from 'zod';
import { RECENT_MARKETS_MAX, RECENT_PRICES_MAX, YEAR_ROWS_MAX } from '../files/limits.ts';
import { slugSchema } from '../values/market.ts';
import { decimalSchema, instantSchema } from '../values/metric.ts';
import { fileGenerationSchema } from './latest.ts';

export const recentEntrySchema = z.strictObject({
  decimal: z
    .array(decimalSchema.nullable())
    .max(RECENT_PRICES_MAX)
    .describe(
      'The prices in major units, exactly, oldest first, all of one source. Null: the price of that moment is unknown.',
    ),
  observedAt: z
    .array(instantSchema)
    .max(RECENT_PRICES_MAX)
    .describe('The moments of these prices, each once: `observedAt[i]` belongs to `decimal[i]`.'),
  slug: slugSchema,
  source: z
    .string()
    .exactOptional()
    .describe(
      'The source (`sourceLabel`) of these prices, if it is not that of the newest price of the market: one that has only one known price yet has no line and no change, so another source stands in. Left out: that of the newest price.',
    ),
  yearAgo: z
    .strictObject({
      decimal: decimalSchema.describe('In major units, exactly.'),
      observedAt: instantSchema.describe('The moment of this price.'),
    })
    .nullable()
    .optional()
    .describe(
      `The price of the same source from 350 to 380 days before the newest one, nearest to 365: for the change over a year. Null: there is no such price, or the history has more than ${YEAR_ROWS_MAX.toLocaleString('en')} rows in that time.`,
    ),
});

/** `GET /api/v1/recent`. */
export const recentSchema = z.strictObject({
  data: z.array(recentEntrySchema).max(RECENT_MARKETS_MAX).describe('By slug: the same markets as in `latest`.'),
  generation: fileGenerationSchema,
});
