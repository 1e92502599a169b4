/** Markets, as far as they are not defined by ingest: a market is removed by its own operation. */
import * as z from 'zod';
import { removalInputSchema, removalSchema } from '../files/removed-market.ts';
import { slugSchema } from '../values/market.ts';
import { PUBLIC_TEXT } from '../values/public-text.ts';
import { operationsOf } from './operation.ts';

const marketRemovalSchema = removalSchema.extend({
  slug: slugSchema,
  revision: z.int().min(0).describe('The last revision of the market.'),
});

const removal = { reason: 'The source has ended its series.', replacedBy: 'uniswap-eur' };

export const marketOperations = operationsOf({ tag: 'Markets' })({
  removeMarket: {
    method: 'POST',
    path: '/api/v1/markets/{slug}/removal',
    summary: 'Remove a market for good',
    description:
      'The market leaves the list; then its URLs answer 410 with the reason and with the market that replaces it. Its ' +
      'history stays on record. A removed market cannot be changed or defined again: use a new slug. To say only that ' +
      'no new observations are expected, set its `status` to `retired` instead. There is no `If-Match`, because a ' +
      `removal means the same in every revision. ${PUBLIC_TEXT}`,
    scopes: ['markets:write'],
    marketLimit: 'handler-names-markets',
    features: ['market-removals-per-day'],
    params: z.strictObject({ slug: slugSchema }),
    body: removalInputSchema,
    success: { status: 200, description: 'Removed', body: marketRemovalSchema },
    problems: ['conflict'],
    example: {
      params: { slug: 'uniswap-usd' },
      body: removal,
      response: { slug: 'uniswap-usd', ...removal, removedAt: '2026-11-20T12:00:00.000Z', revision: 58 },
    },
  },
});
