/** What an ingest batch holds: typed records, and the codes with which a row is refused; and the report on a batch. */
import * as z from 'zod';
import { marketDefinitionFields, slugSchema, sourceSchema } from './market.ts';
import {
  amountMinorSchema,
  confidenceSchema,
  currencyCodeSchema,
  decimalSchema,
  instantSchema,
  metricNameSchema,
  metricStatusSchema,
  unknownReasonSchema,
} from './metric.ts';

/** Defines a market, or redefines it; what it leaves out takes the default. */
export const marketRecordSchema = z.strictObject({
  type: z.literal('market'),
  ...marketDefinitionFields,
  status: marketDefinitionFields.status.default('active'),
  sources: z.array(sourceSchema).max(20).default([]),
});

/** With the market, what identifies an observation. */
const identityFields = {
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: instantSchema,
  // Checked for shape by the row rules, so that its two ways to be wrong have codes of their own.
  sourceUrl: z.string(),
} as const;

const observationRecordFields = {
  type: z.literal('observation'),
  ...identityFields,
  sourceLabel: z.string().trim().min(1).max(200),
  confidence: confidenceSchema,
  status: metricStatusSchema,
  sourceValue: decimalSchema.nullable().default(null),
  rounded: z.boolean().default(false),
  unknownReason: unknownReasonSchema.nullable().default(null),
  /** A zero is a claim: it must be asserted, or it is refused as a gap in disguise. */
  zeroAsserted: z.boolean().default(false),
  /** An operator's word that a value far from the latest one is right; without it such a row is set aside. */
  outlierConfirmed: z.boolean().default(false),
} as const;

export const moneyObservationRecordSchema = z.strictObject({
  ...observationRecordFields,
  amountMinor: amountMinorSchema.nullable(),
  currency: currencyCodeSchema,
});

export const scalarObservationRecordSchema = z.strictObject({
  ...observationRecordFields,
  value: decimalSchema.nullable(),
  unit: z.string().min(1).max(60),
});

/** One observation; money and scalar are told apart by their fields. */
export const observationRecordSchema = z.union([moneyObservationRecordSchema, scalarObservationRecordSchema]);

/** Takes an observation's value back, in either mode; what was published stays in the history, superseded. */
export const retractionRecordSchema = z.strictObject({
  type: z.literal('retraction'),
  ...identityFields,
  /** For those who read the batch again; it is kept with the batch and not published. */
  reason: z.string().trim().min(1).max(500),
});

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

export type RowErrorCode = (typeof ROW_ERROR_CODES)[number];

/** A refused row: which field (JSON Pointer into the row), which rule, and how to mend it. */
export interface RowError {
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
}

export const ingestModeSchema = z.enum(['append', 'correct']);

/** `append` refuses other content for a known observation; `correct` supersedes it. */
export type IngestMode = z.infer<typeof ingestModeSchema>;

/** The most records of one batch. */
export const BATCH_RECORDS_MAX = 1000;

/**
 * `POST /api/v1/ingest/batches` as JSON; NDJSON is one record a line, with the same options in the query. Records are left
 * unread here: the worker gives every fault of every one of them its own code.
 */
export const batchRequestSchema = z.strictObject({
  records: z
    .array(z.unknown().meta({ description: 'A market, an observation or a retraction: see the schema IngestRecord.' }))
    .min(1)
    .max(BATCH_RECORDS_MAX),
  /** Reports what would come of the batch, and changes nothing. */
  dryRun: z.boolean().default(false),
  mode: ingestModeSchema.default('append'),
  /** Sets refused records aside and takes the others in; otherwise one refused record refuses the batch. */
  partial: z.boolean().default(false),
});

/** A fault of one record of a batch. */
const batchErrorSchema = z.strictObject({
  /** The record's line, from 1 on, in an NDJSON body; null in a JSON body. */
  line: z.int().min(1).nullable(),
  /** The record's place among the records, from 0 on. */
  index: z.int().min(0),
  /** JSON Pointer: into the request's body, `/records/<index>/…`; of an NDJSON body, into the line's record. */
  pointer: z.string(),
  code: z.enum(ROW_ERROR_CODES),
  detail: z.string(),
});

/** `GET /api/v1/ingest/batches/{id}`: what has come of a batch. */
export const batchReportSchema = z.strictObject({
  id: z.string(),
  state: z.enum(['queued', 'applying', 'applied', 'refused']),
  mode: ingestModeSchema,
  partial: z.boolean(),
  dryRun: z.boolean(),
  /** SHA-256 of the request's body as it came, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
  records: z.int().min(0),
  /** Records so far. Of a refused batch and of a dry run: what would have come of the others. */
  counts: z.strictObject({ accepted: z.int().min(0), unchanged: z.int().min(0), refused: z.int().min(0) }),
  /** In order of the records; those that came up only while the batch was applied follow. */
  errors: z.array(batchErrorSchema),
  /** Slugs of the markets that changed, in order; of a refused batch and of a dry run, those that would have. */
  markets: z.array(slugSchema),
  receivedAt: instantSchema,
  finishedAt: instantSchema.nullable(),
  /** The first generation that shows all of it, and when that was published; null until then. */
  generation: z.int().min(1).nullable(),
  publishedAt: instantSchema.nullable(),
});

export type BatchReport = z.infer<typeof batchReportSchema>;
