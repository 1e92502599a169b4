/**
 * The entries of the log: facts, each as one canonical JSON text. These schemas never change: see docs/log.md. A new member
 * needs the next format. An entry has the first format that has all of its members.
 */
import * as z from 'zod';
import { CALENDAR_PERIODS, WEEKDAYS } from '../freshness/cadence.ts';
import { canonicalJson, type Json } from '../values/canonical-json.ts';
import { slugSchema, verificationOutcomeSchema } from '../values/market.ts';
import {
  amountMinorSchema,
  confidenceSchema,
  currencyCodeSchema,
  decimalSchema,
  metricStatusSchema,
  type Observation,
  retractionKindSchema,
  sourceDigitsSchema,
  unknownReasonSchema,
} from '../values/metric.ts';
import { currencyExponent } from '../values/money/currencies.ts';
import { ENTRY_BYTES_MAX } from './entry-bundle.ts';
import { parseVkey } from './notes.ts';

/** The format of nearly every entry. */
export const LOG_FORMAT = 1;
/**
 * The format of `service`, of announced values, of corrections and retractions with a public reason, and of the definition
 * of a market with its own rule for outliers or with attributes.
 */
export const SECOND_FORMAT = 2;
/** Readers cannot interpret a later format. */
export const NEWEST_LOG_FORMAT = SECOND_FORMAT;

/**
 * Any text. A log is permanent, and the rules for ingested texts change, so an entry may contain a text that would be
 * refused today. The same is true for the limits on numbers below.
 */
const text = z.string().max(4096);
const many = z.int().min(0).max(10_000);
const revision = z.int().min(0);
/** An instant in the canonical spelling: in UTC, with a Z. Readers refuse a moment that does not exist. */
const instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/);
const metricName = z.string().regex(/^[a-z][a-zA-Z0-9]{0,39}$/);
const observationIdSchema = z.string().regex(/^obs_[0-9a-f]{24}$/);

/** Members of every entry, except `key` and `service` entries. */
const ofMarket = { format: z.literal(LOG_FORMAT), market: slugSchema } as const;

const definitionFields = {
  market: slugSchema,
  type: z.literal('market'),
  revision,
  updatedAt: instant.nullable(),
  name: text,
  kind: text,
  status: z.enum(['active', 'retired']),
  nativeCurrency: currencyCodeSchema,
  unit: z.strictObject({ of: text, quantity: z.int().min(1) }),
  sourceCount: many,
} as const;

const marketEntrySchema = z.discriminatedUnion('format', [
  z.strictObject({ ...definitionFields, format: z.literal(LOG_FORMAT) }),
  z
    .strictObject({
      ...definitionFields,
      format: z.literal(SECOND_FORMAT),
      attributes: z
        .record(metricName, z.strictObject({ observedAt: instant, sourceLabel: text, sourceUrl: text, value: text }))
        .exactOptional(),
      outliers: z.union([z.literal('off'), z.strictObject({ factor: z.number(), neighbours: many })]).exactOptional(),
      outliersReason: text.nullable().exactOptional(),
    })
    .refine(({ outliers, outliersReason }) => (outliers === undefined) === (outliersReason === undefined))
    .refine(({ attributes, outliers }) => attributes !== undefined || outliers !== undefined),
]);

const anyCadence = { graceSeconds: z.int().min(0), holidays: z.array(text), weekdays: z.array(z.enum(WEEKDAYS)) };

const loggedCadenceSchema = z.discriminatedUnion('period', [
  z.strictObject({
    ...anyCadence,
    period: z.enum(CALENDAR_PERIODS),
    releaseAfterDays: z.int().min(0),
    releaseTime: text,
  }),
  z.strictObject({ ...anyCadence, period: z.literal('minutes'), minutes: z.int().min(1) }),
]);

const sourceEntrySchema = z.strictObject({
  ...ofMarket,
  type: z.literal('source'),
  revision,
  position: many,
  label: text,
  url: text,
  publisher: text.nullable(),
  licence: text.nullable(),
  attribution: text.nullable(),
  cadence: loggedCadenceSchema.nullable(),
  verification: z
    .strictObject({
      outcome: verificationOutcomeSchema,
      verifiedAt: instant,
      subject: z.enum(['observation', 'source']),
    })
    .nullable(),
});

const standingEntrySchema = z.strictObject({
  ...ofMarket,
  type: z.literal('standing'),
  revision,
  disputedMetrics: z.array(metricName),
  representedBy: z
    .strictObject({
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .nullable(),
    })
    .nullable(),
});

type Formatted = {
  readonly sourceValue: string | null;
  readonly announced?: true;
  readonly publicReason?: string;
};

/** The second format has announced values, public reasons, and digits with an exponent. */
const formatOf = ({ announced, publicReason, sourceValue }: Formatted) =>
  announced || publicReason !== undefined || (sourceValue !== null && /e/i.test(sourceValue))
    ? SECOND_FORMAT
    : LOG_FORMAT;
const hasItsFormat = (entry: Formatted & { readonly format: number }) => entry.format === formatOf(entry);

const observationEntryFields = {
  ...ofMarket,
  format: z.union([z.literal(LOG_FORMAT), z.literal(SECOND_FORMAT)]),
  type: z.literal('observation'),
  revision,
  id: observationIdSchema,
  announced: z.literal(true).exactOptional(),
  metric: metricName,
  publicReason: text.exactOptional(),
  sourceLabel: text,
  sourceUrl: text,
  observedAt: instant,
  recordedAt: instant,
  releasedAt: instant.nullable(),
  confidence: confidenceSchema,
  status: metricStatusSchema,
  sourceValue: sourceDigitsSchema.nullable(),
  rounded: z.boolean(),
  unknownReason: unknownReasonSchema.nullable(),
  retraction: retractionKindSchema.nullable(),
  supersedes: observationIdSchema.nullable(),
} as const;

const observationEntrySchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      ...observationEntryFields,
      kind: z.literal('money'),
      amountMinor: amountMinorSchema.nullable(),
      currency: currencyCodeSchema,
      minorDigits: z.int().min(0).max(4),
    })
    .refine(hasItsFormat),
  z
    .strictObject({
      ...observationEntryFields,
      kind: z.literal('scalar'),
      value: decimalSchema.nullable(),
      unit: text,
    })
    .refine(hasItsFormat),
]);

const removalEntrySchema = z.strictObject({
  ...ofMarket,
  type: z.literal('removal'),
  revision,
  reason: text,
  replacedBy: slugSchema.nullable(),
  removedAt: instant,
});

const resetEntrySchema = z.strictObject({ ...ofMarket, type: z.literal('reset') });

const takedownEntrySchema = z.strictObject({
  ...ofMarket,
  type: z.literal('takedown'),
  first: z.int().min(0),
  last: z.int().min(0),
});

const keyEntrySchema = z.strictObject({
  format: z.literal(LOG_FORMAT),
  type: z.literal('key'),
  vkey: text.refine(isVkey, { error: 'must be a verifier key' }),
});

/** Later versions may add names of projections. */
const serviceEntrySchema = z.strictObject({
  format: z.literal(SECOND_FORMAT),
  type: z.literal('service'),
  projections: z.array(z.string().regex(/^[a-z][a-z-]{0,39}$/)).max(100),
  listSeconds: z.int().min(0),
});

/** One entry, by its `type`. */
export const logEntrySchema = z.discriminatedUnion('type', [
  marketEntrySchema,
  sourceEntrySchema,
  standingEntrySchema,
  observationEntrySchema,
  removalEntrySchema,
  resetEntrySchema,
  takedownEntrySchema,
  keyEntrySchema,
  serviceEntrySchema,
]);

export type LogEntry = z.infer<typeof logEntrySchema>;
export type MarketEntry = z.infer<typeof marketEntrySchema>;
export type SourceEntry = z.infer<typeof sourceEntrySchema>;
export type StandingEntry = z.infer<typeof standingEntrySchema>;
export type ObservationEntry = z.infer<typeof observationEntrySchema>;
export type RemovalEntry = z.infer<typeof removalEntrySchema>;
export type ServiceEntry = z.infer<typeof serviceEntrySchema>;
export type TakedownEntry = z.infer<typeof takedownEntrySchema>;

function isVkey(vkey: string): boolean {
  try {
    parseVkey(vkey);
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
  const written = canonicalJson(entry as Json);
  if (Buffer.byteLength(written) > ENTRY_BYTES_MAX) {
    throw new RangeError(`an entry of the log has at most ${ENTRY_BYTES_MAX} bytes`);
  }
  return written;
}

/**
 * The entry of an observation, from its stored form. Links to a later version are left out: they follow from the entry of
 * that version.
 *
 * @param revision the market's revision at which this version was recorded
 */
export function observationEntry(market: string, revision: number, observation: Observation): ObservationEntry {
  const entry = effectiveEntry(market, revision, observation);
  const { announced, publicReason } = observation;
  if (announced === undefined && publicReason === undefined) return entry;
  // Few observations have such a member, so sorting is cheap enough.
  return { ...entry, ...(announced && { announced }), ...(publicReason !== undefined && { publicReason }) };
}

function effectiveEntry(market: string, revision: number, observation: Observation): ObservationEntry {
  // Member by member: the ledger's internal members must not enter the log. In the order of canonical JSON, because
  // observations are the bulk of a log, and sorting takes several times as long.
  if (observation.kind === 'scalar') {
    return {
      confidence: observation.confidence,
      format: formatOf(observation),
      id: observation.id,
      kind: 'scalar',
      market,
      metric: observation.metric,
      observedAt: observation.observedAt,
      recordedAt: observation.recordedAt,
      releasedAt: observation.releasedAt,
      retraction: observation.retraction,
      revision,
      rounded: observation.rounded,
      sourceLabel: observation.sourceLabel,
      sourceUrl: observation.sourceUrl,
      sourceValue: observation.sourceValue,
      status: observation.status,
      supersedes: observation.supersedes,
      type: 'observation',
      unit: observation.unit,
      unknownReason: observation.unknownReason,
      value: observation.value,
    };
  }
  const { amountMinor, currency } = observation;
  const minorDigits = currencyExponent(currency);
  if (minorDigits === null) throw new RangeError(`not a currency with a minor unit: ${currency}`);
  return {
    amountMinor,
    confidence: observation.confidence,
    currency,
    format: formatOf(observation),
    id: observation.id,
    kind: 'money',
    market,
    metric: observation.metric,
    minorDigits,
    observedAt: observation.observedAt,
    recordedAt: observation.recordedAt,
    releasedAt: observation.releasedAt,
    retraction: observation.retraction,
    revision,
    rounded: observation.rounded,
    sourceLabel: observation.sourceLabel,
    sourceUrl: observation.sourceUrl,
    sourceValue: observation.sourceValue,
    status: observation.status,
    supersedes: observation.supersedes,
    type: 'observation',
    unknownReason: observation.unknownReason,
  };
}
