/** A metric: one observed number, money or scalar, that says where it came from. */
import * as z from 'zod';
import { millisecondInstant } from './instants.ts';
import { INTERNAL_FIELDS, neverPublicIn, publicTextSchema } from './public-text.ts';

export const instantSchema = z.iso
  .datetime({ abort: true })
  .regex(/T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/, { error: 'must be RFC 3339 in UTC, to the second or the millisecond' })
  .describe('RFC 3339 in UTC with `Z`, to the second or the millisecond.');

/** The one spelling of an instant: without a fraction where it is zero, so that equal moments are equal text. */
export function canonicalInstant(instant: string): string {
  return millisecondInstant(instant).replace('.000Z', 'Z');
}

/**
 * Absolute http(s) URL of at most 2,048 characters (RFC 3986, section 4.3), without user name or password. Of the
 * characters of that standard alone (section 2), which are no spaces, double quotes, angle brackets or backslashes.
 */
export const sourceUrlSchema = z
  .string()
  .max(2048, { error: 'must have at most 2,048 characters' })
  .regex(/^([A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/, {
    error: 'must be a URL of the characters of RFC 3986: percent-encode all others',
    abort: true,
  })
  .refine(isAbsoluteHttpUrl, { error: 'must be an absolute http or https URL without user name or password' })
  .refine((url) => neverPublicIn(url) === null && neverPublicIn(url.replaceAll('%40', '@')) === null, {
    error: 'becomes public: must not hold an e-mail address, an API key or a token',
  });

/** A decimal number as text, without exponent or leading plus: the source's own digits. */
export const decimalSchema = z
  .string()
  .max(64)
  .regex(/^-?\d+(\.\d+)?$/, { error: 'must be a plain decimal number' });

export const confidenceSchema = z
  .enum(['high', 'medium', 'low'])
  .describe('How far whoever sent the number trusts it; no rule decides it.');
export const metricStatusSchema = z
  .enum(['final', 'provisional', 'estimated', 'aggregate'])
  .describe(
    '`final`; `provisional`: the source may still revise it; `estimated`: the source did not measure it; `aggregate`: made ' +
      'from several numbers, as an average is.',
  );
export const unknownReasonSchema = z.enum([
  'not-published',
  'withheld',
  'not-applicable',
  'not-yet-published',
  'source-unreachable',
]);

/** The shape alone; whether it is a currency, and when, is asked of `currencies.ts`. */
export const currencyCodeSchema = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe('ISO 4217 code of a currency that has a minor unit, e.g. `USD`.');

/** ECMAScript's safe integers: what every JSON reader can hold exactly (RFC 8259, section 6). */
export const amountMinorSchema = z.int();

/** What a number is, where its metric or the record that brings it says so. */
export const valueFields = {
  amountMinor: amountMinorSchema
    .nullable()
    .describe('Minor units of `currency` by its ISO 4217 exponent: 61.17 USD is 6117. Null is unknown, never zero.'),
  currency: currencyCodeSchema,
  value: decimalSchema
    .nullable()
    .describe('Plain decimal text, without exponent or leading plus. Null is unknown, never zero.'),
  unit: publicTextSchema(60).describe('What `value` counts, e.g. `percent`.'),
} as const;

/** The provenance of a metric. Present even when the value is null. */
export const provenanceFields = {
  sourceLabel: publicTextSchema(200).describe(
    'What the source is called: `label` of one of the sources of the market, where it lists them.',
  ),
  sourceUrl: sourceUrlSchema.describe(
    'The page or file from which the number was read: absolute http or https, all but the characters of RFC 3986 ' +
      'percent-encoded.',
  ),
  observedAt: instantSchema.describe('The moment of which the source says this. Not when it was retrieved.'),
  confidence: confidenceSchema,
  status: metricStatusSchema,
  sourceValue: decimalSchema.nullable().describe("The source's own digits; null when the source gave none."),
  rounded: z.boolean().describe("True when the value could not hold the source's digits exactly."),
  unknownReason: unknownReasonSchema.nullable().describe('Why the value is null; null exactly when the value is not.'),
} as const;

const moneyMetricFields = {
  kind: z.literal('money'),
  amountMinor: valueFields.amountMinor,
  currency: valueFields.currency,
  ...provenanceFields,
} as const;

const scalarMetricFields = {
  kind: z.literal('scalar'),
  value: valueFields.value,
  unit: valueFields.unit,
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

export const metricNameSchema = z
  .string()
  .regex(/^[a-z][a-zA-Z0-9]{0,39}$/)
  // Markets hold their metrics by name: one that every object inherits would be found where nobody has put it.
  .refine((name) => !(name in Object.prototype), { error: 'is a name that objects have already: choose another' })
  // Public bodies are searched for these names, whatever they stand for there.
  .refine((name) => !INTERNAL_FIELDS.some((internal) => internal === name), {
    error: 'is the name of a field that must not become public: choose another',
  })
  .describe('The name of a metric on its market: `price`, or another camelCase word.');

const observationFields = {
  id: z
    .string()
    .regex(/^obs_[0-9a-f]{24}$/)
    .describe('Stable: derived from market, metric, `observedAt`, `sourceUrl` and the number of earlier versions.'),
  metric: metricNameSchema,
  recordedAt: instantSchema.describe('When it was taken in here.'),
  supersedes: z.string().nullable().describe('The id of the observation that this one corrects; null: none.'),
  supersededBy: z
    .string()
    .nullable()
    .describe('The id of the observation that corrects this one; null: this is the newest version.'),
} as const;

/** One item of a history: a metric at a moment, and its place among corrections. */
export const observationSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...moneyMetricFields, ...observationFields }).meta({ title: 'Money' }),
    z.strictObject({ ...scalarMetricFields, ...observationFields }).meta({ title: 'Scalar' }),
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
  if (!/^https?:\/\//i.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '';
}
