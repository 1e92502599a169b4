/** Source verifications: a person or program retrieved a source and compared it with the published value. */
import * as z from 'zod';
import { slugSchema, verificationOutcomeSchema } from '../values/market.ts';
import { instantSchema, metricNameSchema, provenanceFields, sourceUrlSchema } from '../values/metric.ts';
import { operationsOf } from './operation.ts';
import { idParams, idSchema, pageQuery, pageSchema, textSchema } from './resources.ts';

/** Together with the market, these fields identify an observation. */
const observationFields = {
  metric: metricNameSchema,
  observedAt: provenanceFields.observedAt,
  sourceUrl: provenanceFields.sourceUrl,
} as const;

const inputFields = {
  market: slugSchema,
  subject: z
    .discriminatedUnion('type', [
      z
        .strictObject({ type: z.literal('observation'), ...observationFields })
        .meta({ title: 'Observation', description: 'One observation of the market, by the fields that identify it.' }),
      z
        .strictObject({
          type: z.literal('source'),
          url: sourceUrlSchema.describe('The `url` of one of the sources that the market lists.'),
        })
        .meta({ title: 'Source', description: 'Everything that the market shows from this source.' }),
    ])
    .describe('The subject of the comparison.'),
  outcome: verificationOutcomeSchema,
  verifiedAt: instantSchema.describe('When the source was retrieved: at most five minutes in the future.'),
  found: textSchema(2_000)
    .nullable()
    .default(null)
    .describe('The text or digits of the source, unchanged. Null: not recorded. Not shown in public.'),
  note: textSchema(2_000).nullable().default(null).describe('A note on the comparison. Not shown in public.'),
} as const;

export const sourceVerificationRecordSchema = z.strictObject({
  id: idSchema('verification'),
  ...inputFields,
  createdAt: instantSchema,
});

export type SourceVerificationRecord = z.infer<typeof sourceVerificationRecordSchema>;

const ID = 'verification_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const input = {
  market: 'gold-usd',
  subject: {
    type: 'observation',
    metric: 'price',
    observedAt: '2026-09-29T00:00:00Z',
    sourceUrl: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-09-29/v1/currencies/xau.json',
  },
  outcome: 'confirmed',
  verifiedAt: '2026-11-20T11:58:00Z',
  found: '4129.10',
  note: null,
} as const;
const example: SourceVerificationRecord = { id: ID, ...input, createdAt: '2026-11-20T12:00:00.000Z' };

export const sourceVerificationOperations = operationsOf({ tag: 'Source verifications' })({
  listSourceVerifications: {
    method: 'GET',
    path: '/api/v1/source-verifications',
    summary: 'List source verifications, newest first',
    description: 'Lists the verifications of all subjects. Only the audit names the actor.',
    scopes: ['sources:read'],
    query: z.strictObject({
      ...pageQuery,
      market: slugSchema.optional().describe('Only the verifications of this market.'),
    }),
    success: {
      status: 200,
      description: 'A page of source verifications',
      body: pageSchema(sourceVerificationRecordSchema),
    },
    example: { query: { market: 'gold-usd' }, response: { data: [example], page: { nextCursor: null } } },
  },
  createSourceVerification: {
    method: 'POST',
    path: '/api/v1/source-verifications',
    summary: 'Record the result of comparing a source with the published value',
    description:
      "The market's source shows the verification with the latest `verifiedAt`. A `mismatch` marks as disputed " +
      'what the market shows from that source. The dispute ends when a correction is recorded, when a newer ' +
      'observation takes its place, or when a later verification (by `verifiedAt`) confirms the value. A ' +
      'verification from before a correction was recorded does not apply to the correction.',
    scopes: ['sources:verify'],
    marketLimit: 'handler-names-markets',
    body: z.strictObject(inputFields),
    features: ['source-verifications-per-day'],
    success: { status: 201, description: 'Recorded', body: sourceVerificationRecordSchema, headers: ['Location'] },
    example: { body: input, response: example },
  },
  getSourceVerification: {
    method: 'GET',
    path: '/api/v1/source-verifications/{id}',
    summary: 'Read a source verification',
    scopes: ['sources:read'],
    params: idParams('verification'),
    success: { status: 200, description: 'The source verification', body: sourceVerificationRecordSchema },
    example: { params: { id: ID }, response: example },
  },
});
