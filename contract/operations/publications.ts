/** Publications: an operator asks for markets to be rendered and published again, although their records have not changed. */
import * as z from 'zod';
import { slugSchema } from '../values/market.ts';
import { instantSchema } from '../values/metric.ts';
import { operationsOf } from './operation.ts';
import { idParams, idSchema } from './resources.ts';

/** The most markets that one publication can name: one read of the ledger checks that all of them exist. */
export const PUBLICATION_MARKETS_MAX = 100;

const PURGE = 'Whether caches must also drop these markets, once the new bodies are in place.';

const publicationInputSchema = z.strictObject({
  markets: z
    .union([
      z.literal('all'),
      z
        .array(slugSchema)
        .min(1)
        .max(PUBLICATION_MARKETS_MAX)
        .refine((slugs) => new Set(slugs).size === slugs.length, { error: 'names a market twice' }),
    ])
    .describe('`all`, or slugs, each once.'),
  purge: z.boolean().default(false).describe(PURGE),
});

export const publicationSchema = z.strictObject({
  id: idSchema('pub'),
  markets: z
    .union([z.literal('all'), z.array(slugSchema).meta({ maxItems: PUBLICATION_MARKETS_MAX })])
    .describe('`all`, or slugs.'),
  purge: z.boolean().describe(PURGE),
  createdAt: instantSchema,
  state: z.enum(['waiting', 'published']).describe('`waiting` until a generation shows all of the publication.'),
  generation: z
    .int()
    .min(1)
    .nullable()
    .describe(
      'The first generation that shows all of it. If nothing had to change, this is a generation that was ' +
        'published before the request. Null: waiting.',
    ),
  publishedAt: instantSchema
    .nullable()
    .describe('When `generation` was published; `createdAt` if that was before the request. Null: waiting.'),
});

export type Publication = z.infer<typeof publicationSchema>;

const ID = 'pub_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const waiting: Publication = {
  id: ID,
  markets: ['gold-usd'],
  purge: true,
  createdAt: '2026-11-20T12:00:00.000Z',
  state: 'waiting',
  generation: null,
  publishedAt: null,
};

export const publicationOperations = operationsOf({ tag: 'Publications', scopes: ['publications:write'] })({
  createPublication: {
    method: 'POST',
    path: '/api/v1/publications',
    summary: 'Have markets published again, with their whole history',
    description:
      'A body whose bytes are already published stays as it is and keeps its ETag. Names at most ' +
      `${PUBLICATION_MARKETS_MAX} markets, or \`all\`.`,
    marketLimit: 'refused-for-limited-keys',
    body: publicationInputSchema,
    features: ['publications-per-day'],
    success: {
      status: 202,
      description: 'Accepted: read it again to see its generation',
      body: publicationSchema,
      headers: ['Location'],
    },
    example: { body: { markets: ['gold-usd'], purge: true }, response: waiting },
  },
  getPublication: {
    method: 'GET',
    path: '/api/v1/publications/{id}',
    summary: 'Read the generation of a publication',
    params: idParams('pub'),
    success: { status: 200, description: 'The publication', body: publicationSchema, headers: ['ETag'] },
    example: {
      params: { id: ID },
      response: {
        ...waiting,
        state: 'published',
        generation: 5,
        publishedAt: '2026-11-20T12:00:02.000Z',
      },
    },
  },
});
