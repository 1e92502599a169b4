/** Erasure: one operation removes all data about a person. */
import * as z from 'zod';
import { instantSchema } from '../values/metric.ts';
import { operationsOf } from './operation.ts';
import { idParams, idSchema, PERSON } from './resources.ts';

export const erasureSchema = z.strictObject({
  id: idSchema('era'),
  subject: z.string().describe('The subject whose data is erased.'),
  state: z.enum(['running', 'finished']).describe('`running` until the worker has erased everything.'),
  requestedAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null: the erasure is running.'),
});

export type Erasure = z.infer<typeof erasureSchema>;

const personSchema = z
  .string()
  .max(300)
  .regex(new RegExp(`^(${PERSON})$`), { error: 'must be user:<sub> or account:<waitlist request id>' });

const erasureInputSchema = z.strictObject({
  subject: personSchema.describe('The subject whose data is erased: `user:<sub>` or `account:<waitlist request id>`.'),
});

const ID = 'era_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: Erasure = {
  id: ID,
  subject: 'user:alice',
  state: 'running',
  requestedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: null,
};

export const erasureOperations = operationsOf({ tag: 'Erasure', scopes: ['waitlist:admin'] })({
  createErasure: {
    method: 'POST',
    path: '/api/v1/erasures',
    summary: "Erase a person's data",
    description:
      'At once: contact, use case and note of an account are erased, and all its API keys are revoked. Soon ' +
      'after, these are erased: watchlists; entitlements and their use; stored answers; the owner, every text and all ' +
      'evidence of claims; the notes of source verifications; the labels of API keys; the public name of a ' +
      'represented market. Claims that are not decided are withdrawn. Data that the subject writes before the ' +
      'erasure has finished may be erased too. A subject that returns later starts without any data. These stay: ' +
      'observations and the batches that brought them; disputes, which are about markets; the audit, in which ' +
      'the person is a pseudonymous id such as `user:<sub>`; an empty grant of the subject; and this erasure with its ' +
      'subject, so that a restore of the ledger repeats it. Stored answers to other users that contain this data ' +
      'are encrypted, and expire within 72 hours. Public pages that a cursor named before the erasure stay readable until 24 hours ' +
      'after the next publication. An API key of the account may act for up to 30 seconds more; the data that it ' +
      'writes in that time is erased too.',
    marketLimit: 'refused-for-limited-keys',
    body: erasureInputSchema,
    unlimitedBecause: 'the law gives a right to it',
    success: { status: 202, description: 'Accepted', body: erasureSchema, headers: ['Location'] },
    example: { body: { subject: 'user:alice' }, response: example },
  },
  getErasure: {
    method: 'GET',
    path: '/api/v1/erasures/{id}',
    summary: 'Read the state of an erasure',
    params: idParams('era'),
    success: { status: 200, description: 'The erasure', body: erasureSchema },
    example: {
      params: { id: ID },
      response: { ...example, state: 'finished', finishedAt: '2026-11-20T12:00:01.000Z' },
    },
  },
});
