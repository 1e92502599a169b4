/** A metric: one observed number, money or scalar, with its provenance. */
import * as z from 'zod';
import { QUANTITY_MAX } from '../files/limits.ts';
import { millisecondInstant } from './instants.ts';
import { INTERNAL_FIELDS, neverPublicIn, publicTextSchema } from './public-text.ts';

/** Clients in Python write `+00:00`. It becomes `Z` here, so that other code sees only one spelling. */
export const instantSchema = z.iso
  .datetime({ offset: true, abort: true })
  .regex(/T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|\+00:00)$/, {
    error: 'must be RFC 3339 in UTC, to the second or the millisecond',
  })
  .overwrite((text) => text.replace('+00:00', 'Z'))
  .describe(
    'RFC 3339 in UTC, to the second or the millisecond. Answers have `Z`; a request may have `+00:00` instead.',
  );

/** The only spelling of an instant: a zero fraction is left out, so that equal moments are equal texts. */
export function canonicalInstant(instant: string): string {
  return millisecondInstant(instant).replace('.000Z', 'Z');
}

/** A URL of the form that {@link sourceUrlSchema} requires, but perhaps with parts that must not become public. */
export const absoluteUrlSchema = z
  .string()
  .max(2048, { error: 'must have at most 2,048 characters', abort: true })
  .regex(/^([A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/, {
    error: 'must be a URL with characters of RFC 3986 only: percent-encode all others',
    abort: true,
  })
  .refine(isAbsoluteHttpUrl, {
    error: 'must be an absolute http or https URL without user name or password',
    // A password before the host looks like an e-mail address.
    abort: true,
  });

/**
 * Absolute http(s) URL of at most 2,048 characters (RFC 3986, section 4.3), without user name or password, and without
 * parts that must not become public. Only characters that the RFC allows (section 2): no spaces, double quotes, angle
 * brackets or backslashes.
 */
export const sourceUrlSchema = absoluteUrlSchema.refine((url) => neverPublicIn(url) === null, {
  error: ({ input }) => `becomes public: leave out ${neverPublicIn(String(input))}`,
});

/** A decimal number as text, without an exponent or a leading plus: the source's exact digits. */
export const decimalSchema = z
  .string()
  .max(64)
  .regex(/^-?\d+(\.\d+)?$/, { error: 'must be a plain decimal number' });

/** Like {@link decimalSchema}, but an exponent is allowed, because programs write small numbers like this: `1.6e-05`. */
export const sourceDigitsSchema = z
  .string()
  .max(64)
  .regex(/^-?\d+(\.\d+)?([eE][-+]?\d{1,3})?$/, { error: 'must be a decimal number, such as 61.17 or 1.6e-05' });

export const confidenceSchema = z
  .enum(['high', 'medium', 'low'])
  .describe('How far the sender of the number trusts it. No rule decides it.');
export const metricStatusSchema = z
  .enum(['final', 'provisional', 'estimated', 'aggregate'])
  .describe(
    '`final`; `provisional`: the source may still revise it; `estimated`: the source did not measure it; ' +
      '`aggregate`: made from several numbers, such as an average.',
  );
export const unknownReasonSchema = z.enum([
  'not-published',
  'withheld',
  'not-applicable',
  'not-yet-published',
  'source-unreachable',
  'no-longer-listed',
]);

export const retractionKindSchema = z
  .enum(['mistake', 'withdrawn'])
  .describe(
    '`mistake`: the observation should never have been recorded, so the market shows the value before it again; ' +
      '`withdrawn`: the source took the value back, so the market shows it as unknown.',
  );
export type RetractionKind = z.infer<typeof retractionKindSchema>;

/** The public reason for a correction or a retraction, in records, in public bodies and in the log. */
export const publicReasonSchema = publicTextSchema(280);

/** Why the value of a retraction is null. */
export const RETRACTED = { mistake: 'not-applicable', withdrawn: 'withheld' } as const;

/** Checks only the form. `currencies.ts` knows the codes and the times of their validity. */
export const currencyCodeSchema = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe('ISO 4217 code of a currency that has a minor unit, e.g. `USD`.');

/** ECMAScript's safe integers, which every JSON reader holds exactly (RFC 8259, section 6). */
export const amountMinorSchema = z.int();

/** The fields of a value, in metrics and in ingest records. */
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

/** An amount of money as the source's decimal, which may be sent instead of minor units. */
export const sourceDecimalSchema = sourceDigitsSchema
  .nullable()
  .describe("The source's decimal, in major units: 61.17 USD is `61.17`, or `6.117e1`. Null is unknown, never zero.");

export const quotedQuantitySchema = z
  .int()
  .min(1)
  .max(QUANTITY_MAX)
  .describe(
    "How many of the market's `unit.of` the source's decimal buys. Without it, a `sourceValue` may be for one or for " +
      "the market's `unit.quantity`. A `value` needs it, unless that quantity is 1.",
  );

/** The provenance of a metric. It is present even if the value is null. */
export const provenanceFields = {
  sourceLabel: publicTextSchema(200).describe(
    "The name of the source: the `label` of one of the market's sources, if the market lists them.",
  ),
  sourceUrl: sourceUrlSchema.describe(
    'The page or file from which the number was read: absolute http or https. Every character that RFC 3986 does ' +
      'not allow is percent-encoded. It is part of the identity of an observation, character by character: a correction ' +
      'must have the same one. So it must not hold anything that changes between two versions of a file.',
  ),
  observedAt: instantSchema.describe('The moment that the source gives for the value. Not the time of retrieval.'),
  releasedAt: instantSchema
    .nullable()
    .describe(
      'When the source published the value. Null: not known; the service never guesses it. It may be before ' +
        '`observedAt`: some prices are announced ahead.',
    ),
  confidence: confidenceSchema,
  status: metricStatusSchema,
  sourceValue: sourceDigitsSchema
    .nullable()
    .describe(
      "The source's own digits, and its exponent if it wrote one (`1.6e-05`). Null: the source gave no digits.",
    ),
  rounded: z.boolean().describe("True if the value could not hold the source's digits exactly."),
  unknownReason: unknownReasonSchema
    .nullable()
    .describe('Why the value is null. Null exactly when the value is not null.'),
} as const;

/** Rendered with each amount, but not stored. */
const moneyTextFields = {
  minorDigits: z.int().min(0).max(4).describe('The decimals of the currency by ISO 4217: JPY 0, HUF 2, KWD 3.'),
  decimal: decimalSchema
    .nullable()
    .describe(
      "The amount in major units, for the market's `unit.quantity`: `amountMinor` ÷ 10^`minorDigits`, exactly.",
    ),
  decimalPerUnit: decimalSchema
    .nullable()
    .describe('`decimal` ÷ `unit.quantity`, exactly. Null if the value is unknown, or if its decimals do not end.'),
} as const;

const moneyMetricFields = {
  kind: z.literal('money'),
  amountMinor: valueFields.amountMinor,
  currency: valueFields.currency,
  ...moneyTextFields,
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

/** The stored form. The public form also has the texts of its amount. */
export type MoneyMetric = Omit<z.infer<typeof moneyMetricSchema>, keyof typeof moneyTextFields>;
export type ScalarMetric = z.infer<typeof scalarMetricSchema>;
export type Metric = MoneyMetric | ScalarMetric;
export type PublicMetric = z.infer<typeof metricSchema>;

export const metricNameSchema = z
  .string()
  .regex(/^[a-z][a-zA-Z0-9]{0,39}$/)
  // Markets hold their metrics by name. A name that every object inherits would seem to be set.
  .refine((name) => !(name in Object.prototype), { error: 'is a name that every object has already: choose another' })
  // `verify` searches public bodies for these names, at any place.
  .refine((name) => !INTERNAL_FIELDS.some((internal) => internal === name), {
    error: 'is the name of a field that must not become public: choose another',
  })
  .describe('The name of a metric on its market: `price`, or another camelCase word.');

export const observationFields = {
  announced: z
    .literal(true)
    .exactOptional()
    .describe(
      'The moment of the value had not come when the service recorded this version, so the market shows it under `announced`. At ' +
        'its moment the service records a further version, which supersedes this one and has no `announced`. Left out: ' +
        'the value is effective.',
    ),
  id: z
    .string()
    .regex(/^obs_[0-9a-f]{24}$/)
    .describe('Stable: derived from market, metric, `observedAt`, `sourceUrl` and the number of earlier versions.'),
  metric: metricNameSchema,
  publicReason: publicReasonSchema
    .exactOptional()
    .describe(
      'Why this version corrects or takes back the one before it, in the words of its sender. Left out: no reason was given.',
    ),
  recordedAt: instantSchema.describe('When the service took it in. In one market it never goes backwards.'),
  retraction: retractionKindSchema
    .nullable()
    .describe(
      'Set if this version takes the value of the one before it back: its value is null, with the reason ' +
        '`not-applicable` for a `mistake` and `withheld` for `withdrawn`. Null: it does not, or no kind was given ' +
        '(then it reads like `withdrawn`).',
    ),
  supersededAt: instantSchema
    .nullable()
    .describe(
      'When a correction or a retraction replaced it: the `recordedAt` of that one. Null: it stands. An observation ' +
        'was visible at a moment T if `recordedAt` ≤ T, and `supersededAt` is null or > T.',
    ),
  supersedes: z
    .string()
    .nullable()
    .describe('The id of the observation that this one corrects. Null: it corrects nothing.'),
  supersededBy: z
    .string()
    .nullable()
    .describe('The id of the observation that corrects this one. Null: this is the newest version.'),
} as const;

/** One item of a history: a metric at a moment, and its place in a chain of corrections. */
export const observationSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...moneyMetricFields, ...observationFields }).meta({ title: 'Money' }),
    z.strictObject({ ...scalarMetricFields, ...observationFields }).meta({ title: 'Scalar' }),
  ])
  .refine(hasReasonExactlyWhenUnknown, { error: 'unknownReason is set exactly when the value is null' })
  .refine(({ retraction, unknownReason }) => retraction === null || unknownReason === RETRACTED[retraction], {
    error: 'a retraction takes the value away, for the reason of its kind',
  });

export type PublicObservation = z.infer<typeof observationSchema>;

/** The stored form: see {@link MoneyMetric}. */
export type Observation = Metric & {
  announced?: true;
  id: string;
  metric: string;
  publicReason?: string;
  recordedAt: string;
  retraction: RetractionKind | null;
  supersededAt: string | null;
  supersedes: string | null;
  supersededBy: string | null;
};

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
