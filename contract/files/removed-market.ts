/** The removal of a market, and the problem document that its URLs then answer. */
import * as z from 'zod';
import { PROBLEM_CONTENT_TYPE, problemType } from '../problems/edge-problems.ts';
import { PROBLEMS } from '../problems/problems.ts';
import type { Json } from '../values/canonical-json.ts';
import { slugSchema } from '../values/market.ts';
import { instantSchema } from '../values/metric.ts';
import { publicTextSchema } from '../values/public-text.ts';
import { marketUrl } from './routes.ts';

const replacedBySchema = slugSchema
  .nullable()
  .describe('The slug of the market to read instead. It may be removed later too. Null: nothing replaces the market.');

/** `POST /api/v1/markets/{slug}/removal`. */
export const removalInputSchema = z.strictObject({
  reason: publicTextSchema(500).describe('Why the market is removed, for its readers. It becomes public.'),
  replacedBy: replacedBySchema.default(null),
});

/** The facts of a removal. They never change. */
export const removalSchema = z.strictObject({
  reason: z.string().describe('Why the market was removed.'),
  replacedBy: replacedBySchema,
  removedAt: instantSchema.describe('When it was removed. Readers see it with one of the next generations.'),
});

export type Removal = z.infer<typeof removalSchema>;

const { status, title } = PROBLEMS['market-removed'];

/** The public answer for a removed market: a problem document (RFC 9457) with the removal as further members. */
export const removedMarketSchema = removalSchema
  .extend({
    type: z.literal(problemType('market-removed')),
    title: z.literal(title),
    status: z.literal(status),
    code: z.literal('market-removed'),
    detail: z.string().describe('What to read instead, and why, for people. The wording may change.'),
  })
  .describe(`A removed market, as \`${PROBLEM_CONTENT_TYPE}\`: it is not in the list, and will not come back.`);

export type RemovedMarket = z.infer<typeof removedMarketSchema>;

/** The body of every URL of a removed market. */
export function removedMarketDocument({ reason, replacedBy, removedAt }: Removal): Json {
  const instead = replacedBy === null ? '' : ` Read ${marketUrl(replacedBy)} instead.`;
  const document: RemovedMarket = {
    type: problemType('market-removed') as RemovedMarket['type'],
    title,
    status,
    code: 'market-removed',
    detail: `This market was removed.${instead} Its operator says why: ${reason}`,
    reason,
    replacedBy,
    removedAt,
  };
  return document;
}
