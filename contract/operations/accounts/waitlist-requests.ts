/**
 * Waitlist requests: a person asks by e-mail for an API key or for more access; operators record and decide the
 * request.
 */
import * as z from 'zod';
import { FEATURES } from '../../values/features.ts';
import { instantSchema } from '../../values/metric.ts';
import { OPERATORS_ONLY, operationsOf } from '../operation.ts';
import { idParams, idSchema, pageQuery, pageSchema, textSchema } from '../resources.ts';
import { apiKeyIdSchema } from './api-keys.ts';

const requestsPerDaySchema = z
  .int()
  .min(1)
  .max(1_000_000_000)
  .describe('How many requests a day the person expects to make. It is a statement, not a limit.');

/** The answers to writes. They contain no personal data, because they are stored for replays. */
export const waitlistRequestSchema = z.strictObject({
  id: idSchema('req'),
  state: z
    .enum(['submitted', 'approved', 'rejected', 'erased'])
    .describe(
      'An `approved` request can be turned into an API key. Of an `erased` request, all data about the person is gone.',
    ),
  requestsPerDay: requestsPerDaySchema,
  consentedAt: instantSchema.describe('When the person agreed that contact and use case are kept.'),
  createdAt: instantSchema,
  decidedAt: instantSchema.nullable().describe('Null: not decided.'),
  keys: z
    .array(apiKeyIdSchema)
    .meta({ maxItems: FEATURES['api-keys'].maxLimit })
    .describe('The ids of its API keys that are not revoked.'),
});

/** Adds the fields that only the list shows. */
export const waitlistRequestWithContactSchema = waitlistRequestSchema.extend({
  contact: z.string().nullable().describe('The e-mail address of the person. Null: erased.'),
  useCase: z.string().nullable().describe('The use case, as stated. Null: erased.'),
  note: z.string().nullable().describe('A note on the decision. Null: there is no note, or it is erased.'),
});

/** zod's own pattern, but no label of the domain ends in a hyphen or has more than 63 characters (RFC 1035, 2.3.1 and 2.3.4). */
const EMAIL = /^(?:[\w'+-]+\.)*[\w'+-]*[\w+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

const contactSchema = z
  .email({ pattern: EMAIL })
  .max(254)
  .refine((address) => address.indexOf('@') <= 64, { error: 'has more than 64 characters before the @' });

const waitlistRequestInputSchema = z.strictObject({
  contact: contactSchema.describe('The e-mail address of the person.'),
  useCase: textSchema(4_000).describe('What the person wants to do with the API, as stated.'),
  requestsPerDay: requestsPerDaySchema,
  consentedAt: instantSchema.describe(
    'When the person agreed that contact and use case are kept: not in the future. Without consent nothing may be ' +
      'recorded.',
  ),
});

const waitlistDecisionSchema = z.strictObject({
  outcome: z.enum(['approved', 'rejected']).describe('The final state of the request.'),
  note: textSchema(2_000).nullable().default(null).describe('For operators. This service does not tell the person.'),
});

export type WaitlistRequest = z.infer<typeof waitlistRequestSchema>;
export type WaitlistRequestWithContact = z.infer<typeof waitlistRequestWithContactSchema>;

const ID = 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: WaitlistRequest = {
  id: ID,
  state: 'submitted',
  requestsPerDay: 5_000,
  consentedAt: '2026-11-19T09:30:00Z',
  createdAt: '2026-11-20T12:00:00.000Z',
  decidedAt: null,
  keys: [],
};

export const waitlistRequestOperations = operationsOf({
  tag: 'Waitlist',
  scopes: ['waitlist:admin'],
  marketLimit: 'touches-no-market',
  unlimitedBecause: OPERATORS_ONLY,
})({
  listWaitlistRequests: {
    method: 'GET',
    path: '/api/v1/waitlist-requests',
    summary: 'List waitlist requests with their contacts, newest first',
    query: z.strictObject(pageQuery),
    success: {
      status: 200,
      description: 'A page of waitlist requests',
      body: pageSchema(waitlistRequestWithContactSchema),
    },
    example: {
      response: {
        data: [{ ...example, contact: 'jo@example.org', useCase: 'A weekly chart of metal prices.', note: null }],
        page: { nextCursor: null },
      },
    },
  },
  createWaitlistRequest: {
    method: 'POST',
    path: '/api/v1/waitlist-requests',
    summary: 'Record a request that arrived by e-mail',
    description: 'Only the list of requests shows contact and use case.',
    body: waitlistRequestInputSchema,
    success: { status: 201, description: 'Recorded', body: waitlistRequestSchema },
    example: {
      body: {
        contact: 'jo@example.org',
        useCase: 'A weekly chart of metal prices.',
        requestsPerDay: 5_000,
        consentedAt: '2026-11-19T09:30:00Z',
      },
      response: example,
    },
  },
  decideWaitlistRequest: {
    method: 'POST',
    path: '/api/v1/waitlist-requests/{id}/decision',
    summary: 'Approve or reject a request, once',
    description:
      'Approval alone issues nothing: create an API key from the approved request. The service sends no message: ' +
      'answer the contact yourself.',
    params: idParams('req'),
    body: waitlistDecisionSchema,
    success: { status: 200, description: 'Decided', body: waitlistRequestSchema },
    problems: ['state-transition'],
    example: {
      params: { id: ID },
      body: { outcome: 'approved', note: 'Known to us.' },
      response: { ...example, state: 'approved', decidedAt: '2026-11-20T12:00:00.000Z' },
    },
  },
});
