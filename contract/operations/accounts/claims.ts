/** Claims: an authenticated party asserts something about a market's record, with evidence. */
import * as z from 'zod';
import { releasedAtSchema } from '../../ingest/ingest-records.ts';
import { ERASED } from '../../values/erased.ts';
import { slugSchema } from '../../values/market.ts';
import {
  instantSchema,
  metricNameSchema,
  provenanceFields,
  publicReasonSchema,
  quotedQuantitySchema,
  retractionKindSchema,
  sourceDecimalSchema,
  sourceUrlSchema,
  valueFields,
} from '../../values/metric.ts';
import { publicTextSchema } from '../../values/public-text.ts';
import { operationsOf } from '../operation.ts';
import { idParams, idSchema, pageQuery, pageSchema, revisionSchema, subjectSchema, textSchema } from '../resources.ts';

const claimStateSchema = z
  .enum(['submitted', 'under-review', 'needs-evidence', 'accepted', 'rejected', 'withdrawn'])
  .describe(
    '`submitted` → `under-review` ↔ `needs-evidence` → `accepted` or `rejected`. Until the claim is decided, its ' +
      'owner can withdraw it: `withdrawn`. The last three are final.',
  );
export type ClaimState = z.infer<typeof claimStateSchema>;

const observationFields = {
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: provenanceFields.observedAt,
  sourceUrl: provenanceFields.sourceUrl,
} as const;

const correctedFields = {
  releasedAt: releasedAtSchema,
  sourceValue: provenanceFields.sourceValue.default(null),
  unknownReason: provenanceFields.unknownReason.default(null),
  confidence: provenanceFields.confidence,
  status: provenanceFields.status,
} as const;

const moneyFields = {
  currency: valueFields.currency,
  quotedQuantity: quotedQuantitySchema.exactOptional(),
  ...correctedFields,
} as const;

const rounded = provenanceFields.rounded.default(false);

const reason = textSchema(2_000).describe('For reviewers. Not shown in public.');

const observation = {
  market: 'gold-usd',
  metric: 'price',
  observedAt: '2026-09-29T00:00:00Z',
  sourceUrl: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-09-29/v1/currencies/xau.json',
} as const;

/** One example of each type. */
const ASSERTIONS = {
  correction: {
    type: 'correction',
    ...observation,
    corrected: {
      amountMinor: 413_000,
      currency: 'USD',
      releasedAt: '2026-09-30T14:30:00Z',
      sourceValue: '4130.00',
      rounded: false,
      unknownReason: null,
      confidence: 'high',
      status: 'final',
    },
    reason: 'The source has published 4130.00 since; 4129.10 was a slip of its own.',
  },
  retraction: {
    type: 'retraction',
    ...observation,
    reason: 'The source has taken the number back and gives no other.',
  },
  dispute: {
    type: 'dispute',
    market: 'gold-usd',
    metric: 'price',
    reason: 'It is a tenth of what every other source says of that day.',
  },
  representation: {
    type: 'representation',
    market: 'gold-usd',
    name: 'Example Bullion Exchange',
    reason: 'We run the exchange: the page that the evidence names is ours.',
  },
} as const;

export const claimAssertionSchema = z
  .discriminatedUnion('type', [
    z
      .strictObject({
        type: z.literal('correction'),
        ...observationFields,
        corrected: z
          .union([
            z.strictObject({ amountMinor: valueFields.amountMinor, rounded, ...moneyFields }).meta({ title: 'Money' }),
            z.strictObject({ value: sourceDecimalSchema, ...moneyFields }).meta({ title: 'Decimal' }),
            z
              .strictObject({ value: valueFields.value, unit: valueFields.unit, rounded, ...correctedFields })
              .meta({ title: 'Scalar' }),
          ])
          .describe('The value that the observation should have had. The rest of its provenance stays.'),
        reason,
      })
      .meta({
        title: 'Correction',
        description: 'An observation has a wrong value.',
        examples: [ASSERTIONS.correction],
      }),
    z
      .strictObject({
        type: z.literal('retraction'),
        ...observationFields,
        kind: retractionKindSchema.exactOptional(),
        reason,
      })
      .meta({
        title: 'Retraction',
        description: 'An observation should not have been published: its value becomes unknown.',
        examples: [ASSERTIONS.retraction],
      }),
    z.strictObject({ type: z.literal('dispute'), market: slugSchema, metric: metricNameSchema, reason }).meta({
      title: 'Dispute',
      description: 'The newest value of a metric is in doubt.',
      examples: [ASSERTIONS.dispute],
    }),
    z
      .strictObject({
        type: z.literal('representation'),
        market: slugSchema,
        name: publicTextSchema(200).describe(
          'The public name of the organisation. The market shows it as `representedBy`.',
        ),
        reason,
      })
      .meta({
        title: 'Representation',
        description: 'The claimant speaks for the market.',
        examples: [ASSERTIONS.representation],
      }),
  ])
  .describe('The assertion. It takes effect when the claim is accepted.');
export type ClaimAssertion = z.infer<typeof claimAssertionSchema>;

/** The most pieces of evidence for one claim. */
export const CLAIM_EVIDENCE_MAX = 10;

const evidenceInputSchema = z.strictObject({
  url: sourceUrlSchema.describe('The URL of the evidence: absolute http or https. The service does not retrieve it.'),
  note: textSchema(500).nullable().default(null).describe('What the evidence shows. For reviewers.'),
});

const claimInputSchema = z.strictObject({
  assertion: claimAssertionSchema,
  evidence: z
    .array(evidenceInputSchema)
    .max(CLAIM_EVIDENCE_MAX)
    .default([])
    .describe(`More can be added later. A claim has at most ${CLAIM_EVIDENCE_MAX} pieces.`),
});

/** The steps of a review before the decision. */
const reviewInputSchema = z.discriminatedUnion('action', [
  z
    .strictObject({
      action: z
        .enum(['start', 'resume'])
        .describe(
          '`start`: from `submitted` to `under-review`. `resume`: from `needs-evidence` back to `under-review`.',
        ),
    })
    .meta({ title: 'Start or resume' }),
  z
    .strictObject({
      action: z.literal('request-evidence').describe('From `under-review` to `needs-evidence`.'),
      note: textSchema(2_000).describe('The evidence that is needed. The claimant sees this text as `reviewNote`.'),
    })
    .meta({ title: 'Ask for evidence' }),
]);

const outcomeSchema = z.enum(['accepted', 'rejected']).describe('The final state of the claim.');

const decisionInputSchema = z.strictObject({
  outcome: outcomeSchema,
  note: textSchema(2_000).describe('The reason. The claimant sees it.'),
  publicReason: publicReasonSchema
    .exactOptional()
    .describe(
      'Of an accepted correction or retraction: why, for readers. It becomes public with it. Refused for other claims.',
    ),
});

export const claimSchema = z.strictObject({
  id: idSchema('claim'),
  subject: z
    .union([subjectSchema, z.literal(ERASED)])
    .describe('The owner: `user:<sub>`, `account:<waitlist request id>`, `operator`, or `erased`.'),
  state: claimStateSchema,
  assertion: claimAssertionSchema,
  evidence: z
    .array(
      z.strictObject({
        url: evidenceInputSchema.shape.url,
        note: z.string().nullable().describe('What the evidence shows. Null: not stated.'),
        addedAt: instantSchema,
      }),
    )
    .meta({ maxItems: CLAIM_EVIDENCE_MAX })
    .describe('In the order in which they were added.'),
  reviewNote: z.string().nullable().describe('The evidence that reviewers last asked for. Null: they have not asked.'),
  decision: z
    .strictObject({
      outcome: outcomeSchema,
      note: z.string().describe('Why.'),
      publicReason: z.string().exactOptional().describe('Why, for readers. Left out: nothing was said to them.'),
      decidedAt: instantSchema,
    })
    .nullable()
    .describe('Null until it is decided.'),
  observationId: z
    .string()
    .nullable()
    .describe('The id of the superseding observation, once a correction or a retraction is accepted; else null.'),
  createdAt: instantSchema,
  updatedAt: instantSchema,
  revision: revisionSchema,
});

export type Claim = z.infer<typeof claimSchema>;

const PUBLIC_REASON = 'The source has corrected its own number since.';

const ID = 'claim_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const submitted: Claim = {
  id: ID,
  subject: 'user:alice',
  state: 'submitted',
  assertion: ASSERTIONS.correction,
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

const underReview: Claim = { ...submitted, state: 'under-review', updatedAt: '2026-11-20T13:00:00.000Z', revision: 2 };

const params = idParams('claim');
const changed = (description: string) => ({ status: 200, description, body: claimSchema, headers: ['ETag'] }) as const;

export const claimOperations = operationsOf({ tag: 'Claims', marketLimit: 'handler-names-markets' })({
  listClaims: {
    method: 'GET',
    path: '/api/v1/claims',
    summary: 'List your claims, newest first',
    description:
      'Without `state`: your own claims; needs `claims:read`. With `state`: the review queue, which holds all ' +
      'claims in that state; needs `claims:review`. A page of the queue may hold fewer claims although more ' +
      'follow: continue until `nextCursor` is null.',
    scopes: ['claims:read', 'claims:review'],
    query: z.strictObject({
      ...pageQuery,
      state: claimStateSchema
        .optional()
        .describe('All claims in this state, of every owner. If left out: your own claims in any state.'),
    }),
    success: { status: 200, description: 'A page of claims', body: pageSchema(claimSchema) },
    example: { query: { state: 'submitted' }, response: { data: [submitted], page: { nextCursor: null } } },
  },
  createClaim: {
    method: 'POST',
    path: '/api/v1/claims',
    summary: 'File a claim about a market or one of its observations',
    description:
      'Nothing changes in public until a reviewer, who is not the claimant, accepts the claim. The market or ' +
      'observation must exist. A correction must pass the rules of ingest.',
    scopes: ['claims:write'],
    body: claimInputSchema,
    features: ['claims', 'claims-per-day'],
    success: { status: 201, description: 'Filed', body: claimSchema, headers: ['ETag', 'Location'] },
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
    summary: 'Read a claim',
    description: 'Your own claim; with `claims:review`, any claim.',
    scopes: ['claims:read', 'claims:review'],
    params,
    success: { status: 200, description: 'The claim', body: claimSchema, headers: ['ETag'] },
    example: { params: { id: ID }, response: submitted },
  },
  addClaimEvidence: {
    method: 'POST',
    path: '/api/v1/claims/{id}/evidence',
    summary: 'Add a piece of evidence to one of your claims',
    description:
      'A claim in `needs-evidence` returns to `under-review`. `If-Match` is optional; a stale one fails with 412.',
    scopes: ['claims:write'],
    params,
    body: evidenceInputSchema,
    precondition: 'if-match-if-sent',
    features: ['claim-changes-per-day'],
    success: changed('The claim, with the evidence'),
    problems: ['state-transition', 'conflict'],
    example: {
      params: { id: ID },
      body: { url: 'https://source.example/errata/2026-11-19', note: 'The erratum' },
      response: { ...submitted, revision: 2 },
    },
  },
  withdrawClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/withdrawal',
    summary: 'Withdraw one of your claims',
    description:
      'Possible until the claim is decided. It is final. `If-Match` is optional; a stale one fails with 412.',
    scopes: ['claims:write'],
    params,
    precondition: 'if-match-if-sent',
    features: ['claim-changes-per-day'],
    success: changed('The claim, withdrawn'),
    problems: ['state-transition'],
    example: { params: { id: ID }, response: { ...submitted, state: 'withdrawn', revision: 2 } },
  },
  reviewClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/review',
    summary: "Review somebody else's claim: start, ask for evidence, resume",
    description: 'You cannot review a claim of your own subject: 403 `forbidden`.',
    scopes: ['claims:review'],
    params,
    body: reviewInputSchema,
    precondition: 'if-match',
    features: ['claim-changes-per-day'],
    success: changed('The claim, in its new state'),
    problems: ['state-transition'],
    example: { params: { id: ID }, body: { action: 'start' }, response: underReview },
  },
  decideClaim: {
    method: 'POST',
    path: '/api/v1/claims/{id}/decision',
    summary: "Accept or reject somebody else's claim",
    description:
      'An accepted claim takes effect in the same transaction and is public with the next generation. A ' +
      'correction or a retraction supersedes the newest version of its observation. A dispute sets `disputed` on ' +
      'the market. A representation sets `representedBy` on the market. A rejected claim changes nothing in ' +
      'public. You cannot decide a claim of your own subject: 403 `forbidden`.',
    scopes: ['claims:review'],
    params,
    body: decisionInputSchema,
    precondition: 'if-match',
    features: ['claim-changes-per-day'],
    success: changed('The claim, decided'),
    problems: ['state-transition', 'conflict'],
    example: {
      params: { id: ID },
      body: { outcome: 'accepted', note: 'As the erratum says.', publicReason: PUBLIC_REASON },
      response: {
        ...underReview,
        state: 'accepted',
        decision: {
          outcome: 'accepted',
          note: 'As the erratum says.',
          publicReason: PUBLIC_REASON,
          decidedAt: '2026-11-20T14:00:00.000Z',
        },
        observationId: 'obs_0123456789abcdef01234567',
        updatedAt: '2026-11-20T14:00:00.000Z',
        revision: 3,
      },
    },
  },
});
