/** Claims: an authenticated party asserts something about a market's record, with evidence. */
import * as z from 'zod';
import { slugSchema } from '../market.ts';
import {
  amountMinorSchema,
  confidenceSchema,
  currencyCodeSchema,
  decimalSchema,
  instantSchema,
  metricNameSchema,
  metricStatusSchema,
  sourceUrlSchema,
  unknownReasonSchema,
} from '../metric.ts';
import { defineOperations } from './operation.ts';
import { idParams, idSchema, lineSchema, pageQuery, pageSchema, subjectSchema, textSchema } from './resources.ts';

export const claimStateSchema = z.enum([
  'submitted',
  'under-review',
  'needs-evidence',
  'accepted',
  'rejected',
  'withdrawn',
]);
export type ClaimState = z.infer<typeof claimStateSchema>;

/** The observation that a claim is about, by what identifies it. */
const observationFields = {
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: instantSchema,
  sourceUrl: sourceUrlSchema,
} as const;

const correctedFields = {
  sourceValue: decimalSchema.nullable().default(null),
  rounded: z.boolean().default(false),
  unknownReason: unknownReasonSchema.nullable().default(null),
  confidence: confidenceSchema,
  status: metricStatusSchema,
} as const;

const reason = textSchema(2_000);

/** A line that acceptance publishes. */
function publicLineSchema(maxLength: number) {
  return lineSchema(maxLength).refine((line) => !line.includes('@'), {
    error: 'is shown in public: leave out addresses',
  });
}

/** What is asserted. Accepted, it is done in the same transaction: an observation is superseded or a market marked. */
export const claimAssertionSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('correction'),
    ...observationFields,
    /** What the observation should have said; the rest of its provenance stays. */
    corrected: z.union([
      z.strictObject({ amountMinor: amountMinorSchema.nullable(), currency: currencyCodeSchema, ...correctedFields }),
      z.strictObject({ value: decimalSchema.nullable(), unit: publicLineSchema(60), ...correctedFields }),
    ]),
    reason,
  }),
  z.strictObject({ type: z.literal('retraction'), ...observationFields, reason }),
  z.strictObject({ type: z.literal('dispute'), market: slugSchema, metric: metricNameSchema, reason }),
  z.strictObject({
    type: z.literal('representation'),
    market: slugSchema,
    /** The public name of the organisation; shown on the market. */
    name: publicLineSchema(200),
    reason,
  }),
]);
export type ClaimAssertion = z.infer<typeof claimAssertionSchema>;

/** Pieces of evidence of one claim. */
export const CLAIM_EVIDENCE_MAX = 20;

const evidenceInputSchema = z.strictObject({
  url: sourceUrlSchema,
  note: textSchema(2_000).nullable().default(null),
});

const claimInputSchema = z.strictObject({
  assertion: claimAssertionSchema,
  evidence: z.array(evidenceInputSchema).max(CLAIM_EVIDENCE_MAX).default([]),
});

/** What a reviewer does with a claim, short of deciding it. */
const reviewInputSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.enum(['start', 'resume']) }),
  z.strictObject({ action: z.literal('request-evidence'), note: textSchema(2_000) }),
]);

const outcomeSchema = z.enum(['accepted', 'rejected']);

const decisionInputSchema = z.strictObject({ outcome: outcomeSchema, note: textSchema(2_000) });

export const claimSchema = z.strictObject({
  id: idSchema('claim'),
  /** Whose claim it is. */
  subject: subjectSchema,
  state: claimStateSchema,
  assertion: claimAssertionSchema,
  evidence: z.array(z.strictObject({ url: sourceUrlSchema, note: z.string().nullable(), addedAt: instantSchema })),
  /** What reviewers last asked for. */
  reviewNote: z.string().nullable(),
  decision: z.strictObject({ outcome: outcomeSchema, note: z.string(), decidedAt: instantSchema }).nullable(),
  /** The observation that says what was asserted, once a correction or a retraction is accepted. */
  observationId: z.string().nullable(),
  createdAt: instantSchema,
  updatedAt: instantSchema,
  /** Counts changes; the ETag is this number. */
  revision: z.int().min(1),
});

export type Claim = z.infer<typeof claimSchema>;

const ID = 'claim_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const submitted: Claim = {
  id: ID,
  subject: 'user:alice',
  state: 'submitted',
  assertion: {
    type: 'correction',
    market: 'gold-usd',
    metric: 'price',
    observedAt: '2026-11-18T00:00:00Z',
    sourceUrl: 'https://source.example/gold/2026-11-18.json',
    corrected: {
      amountMinor: 412910,
      currency: 'USD',
      sourceValue: '4129.10',
      rounded: false,
      unknownReason: null,
      confidence: 'high',
      status: 'final',
    },
    reason: 'The source has published 4129.10 since; 4192.10 was a slip of its own.',
  },
  evidence: [
    { url: 'https://source.example/errata/2026-11-19', note: 'The erratum', addedAt: '2026-11-20T12:00:00.000Z' },
  ],
  reviewNote: null,
  decision: null,
  observationId: null,
  createdAt: '2026-11-20T12:00:00.000Z',
  updatedAt: '2026-11-20T12:00:00.000Z',
  revision: 1,
};

const underReview: Claim = {
  ...submitted,
  state: 'under-review',
  updatedAt: '2026-11-20T13:00:00.000Z',
  revision: 2,
};

const tag = 'Claims';
const params = idParams('claim');
const changed = (description: string) => ({ status: 200, description, body: claimSchema, headers: ['ETag'] }) as const;

export const claimOperations = defineOperations({
  listClaims: {
    method: 'GET',
    path: '/api/v1/claims',
    tag,
    summary: 'List your claims, newest first',
    description: "With `state`: the review queue, everybody's claims in that state, for those with `claims:review`.",
    scopes: ['claims:read', 'claims:review'],
    query: z.strictObject({ ...pageQuery, state: claimStateSchema.optional() }),
    success: { status: 200, description: 'A page of claims', body: pageSchema(claimSchema) },
    problems: ['invalid-cursor', 'not-found'],
    example: { query: { state: 'submitted' }, response: { data: [submitted], page: { nextCursor: null } } },
  },
  createClaim: {
    method: 'POST',
    path: '/api/v1/claims',
    tag,
    summary: 'File a claim about a market or one of its observations',
    scopes: ['claims:write'],
    body: claimInputSchema,
    features: ['claims', 'claims-per-day'],
    success: { status: 201, description: 'Filed', body: claimSchema, headers: ['ETag', 'Location'] },
    problems: ['quota-exceeded', 'daily-quota-exceeded'],
    example: {
      body: {
        assertion: submitted.assertion,
        evidence: [{ url: 'https://source.example/errata/2026-11-19', note: 'The erratum' }],
      },
      response: submitted,
    },
  },
  getClaim: {
    method: 'GET',
    path: '/api/v1/claims/{id}',
    tag,
    summary: 'Read a claim: one of yours, or with claims:review any',
    scopes: ['claims:read', 'claims:review'],
    params,
    success: { status: 200, description: 'The claim', body: claimSchema, headers: ['ETag'] },
    problems: ['not-found'],
    example: { params: { id: ID }, response: submitted },
  },
  addClaimEvidence: {
    method: 'POST',
    path: '/api/v1/claims/{id}/evidence',
    tag,
    summary: 'Add a piece of evidence to one of your claims',
    description:
      'A claim that needs evidence goes back under review. Needs no `If-Match`; sent with one, it is held to it.',
    scopes: ['claims:write'],
    params,
    body: evidenceInputSchema,
    precondition: 'if-match-if-sent',
    success: changed('The claim, with the evidence'),
    problems: ['not-found', 'state-transition', 'conflict'],
    example: {
      params: { id: ID },
      body: { url: 'https://source.example/errata/2026-11-19', note: 'The erratum' },
      response: { ...submitted, revision: 2 },
    },
  },
  withdrawClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/withdrawal',
    tag,
    summary: 'Withdraw one of your claims',
    description: 'Needs no `If-Match`; sent with one, it is held to it.',
    scopes: ['claims:write'],
    params,
    precondition: 'if-match-if-sent',
    success: changed('The claim, withdrawn'),
    problems: ['not-found', 'state-transition'],
    example: { params: { id: ID }, response: { ...submitted, state: 'withdrawn', revision: 2 } },
  },
  reviewClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/review',
    tag,
    summary: "Review somebody else's claim: start, ask for evidence, resume",
    scopes: ['claims:review'],
    params,
    body: reviewInputSchema,
    precondition: 'if-match',
    success: changed('The claim, in its new state'),
    problems: ['not-found', 'state-transition'],
    example: { params: { id: ID }, body: { action: 'start' }, response: underReview },
  },
  decideClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/decision',
    tag,
    summary: "Accept or reject somebody else's claim",
    description:
      'What an accepted claim asserts is done in the same transaction: a correction or a retraction supersedes the newest ' +
      'version of its observation; a dispute or a representation marks the market.',
    scopes: ['claims:review'],
    params,
    body: decisionInputSchema,
    precondition: 'if-match',
    success: changed('The claim, decided'),
    problems: ['not-found', 'state-transition', 'conflict'],
    example: {
      params: { id: ID },
      body: { outcome: 'accepted', note: 'As the erratum says.' },
      response: {
        ...underReview,
        state: 'accepted',
        decision: { outcome: 'accepted', note: 'As the erratum says.', decidedAt: '2026-11-20T14:00:00.000Z' },
        observationId: 'obs_0123456789abcdef01234567',
        updatedAt: '2026-11-20T14:00:00.000Z',
        revision: 3,
      },
    },
  },
});
