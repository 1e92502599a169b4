/** The public resources: market, collection, snapshot. */
import * as z from 'zod';
import { CURSOR_PATTERN, SLUG_MAX_LENGTH, SLUG_PATTERN } from './limits.ts';
import { currencyCodeSchema, instantSchema, metricNameSchema, metricSchema, sourceUrlSchema } from './metric.ts';
import { publicTextSchema } from './public-text.ts';

export const slugSchema = z
  .string()
  .max(SLUG_MAX_LENGTH)
  .regex(new RegExp(`^${SLUG_PATTERN}$`), { error: 'must be lower-case words joined by single hyphens' })
  .describe('What a market is called in URLs: lower-case words joined by single hyphens.');

export const unitSchema = z
  .strictObject({
    quantity: z.int().min(1).max(1_000_000_000).describe('How many of `of` one price buys.'),
    of: publicTextSchema(60).describe('What is bought, in the singular, e.g. `troy ounce` or `EUR`.'),
  })
  .describe("What one price buys, e.g. 1,000 EUR: large enough that minor units keep the price's precision.");

/** Where a market's numbers come from. */
export const sourceSchema = z.strictObject({
  label: publicTextSchema(200).describe('By this, as `sourceLabel`, observations name their source.'),
  url: sourceUrlSchema.describe('Where the source as a whole is described or found: absolute http or https.'),
  publisher: publicTextSchema(200).nullable().describe('Who publishes the source; null: not stated.'),
  licence: publicTextSchema(100)
    .nullable()
    .describe('The licence of the data, as its SPDX identifier where there is one; null: not stated.'),
  attribution: publicTextSchema(500)
    .nullable()
    .describe('What to show with the data, where the source asks for it; null: nothing.'),
});

/** What an ingested `market` record says; everything else on a market is derived from its observations. */
export const marketDefinitionFields = {
  slug: slugSchema,
  name: publicTextSchema(200),
  kind: z
    .string()
    .max(40)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    .describe('What sort of market it is, in kebab-case, e.g. `fx`, `metal`, `crypto`, `food`.'),
  status: z
    .enum(['active', 'retired'])
    .describe('`retired`: no new observations are to be expected; what is known stays.'),
  nativeCurrency: currencyCodeSchema.describe('ISO 4217 code of the currency of every `price` of the market.'),
  unit: unitSchema,
} as const;

export const verificationOutcomeSchema = z
  .enum(['confirmed', 'mismatch', 'moved', 'unreachable', 'gone', 'inconclusive'])
  .describe(
    'What the source says, which need not be true. `confirmed`: what is published; `mismatch`: something else; `moved`: it ' +
      'is at another URL; `unreachable`: it did not answer; `gone`: it is not there any more; `inconclusive`: none of these.',
  );

/** The latest verification of a source: when somebody retrieved it, and what came of it. */
export const sourceVerificationSchema = z.strictObject({
  outcome: verificationOutcomeSchema,
  verifiedAt: instantSchema.describe('When somebody retrieved the source.'),
  subject: z
    .enum(['observation', 'source'])
    .describe('Whether one observation was compared, or the source as a whole.'),
});

/** `GET /api/v1/markets/:slug`; list items are the same object. */
export const marketSchema = z.strictObject({
  ...marketDefinitionFields,
  metrics: z
    .record(metricNameSchema, metricSchema.nullable())
    .refine((metrics) => 'price' in metrics)
    .meta({
      description:
        'The newest observation of each metric, by its name. `price` is always there; null means that nobody has looked yet.',
      properties: {
        price: {
          description: 'Money in `nativeCurrency`, for one `unit`.',
          anyOf: [{ $ref: '#/$defs/Metric' }, { type: 'null' }],
        },
      },
      required: ['price'],
    }),
  history: z
    .strictObject({
      count: z.int().min(0).describe('Observations of all metrics, those that were corrected since included.'),
      firstObservedAt: instantSchema.nullable().describe('The oldest `observedAt`; null while there is none.'),
      lastObservedAt: instantSchema.nullable().describe('The newest `observedAt`; null while there is none.'),
      href: z.string().describe('The path of the first page, from the root of the host.'),
    })
    .describe('What `GET /api/v1/markets/{slug}/history` holds.'),
  sources: z
    .array(
      sourceSchema.extend({
        verification: sourceVerificationSchema
          .nullable()
          .describe('The latest verification by `verifiedAt`; null: nobody has verified the source.'),
      }),
    )
    .describe("Where the market's numbers come from."),
  disputed: z
    .boolean()
    .describe(
      'Whether any metric is disputed, by an accepted claim or because its source was found to say something else.',
    ),
  disputedMetrics: z.array(metricNameSchema).describe('The names of the disputed metrics, in order.'),
  representedBy: publicTextSchema(200)
    .nullable()
    .describe('The public name of who represents the market, by an accepted claim; null: nobody.'),
  updatedAt: instantSchema
    .nullable()
    .describe(
      "The newest `observedAt`: the clock of the market's data, not of its publication. Null without observations.",
    ),
  revision: z.int().min(0).describe('Grows with every change of the market or of its observations.'),
});

export type Unit = z.infer<typeof unitSchema>;
export type SourceVerification = z.infer<typeof sourceVerificationSchema>;
export type Source = z.infer<typeof sourceSchema>;
export type Market = z.infer<typeof marketSchema>;

/** What the cursor of the next page is, in every listing. */
export const NEXT_CURSOR = 'Opaque: pass it as `cursor` for the next page. Null: this is the last one.';

export const cursorSchema = z.string().regex(new RegExp(`^${CURSOR_PATTERN}$`));

/** A page of a collection: `data`, and the cursor of the next page. */
export function collectionSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item),
    page: z.strictObject({ nextCursor: cursorSchema.nullable().describe(NEXT_CURSOR) }),
  });
}

/** `GET /api/v1/snapshot`: the only public body with a clock in it. */
export const snapshotSchema = z.strictObject({
  generation: z.int().min(1).describe('The number of the publication; a later one has a greater number.'),
  publishedAt: instantSchema,
  counts: z
    .strictObject({
      markets: z.int().min(0).describe('All that are listed, retired ones too.'),
      observations: z.int().min(0).describe('Of all markets, those that were corrected since included.'),
      unknownValues: z.int().min(0).describe('Observations without a value, those that were corrected since included.'),
    })
    .describe('What is published in this generation.'),
  listDigest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the bytes of the first page of `GET /api/v1/markets`, in hex.'),
  listGeneration: z
    .int()
    .min(1)
    .describe(
      'The newest generation whose markets the list shows as they are. A long list is published less often than its markets.',
    ),
});

export type Snapshot = z.infer<typeof snapshotSchema>;
