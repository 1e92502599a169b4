/** Takedowns: an operator removes the texts of a removed market's entries from the public log. The hashes stay. */
import * as z from 'zod';
import { idSchema } from '../operations/resources.ts';
import { slugSchema } from '../values/market.ts';
import { instantSchema } from '../values/metric.ts';

const indexSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const takedownInputSchema = z.strictObject({
  market: slugSchema.describe('The market that the entries are about. It must be removed.'),
  first: indexSchema.default(0).describe('The index in the log of the first entry.'),
  last: indexSchema
    .nullable()
    .default(null)
    .describe('The index of the last entry. Null: up to the end of the log as it is then.'),
  reason: z.string().trim().min(1).max(500).describe('Why, for operators and the audit. It is not published.'),
});

/** A takedown as its operators see it. */
export const takedownSchema = z.strictObject({
  id: idSchema('tkd'),
  market: z.string(),
  first: indexSchema.describe('The index of the first entry of the range.'),
  last: indexSchema.nullable().describe('The index of its last entry. Null: the end of the log.'),
  reason: z.string().describe('Why. Not public.'),
  state: z
    .enum(['waiting', 'done'])
    .describe('`waiting`: for the publisher, and until readers see that the market is removed; `done`: in the log.'),
  entries: z.int().min(0).describe('How many entries were taken down so far.'),
  createdAt: instantSchema,
  generation: z.int().min(1).nullable().describe('The generation that took down the last one. Null: not done.'),
});

export type Takedown = z.infer<typeof takedownSchema>;
