/** The records of an ingest batch, the codes of refused rows, and the report on a batch. */
import * as z from 'zod';
import { ERRORS_MAX, MARKET_SOURCES_MAX } from '../files/limits.ts';
import {
  attributesSchema,
  marketDefinitionFields,
  OUTLIERS_REASON_MAX,
  outlierRuleSchema,
  slugSchema,
  sourceSchema,
} from '../values/market.ts';
import {
  instantSchema,
  metricNameSchema,
  provenanceFields,
  publicReasonSchema,
  quotedQuantitySchema,
  retractionKindSchema,
  sourceDecimalSchema,
  valueFields,
} from '../values/metric.ts';
import { publicTextSchema } from '../values/public-text.ts';
import { correctionsSchema, firstBesideSchema, firstWithheldSchema, rowCountsSchema } from './row-counts.ts';

export const marketRecordSchema = z
  .strictObject({
    type: z.literal('market'),
    ...marketDefinitionFields,
    status: marketDefinitionFields.status.default('active'),
    sources: z
      .array(sourceSchema)
      .max(MARKET_SOURCES_MAX)
      .exactOptional()
      .describe(
        "Where the market's numbers come from. If left out: the market keeps those that it has, with their cadence. If given, they replace those: a source that leaves out its cadence has none.",
      ),
    attributes: attributesSchema
      .exactOptional()
      .describe(
        'Facts that are not numbers, by name, each with its source. If left out: the market keeps those that it has. If given, they ' +
          'replace those; one that says the same as before, or is older, keeps its time and URL.',
      ),
    outliers: outlierRuleSchema
      .nullable()
      .exactOptional()
      .describe(
        'The own rule of the market for values that are far from others; needs the scope `ingest:correct`. It is public. ' +
          'If left out: the market keeps the rule that it has. Null: the rule of the service.',
      ),
    keepUnit: z
      .boolean()
      .exactOptional()
      .describe(
        'If the market has observations, it keeps its own `unit`, whatever this record says. Without it, another unit is refused.',
      ),
    outliersReason: publicTextSchema(OUTLIERS_REASON_MAX)
      .exactOptional()
      .describe('Why the market has its own rule, for readers. Only together with `outliers`.'),
  })
  .refine(({ outliers, outliersReason }) => outliersReason === undefined || outliers != null, {
    path: ['outliersReason'],
    error: 'stands without outliers: name the rule too, or leave the reason out',
  })
  .describe(
    'Defines or redefines a market. `status` is `active` if it is left out. Once a market has observations, ' +
      '`nativeCurrency` and `unit` are fixed.',
  );

/** The row rules check the URL, so that each of its two faults has its own code. */
export const recordSourceUrlSchema = z
  .string()
  .describe(
    'The page or file from which the number was read: absolute http or https, at most 2,048 characters. ' +
      'Percent-encode every character that RFC 3986 does not allow.',
  );

/** Together with the market, these fields identify an observation. */
const identityFields = {
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: provenanceFields.observedAt,
  sourceUrl: recordSourceUrlSchema,
} as const;

/** For records that bring a value. */
export const releasedAtSchema = provenanceFields.releasedAt
  .exactOptional()
  .describe(
    'When the source first published this value: not the time of its newest file, and not a date without a time. ' +
      'It may be before `observedAt`. If left out: not known for a new value, and not compared for a known one. ' +
      'Another time than the known one is other content.',
  );

const observationRecordFields = {
  type: z.literal('observation'),
  ...identityFields,
  sourceLabel: provenanceFields.sourceLabel,
  releasedAt: releasedAtSchema,
  confidence: provenanceFields.confidence,
  status: provenanceFields.status,
  sourceValue: provenanceFields.sourceValue.default(null),
  unknownReason: provenanceFields.unknownReason.default(null),
  zeroAsserted: z
    .boolean()
    .default(false)
    .describe(
      'States that a zero is a real value. Without it a zero is refused, because a zero often stands for a missing ' +
        'value.',
    ),
  dateConfirmed: z
    .boolean()
    .default(false)
    .describe(
      'States that a time before 1900 is right, or a `releasedAt` more than 366 days before `observedAt`. Without it such a ' +
        'record is refused.',
    ),
  announced: z
    .union([z.boolean(), z.literal('when-ahead')])
    .exactOptional()
    .describe(
      'States that the value is published before its moment: `observedAt` may then be up to 400 days ahead. Until then the ' +
        'market shows it under `announced`. `true` for a moment that has passed is refused; `when-ahead` announces only ' +
        'moments that are ahead, for files with both. A correction of an announced value needs no statement.',
    ),
  outlierConfirmed: z
    .boolean()
    .default(false)
    .describe(
      'States that a value is right although it is far from a neighbour in time. Without it such a record is refused. ' +
        'The neighbours are the nearest known values before and after it, without zeros. A correction is also compared with ' +
        'the value that it replaces.',
    ),
  ifChanged: z
    .boolean()
    .exactOptional()
    .describe(
      'For a current list: the record is `unchanged` if the newest current value of this metric and `sourceLabel` is older ' +
        'and equal. `observedAt`, `releasedAt` and `sourceUrl` are not compared. An amount in `value` that would be rounded to ' +
        'zero becomes unknown (`withheld`), with its `sourceValue`; without this field it is refused.',
    ),
  publicReason: publicReasonSchema
    .exactOptional()
    .describe(
      'In the mode `correct`: why the value is corrected, for readers. It becomes public with the correction. Without anything ' +
        'to correct, the record is refused. A known correction with another reason is corrected once more; if left out, ' +
        'the reason is not compared.',
    ),
  reinstated: z
    .boolean()
    .default(false)
    .describe(
      'In the mode `correct`: states that a retracted value stands again. Without it a record with the content that was ' +
        'retracted is `unchanged`, because its source may go on giving the value. Other content needs no statement.',
    ),
} as const;

const rounded = provenanceFields.rounded.default(false);

export const moneyObservationRecordSchema = z
  .strictObject({
    ...observationRecordFields,
    amountMinor: valueFields.amountMinor,
    currency: valueFields.currency,
    rounded,
    quotedQuantity: quotedQuantitySchema.exactOptional(),
  })
  .describe(
    'One observation of an amount of money. A `price` is one, in the native currency of its market. The amount and ' +
      '`rounded` must agree with `sourceValue`.',
  );

export const decimalObservationRecordSchema = z
  .strictObject({
    ...observationRecordFields,
    value: sourceDecimalSchema,
    currency: valueFields.currency,
    quotedQuantity: quotedQuantitySchema.exactOptional(),
    exact: z
      .boolean()
      .exactOptional()
      .describe(
        "Refuses the value (`amount.not-integral`) if minor units of the market's quantity cannot hold it exactly.",
      ),
  })
  .describe(
    'One observation of an amount of money as the decimal that the source gives. The service computes `amountMinor` ' +
      'and `rounded`.',
  );

export const scalarObservationRecordSchema = z
  .strictObject({ ...observationRecordFields, value: valueFields.value, unit: valueFields.unit, rounded })
  .describe('One observation of a number that is not money.');

/** One observation. Its fields distinguish money, in minor units or as a decimal, from scalars. */
export const observationRecordSchema = z.union([
  moneyObservationRecordSchema,
  decimalObservationRecordSchema,
  scalarObservationRecordSchema,
]);

export const retractionRecordSchema = z
  .strictObject({
    type: z.literal('retraction'),
    ...identityFields,
    kind: retractionKindSchema
      .exactOptional()
      .describe(
        '`mistake`: the observation should never have been recorded. The market shows the newest value before it again. ' +
          '`withdrawn`: the source took the value back. The market shows it as unknown. If left out: the reason is not ' +
          'known, and the market shows it as unknown.',
      ),
    publicReason: publicReasonSchema
      .exactOptional()
      .describe(
        'Why, for readers. It becomes public with the retraction. A known retraction with another one is recorded once ' +
          'more; if left out, it is not compared.',
      ),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .refine((text) => text.isWellFormed(), { error: 'holds half of a surrogate pair' })
      .describe('Why, for operators. Kept with the batch, and not published.'),
  })
  .describe("Takes an observation's value back, in both modes. The published value stays in the history, superseded.");

export const ingestRecordSchema = z.union([marketRecordSchema, observationRecordSchema, retractionRecordSchema]);

export type MarketRecord = z.infer<typeof marketRecordSchema>;
/** An amount of money in minor units, or as the source's decimal. */
export type MoneyRecord = z.infer<typeof moneyObservationRecordSchema | typeof decimalObservationRecordSchema>;
export type ObservationRecord = z.infer<typeof observationRecordSchema>;
export type RetractionRecord = z.infer<typeof retractionRecordSchema>;
/** A record with its defaults filled in. */
export type IngestRecord = MarketRecord | ObservationRecord | RetractionRecord;
/** A record in the form in which it is sent: fields with defaults may be left out. */
export type IngestRecordInput = z.input<typeof ingestRecordSchema>;

/** The reasons for refusing a row. Each code stands for an incident in public data. */
export const ROW_ERROR_CODES = [
  'record.invalid',
  'currency.unknown',
  'currency.retired',
  'currency.minor-unit-alias',
  'currency.not-native',
  'amount.not-integral',
  'amount.disagrees-with-source',
  'amount.zero-unasserted',
  'amount.out-of-range',
  'date.future',
  'date.implausible',
  'date.past',
  'source.url-missing',
  'source.url-not-absolute',
  'source.url-not-public',
  'provenance.incomplete',
  'duplicate.in-batch',
  'conflict.existing',
  'market.unknown',
  'market.removed',
  'observation.unknown',
  'outlier',
  'scope.missing',
  'market.not-allowed',
] as const;

/** The only error of a batch that could not be applied, or not completely. The cause is not in a record. */
export const BATCH_FAILED = 'batch.failed';

export type RowErrorCode = (typeof ROW_ERROR_CODES)[number];

/** A refused row: the field (a JSON Pointer into the row), the rule, and the remedy. */
export interface RowError {
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
}

export const ingestModeSchema = z
  .enum(['append', 'correct'])
  .describe(
    'For an observation that is already known (same market, metric, `observedAt` and `sourceUrl`) with other ' +
      'content: `append` refuses it; `correct` records it as a correction, which supersedes the known one. `append` takes the ' +
      'first content of an observation as `unchanged` also after a correction or a retraction: to bring it back, use ' +
      '`correct`, and after a retraction `reinstated`.',
  );

export type IngestMode = z.infer<typeof ingestModeSchema>;

export const BATCH_RECORDS_MAX = 1000;
/** The most bytes of the body of a batch. */
export const BATCH_BYTES_MAX = 1024 * 1024;
/** A longer line of a file is refused as a record. */
export const LINE_BYTES_MAX = 128 * 1024;

export const DRY_RUN = 'Reports the result that the batch would have, and changes nothing.';
export const PARTIAL =
  'Sets refused records aside and takes the others in. Without it, one refused record refuses the whole batch. It ' +
  'applies to records that are JSON: a line that is not JSON refuses the request with 400.';

/**
 * `POST /api/v1/ingest/batches` as JSON; NDJSON has one record a line, and the same options in the query. This schema does
 * not check the records: the worker checks them, and reports every fault of every record with its code.
 */
export const batchRequestSchema = z.strictObject({
  records: z
    // For the OpenAPI document only.
    .array(z.unknown().meta({ $ref: '#/$defs/IngestRecord' }))
    .min(1)
    .max(BATCH_RECORDS_MAX)
    .describe('A fault of a record does not refuse the request: the report lists it.'),
  dryRun: z.boolean().default(false).describe(DRY_RUN),
  mode: ingestModeSchema.default('append'),
  partial: z.boolean().default(false).describe(PARTIAL),
});

/** One fault of one record of a batch. */
const batchErrorSchema = z.strictObject({
  line: z
    .int()
    .min(1)
    .nullable()
    .describe("The record's line, from 1 on: in an NDJSON body, or in the file of an upload. Null in a JSON body."),
  index: z.int().min(0).describe("The record's position among the records, from 0 on."),
  pointer: z
    .string()
    .describe(
      'JSON Pointer (RFC 6901). In a JSON body: `/records/<index>/…`. In an NDJSON body: into the record of the ' +
        'line.',
    ),
  code: z
    .enum([...ROW_ERROR_CODES, BATCH_FAILED])
    .describe(
      'The rule that the record breaks. Stable. `batch.failed`: the service could not apply the batch, or the ' +
        'rest of it; this record is only the first of the rest, and may be right.',
    ),
  detail: z.string().describe('The fault and its remedy, for people. The wording may change.'),
});

/** `GET /api/v1/ingest/batches/{id}`: the report on a batch. */
export const batchReportSchema = z.strictObject({
  id: z.string(),
  state: z
    .enum(['queued', 'applying', 'applied', 'examined', 'refused'])
    .describe(
      '`queued`, then `applying`, then `applied`; or `refused`, when the whole batch is refused and nothing is ' +
        'stored. A dry run ends as `examined`, or as `refused` where the batch would be refused.',
    ),
  summary: z.string().describe('The result and the next step, in one line for people. The wording may change.'),
  mode: ingestModeSchema,
  partial: z.boolean().describe(PARTIAL),
  dryRun: z.boolean().describe(DRY_RUN),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe("SHA-256 of the request's body, as it was sent, in hex."),
  bytes: z.int().min(0).describe("The length of the request's body."),
  records: z.int().min(0).describe('Records that were sent.'),
  counts: rowCountsSchema,
  corrections: correctionsSchema,
  firstBeside: firstBesideSchema,
  firstWithheld: firstWithheldSchema,
  errors: z
    .array(batchErrorSchema)
    .meta({ maxItems: ERRORS_MAX })
    .describe(
      'Ordered by record. Errors that were found while the batch was applied come after the others. A record has at ' +
        'most 20 here, and only one each once the batch has 2,000. Very long lists are cut off: `counts.refused` is ' +
        'exact.',
    ),
  markets: z
    .array(slugSchema)
    .meta({ maxItems: BATCH_RECORDS_MAX })
    .describe('The markets that changed, by slug. For an `examined` batch: the markets that would change.'),
  receivedAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null until the batch is applied, examined or refused.'),
  generation: z
    .int()
    .min(1)
    .nullable()
    .describe('The first generation that shows the whole batch. Null: not yet published, refused, or a dry run.'),
  publishedAt: instantSchema
    .nullable()
    .describe('When `generation` was published. It is before `receivedAt` if nothing had to change.'),
});

export type BatchReport = z.infer<typeof batchReportSchema>;
