/** Editions: an operator names a generation, and it stays readable for good. Their reads are in edition-reads.ts. */
import * as z from 'zod';
import { type Edition, editionNameSchema, editionNoteSchema, editionSchema } from '../editions.ts';
import { PUBLIC_TEXT } from '../public-text.ts';
import { editionUrl } from '../routes.ts';
import { defineOperations } from './operation.ts';
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
    marketLimit: 'reads-only',
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
    marketLimit: 'refused-for-limited-keys',
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
    marketLimit: 'refused-for-limited-keys',
    params,
    features: ['publications-per-day'],
    success: { status: 200, description: 'Removed', body: editionSchema },
    problems: ['not-found', 'conflict'],
    example: { params: { name: NAME }, response: { ...waiting, state: 'removed' } },
  },
});
