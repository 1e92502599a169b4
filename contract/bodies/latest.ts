/** The newest price of every market, one short line each, and the index of its parts. */
import * as z from 'zod';
import { LATEST_PART_MARKETS_MAX, LATEST_PART_PATTERN } from '../files/limits.ts';
import { marketSchema } from '../values/market.ts';
import {
  decimalSchema,
  instantSchema,
  metricNameSchema,
  observationFields,
  provenanceFields,
  unknownReasonSchema,
  valueFields,
} from '../values/metric.ts';
import { NOT_OBSERVED } from '../values/metric-words.ts';

const { sourceLabel, observedAt, releasedAt, confidence, status, unknownReason, rounded, sourceValue } =
  provenanceFields;
const { recordedAt } = observationFields;
const { slug, name, kind, nativeCurrency, unit, updatedAt } = marketSchema.shape;

/** As short as possible: a market may have many of these. */
const latestMetricSchema = z.strictObject({
  decimal: decimalSchema
    .nullable()
    .describe('The value, exactly: of money, in major units for `quantity` of the market. Null: unknown.'),
  decimalPerUnit: decimalSchema
    .nullable()
    .exactOptional()
    .describe('`decimal` ÷ `quantity`, exactly. Null: unknown, or its decimals do not end. Left out: it is not money.'),
  unit: valueFields.unit.describe('The currency of money, or the thing that a number counts.'),
  observedAt: observedAt.describe('The moment of the value.'),
  unknownReason: unknownReason.unwrap().exactOptional().describe('Why the value is null. Left out: it is known.'),
  disputed: z.literal(true).exactOptional().describe('Left out: the metric is not disputed.'),
  rounded: z.literal(true).exactOptional().describe('Left out: the value is exact.'),
});

export const fileGenerationSchema = z
  .int()
  .min(1)
  .exactOptional()
  .describe('The generation that changed this file last. Left out: an earlier version wrote it.');

export const latestEntrySchema = z.strictObject({
  slug,
  name,
  decimal: z.string().nullable().describe('The price in major units, exactly. Null: unknown, or never observed.'),
  quantity: unit.shape.quantity,
  unit: unit.shape.of,
  currency: nativeCurrency,
  observedAt: observedAt.nullable().describe('The moment of the price. Null: there is no observation.'),
  releasedAt,
  updatedAt,
  source: sourceLabel
    .nullable()
    .describe('The source of the price; without a price, of the newest other value. Null: there is no observation.'),
  status: status
    .nullable()
    .describe('`final`, `provisional`, `estimated` or `aggregate`. Null: there is no observation.'),
  unknownReason: z
    .enum([...unknownReasonSchema.options, NOT_OBSERVED])
    .nullable()
    .describe(
      'Why `decimal` is null. `not-observed`: no price was ever recorded, so it has no moment either; `metrics` has the values ' +
        'that the market has. Null: the price is known, or an earlier version wrote the row.',
    ),
  recordedAt: recordedAt
    .nullable()
    .describe(
      'When the service took in the price. Null: there is no observation, or 256 newer rows of the history hide it.',
    ),
  kind,
  decimalPerUnit: z
    .string()
    .nullable()
    .describe('`decimal` ÷ `quantity`, exactly. Null: unknown, or its decimals do not end.'),
  confidence: confidence.nullable().describe('`high`, `medium` or `low`. Null: there is no observation.'),
  disputed: z.boolean().describe('Whether the price is disputed.'),
  retired: z.boolean().describe('Whether the market is retired: no new price is expected.'),
  expectedNextAt: instantSchema
    .nullable()
    .describe(
      'When the next value of `source` is expected. Null: its cadence is not stated, there is no observation, or the ' +
        'market is retired.',
    ),
  graceSeconds: z
    .int()
    .nullable()
    .describe('The value is late when it has not come for this long after `expectedNextAt`. Null where that is null.'),
  rounded: rounded
    .nullable()
    .describe("True if `decimal` could not hold the source's digits exactly. Null: there is no observation."),
  sourceValue: sourceValue.describe("The source's own digits. Null: it gave none, or there is no observation."),
  metrics: z
    .record(metricNameSchema, latestMetricSchema)
    .exactOptional()
    .describe(
      'The newest value of each metric besides `price`, by name. The CSV file has only their names. Left out: none.',
    ),
  generation: fileGenerationSchema,
});

const PARTS_MAX = 4096;

const latestFileSchema = z.strictObject({
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('The SHA-256 of the file, in hexadecimal digits. A file that was published meanwhile has another one.'),
  generation: z.int().min(1).describe('The generation that changed the file last.'),
  path: z.string().describe('The URL of the file, relative to that of the index.'),
});

export const latestPartSchema = z.strictObject({
  csv: latestFileSchema.describe('Its rows as CSV.'),
  markets: z.int().min(1).max(LATEST_PART_MARKETS_MAX).describe('The number of markets in it.'),
  ndjson: latestFileSchema.describe('Its rows as JSON lines, with the metrics besides the price.'),
  part: z
    .string()
    .max(3)
    .regex(new RegExp(`^(${LATEST_PART_PATTERN})$`))
    .describe(
      '`all`, or the first hexadecimal digits of the SHA-256 of the slugs in it. So a market that comes or goes changes no ' +
        'other part.',
    ),
});

/** `GET /api/v1/latest`. */
export const latestSchema = z.strictObject({
  data: z.array(latestPartSchema).max(PARTS_MAX).describe('The parts, by name. Each market is in one of them.'),
  generation: fileGenerationSchema,
});

export type LatestPart = z.infer<typeof latestPartSchema>;
