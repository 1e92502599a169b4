/** The public resources: market, collection, snapshot. */
import * as z from 'zod';
import { CURSOR_PATTERN, SLUG_MAX_LENGTH, SLUG_PATTERN } from './limits.ts';
import { currencyCodeSchema, instantSchema, metricNameSchema, metricSchema, sourceUrlSchema } from './metric.ts';

export const slugSchema = z
  .string()
  .max(SLUG_MAX_LENGTH)
  .regex(new RegExp(`^${SLUG_PATTERN}$`), { error: 'must be lower-case words joined by single hyphens' });

/** What one price buys, e.g. 1,000 EUR: large enough that minor units keep the price's precision. */
export const unitSchema = z.strictObject({
  quantity: z.int().min(1).max(1_000_000_000),
  of: z.string().trim().min(1).max(60),
});

/** Where a market's numbers come from. */
export const sourceSchema = z.strictObject({
  label: z.string().trim().min(1).max(200),
  url: sourceUrlSchema,
  publisher: z.string().trim().min(1).max(200).nullable(),
  /** SPDX identifier where there is one. */
  licence: z.string().trim().min(1).max(100).nullable(),
  attribution: z.string().trim().min(1).max(500).nullable(),
});

/** What an ingested `market` record says; everything else on a market is derived from its observations. */
export const marketDefinitionFields = {
  slug: slugSchema,
  name: z.string().trim().min(1).max(200),
  /** Kebab-case, e.g. `fx`, `metal`, `crypto`, `food`. */
  kind: z
    .string()
    .max(40)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  status: z.enum(['active', 'retired']),
  nativeCurrency: currencyCodeSchema,
  unit: unitSchema,
} as const;

/** What came of comparing a source with what we published. It says what the source says, not what is true. */
export const verificationOutcomeSchema = z.enum([
  'confirmed',
  'mismatch',
  'moved',
  'unreachable',
  'gone',
  'inconclusive',
]);

/** The latest verification of a source: when somebody retrieved it, and what came of it. */
export const sourceVerificationSchema = z.strictObject({
  outcome: verificationOutcomeSchema,
  verifiedAt: instantSchema,
  /** Whether one observation was compared, or the source as a whole. */
  subject: z.enum(['observation', 'source']),
});

/** `GET /api/v1/markets/:slug`; list items are the same object. */
export const marketSchema = z.strictObject({
  ...marketDefinitionFields,
  /** The newest observation of each metric. `price` is always present; null means that nobody has looked yet. */
  metrics: z.record(metricNameSchema, metricSchema.nullable()).refine((metrics) => 'price' in metrics),
  history: z.strictObject({
    count: z.int().min(0),
    firstObservedAt: instantSchema.nullable(),
    lastObservedAt: instantSchema.nullable(),
    href: z.string(),
  }),
  sources: z.array(sourceSchema.extend({ verification: sourceVerificationSchema.nullable() })),
  /** Whether any metric is disputed, by an accepted claim or because its source was found to say something else. */
  disputed: z.boolean(),
  /** Which ones, in order of their names. */
  disputedMetrics: z.array(metricNameSchema),
  /** The public name of who represents the market, where such a claim was accepted. */
  representedBy: z.string().nullable(),
  /** The clock of the market's data, not of its publication: the newest `observedAt`. */
  updatedAt: instantSchema.nullable(),
  /** Grows by one with every accepted record that touches the market. */
  revision: z.int().min(0),
});

export type Unit = z.infer<typeof unitSchema>;
export type SourceVerification = z.infer<typeof sourceVerificationSchema>;
export type Source = z.infer<typeof sourceSchema>;
export type Market = z.infer<typeof marketSchema>;

export const cursorSchema = z.string().regex(new RegExp(`^${CURSOR_PATTERN}$`));

/** A page of a collection: `data`, and the cursor of the next page or null at the end. */
export function collectionSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item),
    page: z.strictObject({ nextCursor: cursorSchema.nullable() }),
  });
}

/** `GET /api/v1/snapshot`: the only public body with a clock in it. */
export const snapshotSchema = z.strictObject({
  generation: z.int().min(1),
  publishedAt: instantSchema,
  counts: z.strictObject({
    markets: z.int().min(0),
    observations: z.int().min(0),
    /** Observations without a value, those that were corrected since included. */
    unknownValues: z.int().min(0),
  }),
  /** SHA-256 of the bytes of `GET /api/v1/markets`, in hex. */
  listDigest: z.string().regex(/^[0-9a-f]{64}$/),
});

export type Snapshot = z.infer<typeof snapshotSchema>;
