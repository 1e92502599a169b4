/** Erasure of a person's data: one operation, whatever there is. */
import * as z from 'zod';
import { instantSchema } from '../metric.ts';
import { defineOperations } from './operation.ts';
import { idParams, idSchema, subjectSchema } from './resources.ts';

export const erasureSchema = z.strictObject({
  id: idSchema('era'),
  subject: z.string().describe('Whose data is erased.'),
  state: z.enum(['running', 'finished']).describe('`running` while a worker still has something to erase.'),
  requestedAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null while it is running.'),
});

export type Erasure = z.infer<typeof erasureSchema>;

/** A subject that is a person, or may be one. */
const erasableSubjectSchema = subjectSchema.regex(/^(?!operator$)/, {
  error: 'must be a user or an account: the operator of the deployment is no person',
});

const erasureInputSchema = z.strictObject({
  subject: erasableSubjectSchema.describe('Whose data to erase: `user:<sub>` or `account:<waitlist request id>`.'),
});

const ID = 'era_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: Erasure = {
  id: ID,
  subject: 'user:alice',
  state: 'running',
  requestedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: null,
};

const tag = 'Erasure';

export const erasureOperations = defineOperations({
  createErasure: {
    method: 'POST',
    path: '/api/v1/erasures',
    tag,
    summary: "Erase a person's data",
    description:
      'At once: contact, use case and note of an account, and all its API keys are revoked. Soon after: watchlists, ' +
      'entitlements, use, stored answers; every text and all evidence of claims, of which those that are open are ' +
      'withdrawn; the notes of source verifications; the labels of API keys; the public name of a represented market. ' +
      'What is written before the erasure has finished may be erased with the rest; whoever comes back later starts ' +
      'anew. What stays: observations, the batches that brought them, and disputes, which are about markets; and the ' +
      'audit, in which the person is a pseudonymous id such as `user:<sub>`. Encrypted answers to others that showed any ' +
      'of it expire within 72 hours; pages that were handed out by cursor before the erasure can be read until 24 hours ' +
      'after the next publication. An API key of the account may act for up to 30 seconds more; what it writes is erased ' +
      'with the rest.',
    scopes: ['waitlist:admin'],
    body: erasureInputSchema,
    success: { status: 202, description: 'Accepted', body: erasureSchema, headers: ['Location'] },
    example: { body: { subject: 'user:alice' }, response: example },
  },
  getErasure: {
    method: 'GET',
    path: '/api/v1/erasures/{id}',
    tag,
    summary: 'Read how far an erasure has come',
    scopes: ['waitlist:admin'],
    params: idParams('era'),
    success: { status: 200, description: 'The erasure', body: erasureSchema },
    problems: ['not-found'],
    example: {
      params: { id: ID },
      response: { ...example, state: 'finished', finishedAt: '2026-11-20T12:00:01.000Z' },
    },
  },
});
