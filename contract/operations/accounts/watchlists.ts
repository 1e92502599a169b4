/** Watchlists: lists of markets that a user wants to see together. */
import * as z from 'zod';
import { FEATURES } from '../../values/features.ts';
import { slugSchema } from '../../values/market.ts';
import { instantSchema } from '../../values/metric.ts';
import { operationsOf } from '../operation.ts';
import { idParams, idSchema, lineSchema, pageQuery, pageSchema, revisionSchema } from '../resources.ts';

const watchlistInputSchema = z.strictObject({
  name: lineSchema(100).describe('One line.'),
  markets: z
    .array(slugSchema)
    .meta({ maxItems: FEATURES['watchlist-items'].maxLimit })
    .refine((slugs) => new Set(slugs).size === slugs.length, { error: 'names a market twice' })
    .default([])
    .describe('Slugs of published markets, each once, in display order.'),
});

export const watchlistSchema = z.strictObject({
  id: idSchema('wl'),
  name: z.string(),
  markets: z
    .array(slugSchema)
    .meta({ maxItems: FEATURES['watchlist-items'].maxLimit })
    .describe('Slugs, in display order.'),
  createdAt: instantSchema,
  updatedAt: instantSchema,
  revision: revisionSchema,
});

export type Watchlist = z.infer<typeof watchlistSchema>;

const ID = 'wl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: Watchlist = {
  id: ID,
  name: 'Metals',
  markets: ['gold-usd', 'silver-usd'],
  createdAt: '2026-11-20T12:00:00.000Z',
  updatedAt: '2026-11-20T12:00:00.000Z',
  revision: 1,
};

export const watchlistOperations = operationsOf({
  tag: 'Watchlists',
  scopes: ['watchlists:write'],
  marketLimit: 'touches-no-market',
})({
  listWatchlists: {
    method: 'GET',
    path: '/api/v1/watchlists',
    summary: 'List your watchlists, newest first',
    scopes: ['watchlists:read'],
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of watchlists', body: pageSchema(watchlistSchema) },
    example: { response: { data: [example], page: { nextCursor: null } } },
  },
  createWatchlist: {
    method: 'POST',
    path: '/api/v1/watchlists',
    summary: 'Create a watchlist',
    description: 'Only its owner can see it: nothing changes in public.',
    body: watchlistInputSchema,
    features: ['watchlists', 'watchlist-items', 'watchlist-writes-per-day'],
    success: { status: 201, description: 'Created', body: watchlistSchema, headers: ['ETag', 'Location'] },
    example: { body: { name: 'Metals', markets: ['gold-usd', 'silver-usd'] }, response: example },
  },
  getWatchlist: {
    method: 'GET',
    path: '/api/v1/watchlists/{id}',
    summary: 'Read one of your watchlists',
    scopes: ['watchlists:read'],
    params: idParams('wl'),
    success: { status: 200, description: 'The watchlist', body: watchlistSchema, headers: ['ETag'] },
    example: { params: { id: ID }, response: example },
  },
  replaceWatchlist: {
    method: 'PUT',
    path: '/api/v1/watchlists/{id}',
    summary: 'Replace the name and the markets of a watchlist',
    description: 'A field that is left out takes its default: without `markets`, the list is empty afterwards.',
    params: idParams('wl'),
    body: watchlistInputSchema,
    precondition: 'if-match',
    features: ['watchlist-items', 'watchlist-writes-per-day'],
    success: { status: 200, description: 'Replaced', body: watchlistSchema, headers: ['ETag'] },
    example: {
      params: { id: ID },
      body: { name: 'Gold', markets: ['gold-usd'] },
      response: { ...example, name: 'Gold', markets: ['gold-usd'], revision: 2 },
    },
  },
  deleteWatchlist: {
    method: 'DELETE',
    path: '/api/v1/watchlists/{id}',
    summary: 'Delete a watchlist',
    params: idParams('wl'),
    precondition: 'if-match',
    features: ['watchlist-writes-per-day'],
    success: { status: 204, description: 'Deleted', body: null },
    example: { params: { id: ID } },
  },
  addWatchlistMarket: {
    method: 'PUT',
    path: '/api/v1/watchlists/{id}/markets/{slug}',
    summary: 'Add a market at the end of a watchlist, unless it is there already',
    description: '`If-Match` is optional; a stale one fails with 412.',
    params: idParams('wl').extend({ slug: slugSchema }),
    precondition: 'if-match-if-sent',
    features: ['watchlist-items', 'watchlist-writes-per-day'],
    success: { status: 200, description: 'The watchlist, with the market', body: watchlistSchema, headers: ['ETag'] },
    problems: ['validation-failed'],
    example: { params: { id: ID, slug: 'silver-usd' }, response: { ...example, revision: 2 } },
  },
  removeWatchlistMarket: {
    method: 'DELETE',
    path: '/api/v1/watchlists/{id}/markets/{slug}',
    summary: 'Remove a market from a watchlist, if it is there',
    description: '`If-Match` is optional; a stale one fails with 412.',
    params: idParams('wl').extend({ slug: slugSchema }),
    precondition: 'if-match-if-sent',
    features: ['watchlist-writes-per-day'],
    success: {
      status: 200,
      description: 'The watchlist, without the market',
      body: watchlistSchema,
      headers: ['ETag'],
    },
    example: {
      params: { id: ID, slug: 'silver-usd' },
      response: { ...example, markets: ['gold-usd'], revision: 2 },
    },
  },
});
