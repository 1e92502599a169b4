/** Takedowns of entries of the log. */
import * as z from 'zod';
import { type Takedown, takedownInputSchema, takedownSchema } from '../files/takedowns.ts';
import { operationsOf } from './operation.ts';
import { pageQuery, pageSchema } from './resources.ts';

const ID = 'tkd_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const REASON = 'Order of the district court, case 12 O 345/26.';

const example: Takedown = {
  id: ID,
  market: 'uniswap-usd',
  first: 0,
  last: null,
  reason: REASON,
  state: 'waiting',
  entries: 0,
  createdAt: '2026-11-20T12:00:00.000Z',
  generation: null,
};

export const takedownOperations = operationsOf({ tag: 'Log', scopes: ['log:takedown'] })({
  listTakedowns: {
    method: 'GET',
    path: '/api/v1/takedowns',
    summary: 'List the takedowns, with their states',
    description: 'The oldest first.',
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of takedowns', body: pageSchema(takedownSchema) },
    example: {
      response: { data: [{ ...example, state: 'done', entries: 312, generation: 4_711 }], page: { nextCursor: null } },
    },
  },
  createTakedown: {
    method: 'POST',
    path: '/api/v1/takedowns',
    summary: 'Take the entries of a removed market out of the public log',
    description:
      'The publisher replaces the text of each entry of the market in the range by its hash: for good, and in the ' +
      "log's own records too. So the log can still be verified, and receipts of other entries stay valid. The entries " +
      '`removal` and `reset` stay, because the answer for the removed market follows from them. Refused with 409 while ' +
      'the market is not removed.',
    marketLimit: 'handler-names-markets',
    body: takedownInputSchema,
    unlimitedBecause: 'the law may ask for any number',
    success: { status: 202, description: 'Accepted', body: takedownSchema },
    problems: ['state-transition'],
    example: { body: { market: 'uniswap-usd', reason: REASON }, response: example },
  },
});
