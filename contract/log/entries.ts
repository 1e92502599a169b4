/**
 * The entries of the log, format 1: facts, each as one canonical JSON text. Frozen: see docs/log.md. A member that these
 * schemas do not have needs the next format.
 */
import * as z from 'zod';
import { cadenceSchema } from '../cadence.ts';
import { canonicalJson, type Json } from '../canonical-json.ts';
import { currencyExponent } from '../currencies.ts';
import { MARKET_METRICS_MAX, MARKET_SOURCES_MAX } from '../limits.ts';
import { marketDefinitionFields, slugSchema, sourceSchema, sourceVerificationSchema } from '../market.ts';
import {
  instantSchema,
  metricNameSchema,
  type Observation,
  provenanceFields,
  retractionKindSchema,
  valueFields,
} from '../metric.ts';
import { publicTextSchema } from '../public-text.ts';
import { removalSchema } from '../removed-market.ts';
import { ENTRY_BYTES_MAX } from './entry-bundle.ts';
import { parseVkey } from './notes.ts';

/** The format of every entry that this version writes. */
export const LOG_FORMAT = 1;

const revision = z.int().min(0);
const observationIdSchema = z.string().regex(/^obs_[0-9a-f]{24}$/);

/** Members of every entry but `key`. */
const ofMarket = { format: z.literal(LOG_FORMAT), market: slugSchema } as const;

const { slug: _, ...definition } = marketDefinitionFields;

const marketEntrySchema = z.strictObject({
  ...ofMarket,
  ...definition,
  type: z.literal('market'),
  revision,
  updatedAt: instantSchema.nullable(),
  sourceCount: z.int().min(0).max(MARKET_SOURCES_MAX),
});

const sourceEntrySchema = z.strictObject({
  ...ofMarket,
  ...sourceSchema.shape,
  type: z.literal('source'),
  revision,
  position: z
    .int()
    .min(0)
    .max(MARKET_SOURCES_MAX - 1),
  cadence: cadenceSchema.nullable(),
  verification: sourceVerificationSchema.nullable(),
});

const standingEntrySchema = z.strictObject({
  ...ofMarket,
  type: z.literal('standing'),
  revision,
  disputedMetrics: z.array(metricNameSchema).max(MARKET_METRICS_MAX),
  representedBy: z
    .strictObject({
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .nullable(),
    })
    .nullable(),
});

const observationEntryFields = {
  ...ofMarket,
  ...provenanceFields,
  type: z.literal('observation'),
  revision,
  id: observationIdSchema,
  metric: metricNameSchema,
  recordedAt: instantSchema,
  retraction: retractionKindSchema.nullable(),
  supersedes: observationIdSchema.nullable(),
} as const;

const observationEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...observationEntryFields,
    kind: z.literal('money'),
    amountMinor: valueFields.amountMinor,
    currency: valueFields.currency,
    minorDigits: z.int().min(0).max(4),
  }),
  z.strictObject({
    ...observationEntryFields,
    kind: z.literal('scalar'),
    value: valueFields.value,
    unit: valueFields.unit,
  }),
]);

const removalEntrySchema = z.strictObject({
  ...ofMarket,
  ...removalSchema.shape,
  type: z.literal('removal'),
  revision,
  reason: publicTextSchema(500),
});

const resetEntrySchema = z.strictObject({ ...ofMarket, type: z.literal('reset') });

const keyEntrySchema = z.strictObject({
  format: z.literal(LOG_FORMAT),
  type: z.literal('key'),
  vkey: z.string().max(1000).refine(isVkey, { error: 'must be a verifier key' }),
});

/** One entry, by its `type`. */
export const logEntrySchema = z.discriminatedUnion('type', [
  marketEntrySchema,
  sourceEntrySchema,
  standingEntrySchema,
  observationEntrySchema,
  removalEntrySchema,
  resetEntrySchema,
  keyEntrySchema,
]);

export type LogEntry = z.infer<typeof logEntrySchema>;
export type MarketEntry = z.infer<typeof marketEntrySchema>;
export type SourceEntry = z.infer<typeof sourceEntrySchema>;
export type StandingEntry = z.infer<typeof standingEntrySchema>;
export type ObservationEntry = z.infer<typeof observationEntrySchema>;
export type RemovalEntry = z.infer<typeof removalEntrySchema>;

function isVkey(text: string): boolean {
  try {
    parseVkey(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The text of an entry, whose UTF-8 bytes are hashed.
 *
 * @throws RangeError over 65,535 bytes
 */
export function entryText(entry: LogEntry): string {
  const text = canonicalJson(entry as Json);
  if (Buffer.byteLength(text) > ENTRY_BYTES_MAX) {
    throw new RangeError(`an entry of the log has at most ${ENTRY_BYTES_MAX} bytes`);
  }
  return text;
}

/**
 * The entry of an observation, from its stored form. Its links to a later version are left out: they follow from that
 * one's entry.
 *
 * @param revision the market's, at which this version was recorded
 */
export function observationEntry(market: string, revision: number, observation: Observation): ObservationEntry {
  const { supersededAt, supersededBy, ...facts } = observation;
  const common = { format: LOG_FORMAT, type: 'observation', market, revision } as const;
  if (facts.kind === 'scalar') return { ...common, ...facts };
  const minorDigits = currencyExponent(facts.currency);
  if (minorDigits === null) throw new RangeError(`not a currency with a minor unit: ${facts.currency}`);
  return { ...common, ...facts, minorDigits };
}
