/** Editions: an operator names a generation, and it stays readable for good. */
import * as z from 'zod';
import {
  type Edition,
  editionNameSchema,
  editionNoteSchema,
  editionSchema,
  type PublicEdition,
  publicEditionSchema,
} from '../editions.ts';
import { marketSchema, slugSchema } from '../market.ts';
import { PUBLIC_TEXT } from '../public-text.ts';
import { editionUrl } from '../routes.ts';
import { defineOperations } from './operation.ts';
import { historyPageSchema, marketPageSchema, pagedQuery, publicReadOperations } from './public-reads.ts';
import { pageQuery, pageSchema } from './resources.ts';

const NAME = '2026-q3';
const NOTE = 'The third quarter of 2026, as cited in our report.';

const waiting: Edition = {
  name: NAME,
  note: NOTE,
  state: 'waiting',
  createdAt: '2026-11-20T12:00:00.000Z',
  generation: null,
  publishedAt: null,
  failure: null,
  href: editionUrl(NAME),
};

const params = z.strictObject({ name: editionNameSchema });
const tag = 'Editions';

export const editionOperations = defineOperations({
  listEditions: {
    method: 'GET',
    path: '/api/v1/editions',
    tag,
    summary: 'List the editions, with their states',
    description: 'Ordered by name. Removed ones are listed too, because their names are never used again.',
    scopes: ['publications:write'],
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of editions', body: pageSchema(editionSchema) },
    example: { response: { data: [waiting], page: { nextCursor: null } } },
  },
  createEdition: {
    method: 'POST',
    path: '/api/v1/editions',
    tag,
    summary: 'Name the next generation with a complete list, for good',
    description:
      'The publisher chooses the generation and copies its bodies while it goes on publishing: read the list of ' +
      'editions for its state. Then every URL below `href` gives exactly that generation, whatever is published ' +
      `later. ${PUBLIC_TEXT}`,
    scopes: ['publications:write'],
    body: z.strictObject({ name: editionNameSchema, note: editionNoteSchema.default(null).describe('Public text.') }),
    features: ['publications-per-day'],
    success: { status: 202, description: 'Accepted', body: editionSchema, headers: ['Location'] },
    problems: ['conflict'],
    example: { body: { name: NAME, note: NOTE }, response: waiting },
  },
  removeEdition: {
    method: 'POST',
    path: '/api/v1/editions/{name}/removal',
    tag,
    summary: 'Remove an edition for good',
    description:
      'For bodies that must no longer be shown: an edition keeps markets that were removed later. The next sweep ' +
      'removes its bodies, at most an hour later. Its name is never used again.',
    scopes: ['publications:write'],
    params,
    features: ['publications-per-day'],
    success: { status: 200, description: 'Removed', body: editionSchema },
    problems: ['not-found', 'conflict'],
    example: { params: { name: NAME }, response: { ...waiting, state: 'removed' } },
  },
});

const { listMarkets, getMarket, getMarketHistory } = publicReadOperations;
const edition: PublicEdition = {
  name: NAME,
  note: NOTE,
  generation: 4,
  publishedAt: '2026-10-01T12:00:00.000Z',
  counts: { markets: 1, observations: 57, unknownValues: 0 },
  listDigest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  log: null,
  markets: `${editionUrl(NAME)}/markets`,
};
const marketParams = z.strictObject({ name: editionNameSchema, slug: slugSchema });
const reads = 'Public reads';

export const editionReads = defineOperations({
  getEdition: {
    method: 'GET',
    path: '/api/v1/editions/{name}',
    tag: reads,
    summary: 'Read which generation an edition is',
    description: 'It never changes, but an operator can remove the whole edition. Not found until it is complete.',
    scopes: null,
    params,
    success: { status: 200, description: 'The edition', body: publicEditionSchema },
    problems: ['not-found'],
    example: { params: { name: NAME }, response: edition },
  },
  listEditionMarkets: {
    method: 'GET',
    path: '/api/v1/editions/{name}/markets',
    tag: reads,
    summary: 'List the markets of an edition',
    description: 'As the list of markets was in its generation. Its cursors do not expire.',
    scopes: null,
    params,
    query: pagedQuery,
    success: { status: 200, description: 'A page of markets', body: marketPageSchema },
    problems: ['not-found'],
    example: { params: { name: NAME }, response: listMarkets.example.response },
  },
  getEditionMarket: {
    method: 'GET',
    path: '/api/v1/editions/{name}/markets/{slug}',
    tag: reads,
    summary: 'Read a market of an edition',
    description: "As it was in the edition's generation. Its `history.href` leads to the history of today.",
    scopes: null,
    params: marketParams,
    success: { status: 200, description: 'The market', body: marketSchema },
    problems: ['not-found'],
    example: { params: { name: NAME, slug: 'gold-usd' }, response: getMarket.example.response },
  },
  getEditionMarketHistory: {
    method: 'GET',
    path: '/api/v1/editions/{name}/markets/{slug}/history',
    tag: reads,
    summary: 'Read the observations of a market of an edition, newest first',
    description: "As they were in the edition's generation. Its cursors do not expire.",
    scopes: null,
    params: marketParams,
    query: pagedQuery,
    success: { status: 200, description: 'A page of observations', body: historyPageSchema },
    problems: ['not-found'],
    example: { params: { name: NAME, slug: 'gold-usd' }, response: getMarketHistory.example.response },
  },
});
