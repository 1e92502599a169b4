/** What an ingest batch holds: typed records, and the codes with which a row is refused; and the report on a batch. */
import * as z from 'zod';
import { marketDefinitionFields, slugSchema, sourceSchema } from './market.ts';
import { instantSchema, metricNameSchema, provenanceFields, valueFields } from './metric.ts';

export const marketRecordSchema = z
  .strictObject({
    type: z.literal('market'),
    ...marketDefinitionFields,
    status: marketDefinitionFields.status.default('active'),
    sources: z.array(sourceSchema).max(20).default([]).describe("Where the market's numbers come from."),
  })
  .describe(
    'Defines a market, or redefines it; what it leaves out takes the default. Once a market has observations, ' +
      '`nativeCurrency` and `unit` are fixed.',
  );

/** With the market, what identifies an observation. */
const identityFields = {
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: provenanceFields.observedAt,
  // Checked for shape by the row rules, so that its two ways to be wrong have codes of their own.
  sourceUrl: z
    .string()
    .describe(
      'The page or file from which the number was read: absolute http or https, at most 2,048 characters, all but those of ' +
        'RFC 3986 percent-encoded.',
    ),
} as const;

const observationRecordFields = {
  type: z.literal('observation'),
  ...identityFields,
  sourceLabel: provenanceFields.sourceLabel,
  confidence: provenanceFields.confidence,
  status: provenanceFields.status,
  sourceValue: provenanceFields.sourceValue.default(null),
  rounded: provenanceFields.rounded.default(false),
  unknownReason: provenanceFields.unknownReason.default(null),
  zeroAsserted: z
    .boolean()
    .default(false)
    .describe('Says that a zero is a real value; without it a zero is refused, as a gap in disguise.'),
  outlierConfirmed: z
    .boolean()
    .default(false)
    .describe('Says that a value far from the one nearest in time is right; without it such a record is refused.'),
} as const;

export const moneyObservationRecordSchema = z
  .strictObject({ ...observationRecordFields, amountMinor: valueFields.amountMinor, currency: valueFields.currency })
  .describe('One observation of an amount of money. A `price` is one, in the native currency of its market.');

export const scalarObservationRecordSchema = z
  .strictObject({ ...observationRecordFields, value: valueFields.value, unit: valueFields.unit })
  .describe('One observation of a number that is not money.');

/** One observation; money and scalar are told apart by their fields. */
export const observationRecordSchema = z.union([moneyObservationRecordSchema, scalarObservationRecordSchema]);

export const retractionRecordSchema = z
  .strictObject({
    type: z.literal('retraction'),
    ...identityFields,
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .refine((text) => text.isWellFormed(), { error: 'holds half of a surrogate pair' })
      .describe('Kept with the batch, and not published.'),
  })
  .describe("Takes an observation's value back, in either mode; what was published stays in the history, superseded.");

export const ingestRecordSchema = z.union([marketRecordSchema, observationRecordSchema, retractionRecordSchema]);

export type MarketRecord = z.infer<typeof marketRecordSchema>;
export type ObservationRecord = z.infer<typeof observationRecordSchema>;
export type RetractionRecord = z.infer<typeof retractionRecordSchema>;
/** A record as the rules see it: defaults filled in. */
export type IngestRecord = MarketRecord | ObservationRecord | RetractionRecord;
/** A record as an operator writes it: defaults may be left out. */
export type IngestRecordInput = z.input<typeof ingestRecordSchema>;

/** Why a row is refused. Each stands for an incident in public data, not for a field of a form. */
export const ROW_ERROR_CODES = [
  'record.invalid',
  'currency.unknown',
  'currency.retired',
  'currency.minor-unit-alias',
  'currency.not-native',
  'amount.not-integral',
  'amount.zero-unasserted',
  'amount.out-of-range',
  'date.future',
  'date.implausible',
  'source.url-missing',
  'source.url-not-absolute',
  'provenance.incomplete',
  'duplicate.in-batch',
  'conflict.existing',
  'market.unknown',
  'observation.unknown',
  'outlier',
] as const;

/** The code of the one fault of a batch, or of what is left of it, that failed for a reason that is in no record. */
export const BATCH_FAILED = 'batch.failed';

export type RowErrorCode = (typeof ROW_ERROR_CODES)[number];

/** A refused row: which field (JSON Pointer into the row), which rule, and how to mend it. */
export interface RowError {
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
}

export const ingestModeSchema = z
  .enum(['append', 'correct'])
  .describe(
    'For an observation that is known already (same market, metric, `observedAt` and `sourceUrl`) with other content: ' +
      '`append` refuses it, `correct` has it supersede the known one.',
  );

export type IngestMode = z.infer<typeof ingestModeSchema>;

/** The most records of one batch. */
export const BATCH_RECORDS_MAX = 1000;

export const DRY_RUN = 'Reports what would come of the batch, and changes nothing.';
export const PARTIAL =
  'Sets refused records aside and takes the others in; otherwise one refused record refuses the whole batch. Of records ' +
  'that are JSON: a line that is not refuses the request, with 400.';

/**
 * `POST /api/v1/ingest/batches` as JSON; NDJSON is one record a line, with the same options in the query. Records are left
 * unread here: the worker gives every fault of every one of them its own code.
 */
export const batchRequestSchema = z.strictObject({
  records: z
    // For the document alone.
    .array(z.unknown().meta({ $ref: '#/$defs/IngestRecord' }))
    .min(1)
    .max(BATCH_RECORDS_MAX)
    .describe('Faults of a record do not refuse the request: they are in the report.'),
  dryRun: z.boolean().default(false).describe(DRY_RUN),
  mode: ingestModeSchema.default('append'),
  partial: z.boolean().default(false).describe(PARTIAL),
});

/** A fault of one record of a batch. */
const batchErrorSchema = z.strictObject({
  line: z.int().min(1).nullable().describe("The record's line in an NDJSON body, from 1 on; null in a JSON body."),
  index: z.int().min(0).describe("The record's place among the records, from 0 on."),
  pointer: z
    .string()
    .describe(
      "JSON Pointer (RFC 6901): into a JSON body, `/records/<index>/…`; of an NDJSON body, into the line's record.",
    ),
  code: z
    .enum([...ROW_ERROR_CODES, BATCH_FAILED])
    .describe(
      'The rule that the record breaks. Stable. `batch.failed`: we could not apply the batch, or what was left of it; the ' +
        'record is only the first, and need not be at fault.',
    ),
  detail: z.string().describe('What is wrong and how to mend it. For people: its wording may change.'),
});

/** `GET /api/v1/ingest/batches/{id}`: what has come of a batch. */
export const batchReportSchema = z.strictObject({
  id: z.string(),
  state: z
    .enum(['queued', 'applying', 'applied', 'examined', 'refused'])
    .describe(
      'From `queued` by way of `applying` to `applied`; or to `refused`, when the batch is refused as a whole and nothing is ' +
        'taken in. A dry run ends `examined`, or `refused` where the batch would be.',
    ),
  mode: ingestModeSchema,
  partial: z.boolean().describe(PARTIAL),
  dryRun: z.boolean().describe(DRY_RUN),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe("SHA-256 of the request's body as it came, in hex."),
  bytes: z.int().min(0).describe("The length of the request's body."),
  records: z.int().min(0).describe('How many were sent.'),
  counts: z
    .strictObject({
      accepted: z.int().min(0).describe('Taken in.'),
      unchanged: z.int().min(0).describe('Known already, with the same content.'),
      refused: z.int().min(0).describe('With at least one of `errors`.'),
    })
    .describe('Records so far. Of a batch that was `examined`: what would come of them.'),
  errors: z
    .array(batchErrorSchema)
    .describe('In order of the records; those that came up only while the batch was applied follow.'),
  markets: z
    .array(slugSchema)
    .describe('The markets that changed, by slug; of a batch that was `examined`, those that would.'),
  receivedAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null until it is applied, examined or refused.'),
  generation: z
    .int()
    .min(1)
    .nullable()
    .describe('The first generation that shows all of it; null until then, and of a refused batch or a dry run.'),
  publishedAt: instantSchema
    .nullable()
    .describe('When `generation` was published: before `receivedAt` where nothing had to be published anew.'),
});

export type BatchReport = z.infer<typeof batchReportSchema>;
