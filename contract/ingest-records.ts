/** What an ingest batch holds: typed records, and the codes with which a row is refused. */
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

const observationRecordFields = {
  type: z.literal('observation'),
  market: slugSchema,
  metric: metricNameSchema,
  sourceLabel: z.string().trim().min(1).max(200),
  // Checked for shape by the row rules, so that its two ways to be wrong have codes of their own.
  sourceUrl: z.string(),
  observedAt: instantSchema,
  confidence: confidenceSchema,
  status: metricStatusSchema,
  sourceValue: decimalSchema.nullable().default(null),
  rounded: z.boolean().default(false),
  unknownReason: unknownReasonSchema.nullable().default(null),
  /** A zero is a claim: it must be asserted, or it is refused as a gap in disguise. */
  zeroAsserted: z.boolean().default(false),
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

export const ingestRecordSchema = z.union([marketRecordSchema, observationRecordSchema]);

export type MarketRecord = z.infer<typeof marketRecordSchema>;
export type ObservationRecord = z.infer<typeof observationRecordSchema>;
/** A record as the rules see it: defaults filled in. */
export type IngestRecord = MarketRecord | ObservationRecord;
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
] as const;

export type RowErrorCode = (typeof ROW_ERROR_CODES)[number];

/** A refused row: which field (JSON Pointer into the row), which rule, and how to mend it. */
export interface RowError {
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
}
