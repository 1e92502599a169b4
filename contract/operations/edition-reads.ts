/** The public reads of editions: apart from what is written, so that the write API does not carry them. */
import * as z from 'zod';
import { editionNameSchema } from '../editions.ts';
import { marketSchema, slugSchema } from '../market.ts';
import { type PublicEdition, publicEditionSchema } from '../public-edition.ts';
import { editionUrl } from '../routes.ts';
import { defineOperations } from './operation.ts';
import { historyPageSchema, marketPageSchema, pagedQuery, publicReadOperations } from './public-reads.ts';

const NAME = '2026-q3';

const { listMarkets, getMarket, getMarketHistory } = publicReadOperations;
const edition: PublicEdition = {
  name: NAME,
  note: 'The third quarter of 2026, as cited in our report.',
  generation: 4,
  publishedAt: '2026-10-01T12:00:00.000Z',
  counts: { markets: 1, observations: 57, unknownValues: 0 },
  listDigest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  log: null,
  markets: `${editionUrl(NAME)}/markets`,
};
const params = z.strictObject({ name: editionNameSchema });
const marketParams = z.strictObject({ name: editionNameSchema, slug: slugSchema });
const tag = 'Public reads';

export const editionReads = defineOperations({
  getEdition: {
    method: 'GET',
    path: '/api/v1/editions/{name}',
    tag,
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
    tag,
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
    tag,
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
    tag,
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
