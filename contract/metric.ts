/** A metric: one observed number, money or scalar, that says where it came from. */
import * as z from 'zod';

/** RFC 3339 in UTC with `Z`, to the second or the millisecond. */
export const instantSchema = z.iso
  .datetime({ abort: true })
  .regex(/T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/, { error: 'must be RFC 3339 in UTC, to the second or the millisecond' });

/** The one spelling of an instant: without a fraction where it is zero, so that equal moments are equal text. */
export function canonicalInstant(instant: string): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z');
}

/** Absolute http(s) URL of at most 2,048 characters (RFC 3986, section 4.3), without user name or password. */
export const sourceUrlSchema = z
  .string()
  .max(2048)
  .refine(isAbsoluteHttpUrl, { error: 'must be an absolute http or https URL without user name or password' });

/** A decimal number as text, without exponent or leading plus: the source's own digits. */
export const decimalSchema = z
  .string()
  .max(64)
  .regex(/^-?\d+(\.\d+)?$/, { error: 'must be a plain decimal number' });

export const confidenceSchema = z.enum(['high', 'medium', 'low']);
export const metricStatusSchema = z.enum(['final', 'provisional', 'estimated', 'aggregate']);
export const unknownReasonSchema = z.enum([
  'not-published',
  'withheld',
  'not-applicable',
  'not-yet-published',
  'source-unreachable',
]);

/** Three upper-case letters; whether it is a currency, and when, is asked of `currencies.ts`. */
export const currencyCodeSchema = z.string().regex(/^[A-Z]{3}$/);

/** ECMAScript's safe integers: what every JSON reader can hold exactly (RFC 8259, section 6). */
export const amountMinorSchema = z.int();

/** The provenance of a metric. Present even when the value is null. */
export const provenanceFields = {
  sourceLabel: z.string().trim().min(1).max(200),
  sourceUrl: sourceUrlSchema,
  observedAt: instantSchema,
  confidence: confidenceSchema,
  status: metricStatusSchema,
  /** The source's own digits; null when the source gave none. */
  sourceValue: decimalSchema.nullable(),
  /** True when the value could not hold the source's digits exactly. */
  rounded: z.boolean(),
  /** Why the value is null; null exactly when the value is not. */
  unknownReason: unknownReasonSchema.nullable(),
} as const;

const moneyMetricFields = {
  kind: z.literal('money'),
  /** Minor units of `currency` (ISO 4217 exponent); null is unknown, never zero. */
  amountMinor: amountMinorSchema.nullable(),
  currency: currencyCodeSchema,
  ...provenanceFields,
} as const;

const scalarMetricFields = {
  kind: z.literal('scalar'),
  /** Null is unknown, never zero. */
  value: decimalSchema.nullable(),
  unit: z.string().min(1).max(60),
  ...provenanceFields,
} as const;

export const moneyMetricSchema = z.strictObject(moneyMetricFields);
export const scalarMetricSchema = z.strictObject(scalarMetricFields);

/** One observed number with its provenance, discriminated by `kind`. */
export const metricSchema = z
  .discriminatedUnion('kind', [moneyMetricSchema, scalarMetricSchema])
  .refine(hasReasonExactlyWhenUnknown, { error: 'unknownReason is set exactly when the value is null' });

export type MoneyMetric = z.infer<typeof moneyMetricSchema>;
export type ScalarMetric = z.infer<typeof scalarMetricSchema>;
export type Metric = MoneyMetric | ScalarMetric;

/** The name of a metric on a market: `price`, or another camelCase word. */
export const metricNameSchema = z
  .string()
  .regex(/^[a-z][a-zA-Z0-9]{0,39}$/)
  // Markets hold their metrics by name: one that every object inherits would be found where nobody has put it.
  .refine((name) => !(name in Object.prototype), { error: 'is a name that objects have already: choose another' });

const observationFields = {
  /** Stable: derived from market, metric, `observedAt`, source and the number of earlier versions. */
  id: z.string().regex(/^obs_[0-9a-f]{24}$/),
  metric: metricNameSchema,
  /** When the ledger took it in. */
  recordedAt: instantSchema,
  /** The observation that this one corrects. */
  supersedes: z.string().nullable(),
  /** The observation that corrects this one. */
  supersededBy: z.string().nullable(),
} as const;

/** One item of a history: a metric at a moment, and its place among corrections. */
export const observationSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...moneyMetricFields, ...observationFields }),
    z.strictObject({ ...scalarMetricFields, ...observationFields }),
  ])
  .refine(hasReasonExactlyWhenUnknown, { error: 'unknownReason is set exactly when the value is null' });

export type Observation = Metric & {
  id: string;
  metric: string;
  recordedAt: string;
  supersedes: string | null;
  supersededBy: string | null;
};

/** Whether a metric's value is unknown. */
export function isUnknown(metric: Metric): boolean {
  return (metric.kind === 'money' ? metric.amountMinor : metric.value) === null;
}

function hasReasonExactlyWhenUnknown(metric: Metric): boolean {
  return isUnknown(metric) === (metric.unknownReason !== null);
}

function isAbsoluteHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || /\s/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '';
}
