/** The public resources: market, collection, snapshot. */
import * as z from 'zod';
import {
  BY_SOURCE_MAX,
  CURSOR_PATTERN,
  MARKET_ATTRIBUTES_MAX,
  MARKET_METRICS_MAX,
  MARKET_SOURCES_MAX,
  QUANTITY_MAX,
  SLUG_MAX_LENGTH,
  SLUG_PATTERN,
} from '../files/limits.ts';
import { PROJECTIONS, projectionOf } from '../files/projections.ts';
import { cadenceSchema } from '../freshness/cadence.ts';
import { currencyCodeSchema, instantSchema, metricNameSchema, metricSchema, sourceUrlSchema } from './metric.ts';
import { publicTextSchema } from './public-text.ts';

export const slugSchema = z
  .string()
  .max(SLUG_MAX_LENGTH)
  .regex(new RegExp(`^${SLUG_PATTERN}$`), { error: 'must be lower-case words joined by single hyphens' })
  .describe('The name of the market in URLs: lower-case words joined by single hyphens.');

const unitSchema = z
  .strictObject({
    quantity: z.int().min(1).max(QUANTITY_MAX).describe('How many of `of` one price buys.'),
    of: publicTextSchema(60).describe('The thing that is bought, in the singular, e.g. `troy ounce` or `EUR`.'),
  })
  .describe(
    "The quantity that one price buys, e.g. 1,000 EUR. It is large enough that minor units keep the price's precision.",
  );

/** The source of a market's numbers. */
export const sourceSchema = z.strictObject({
  label: publicTextSchema(200).describe('The name of the source. Observations refer to it as `sourceLabel`.'),
  url: sourceUrlSchema.describe('A page that describes or holds the whole source: absolute http or https.'),
  publisher: publicTextSchema(200).nullable().describe('The publisher of the source. Null: not stated.'),
  licence: publicTextSchema(100)
    .nullable()
    .describe('The licence of the data, as an SPDX identifier if it has one. Null: not stated.'),
  attribution: publicTextSchema(500)
    .nullable()
    .describe('The text that must be shown with the data, if the source asks for one. Null: no text.'),
  cadence: cadenceSchema
    .nullable()
    .exactOptional()
    .describe('How often the source publishes. Null, or left out: not stated.'),
});

/** The most neighbours that a rule may use: more would need more reads. */
export const OUTLIER_NEIGHBOURS_MAX = 100;

const OUTLIERS =
  "The market's own rule for values that are far from others. `off`: none is refused. Or: of each metric, the `neighbours` " +
  'nearest known values in time are taken, up to 400 days away and without zeros. A value is refused if it is further from ' +
  'their median than `factor` times the median of their absolute values. An amount of money may always be ' +
  '`factor` × 100 minor units away.';

export const OUTLIERS_REASON_MAX = 500;

/** The rule by which a value far from its neighbours in time waits for an operator's confirmation. */
export const outlierRuleSchema = z
  .union([
    z.literal('off'),
    z.strictObject({
      factor: z.number().min(1).max(1_000_000).describe('How many times their usual size a value may be away.'),
      neighbours: z.int().min(1).max(OUTLIER_NEIGHBOURS_MAX).describe('How many values it is compared with.'),
    }),
  ])
  .describe(OUTLIERS);

/** A fact that is not a number, such as the mode of a language model, with its origin. */
const attributeSchema = z.strictObject({
  value: publicTextSchema(200).describe("The source's own text."),
  sourceLabel: publicTextSchema(200).describe('The name of the source.'),
  sourceUrl: sourceUrlSchema.describe('The page or file from which the text was read: absolute http or https.'),
  observedAt: instantSchema.describe('Since when the source is known to say it.'),
});

export const attributesSchema = z
  .record(metricNameSchema.describe('The name of the fact: a camelCase word.'), attributeSchema)
  .refine((attributes) => Object.keys(attributes).length <= MARKET_ATTRIBUTES_MAX, {
    error: `a market has at most ${MARKET_ATTRIBUTES_MAX} attributes`,
  })
  .meta({ maxProperties: MARKET_ATTRIBUTES_MAX });

/** The fields of an ingested `market` record. All other fields of a market follow from its observations. */
export const marketDefinitionFields = {
  slug: slugSchema,
  name: publicTextSchema(200),
  kind: z
    .string()
    .max(40)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, { error: 'must be lower-case words joined by single hyphens, e.g. fx' })
    .describe('The kind of market, in kebab-case, e.g. `fx`, `metal`, `crypto`, `food`.'),
  status: z.enum(['active', 'retired']).describe('`retired`: no new observations are expected; the known ones stay.'),
  nativeCurrency: currencyCodeSchema.describe('ISO 4217 code of the currency of every `price` of the market.'),
  unit: unitSchema,
} as const;

export const verificationOutcomeSchema = z
  .enum(['confirmed', 'mismatch', 'moved', 'unreachable', 'gone', 'inconclusive'])
  .describe(
    'The result of comparing the source with the published value. It says what the source says, which need not be ' +
      'true. `confirmed`: the same; `mismatch`: something else; `moved`: the data is at another URL; `unreachable`: ' +
      'the source did not answer; `gone`: the data is no longer there; `inconclusive`: no result.',
  );

/** The latest verification of a source: its time and its outcome. */
const sourceVerificationSchema = z.strictObject({
  outcome: verificationOutcomeSchema,
  verifiedAt: instantSchema.describe('When the source was retrieved.'),
  subject: z.enum(['observation', 'source']).describe('Whether one observation was compared, or the whole source.'),
});

/** `GET /api/v1/markets/:slug`. An item of the list is the same object. */
export const marketSchema = z.strictObject({
  ...marketDefinitionFields,
  outliers: outlierRuleSchema
    .exactOptional()
    .describe(`${OUTLIERS} Left out: the service's own rule holds. A value that an earlier rule has let in stays.`),
  outliersReason: publicTextSchema(OUTLIERS_REASON_MAX)
    .exactOptional()
    .describe('Why the market has its own rule `outliers`, in the words of who set it. Left out: not stated.'),
  attributes: attributesSchema
    .exactOptional()
    .describe(
      'Facts that are not numbers, by name, such as `mode` and `deprecationDate`, each with its source. A change is a new revision ' +
        'of the market; the log has the earlier texts. Left out: none.',
    ),
  metrics: z
    .record(metricNameSchema, metricSchema.nullable())
    .refine((metrics) => 'price' in metrics)
    .meta({
      description:
        'The newest effective observation of each metric that stands, by name. A retraction of the kind `mistake` is skipped. ' +
        '`price` is always there: money in `nativeCurrency`, for one `unit`. Null means that it was never observed. If ' +
        'several sources have the same newest `observedAt`, the one is shown whose `sourceUrl` has the greatest ' +
        'SHA-256 in hex: the order of arrival does not decide. `bySource` has the others.',
      // Without `properties`: a client for Go would not compile for a map with named members and values that may be null.
      required: ['price'],
    }),
  announced: z
    .record(metricNameSchema, metricSchema)
    .exactOptional()
    .describe(
      'Of each metric that has announced values, the one whose `observedAt` comes first: it is not effective yet. If its ' +
        'moment has come by your own clock, you may take it for the newest value: the service records that within a minute. ' +
        'The history has all of them. Left out: none.',
    ),
  bySource: z
    .record(metricNameSchema, z.array(metricSchema).min(2).max(BY_SOURCE_MAX))
    .describe(
      'Each metric that has standing observations of several sources: the newest one of each source, unblended. A ' +
        'source is a `sourceLabel`. Newest first, by the rule of `metrics`, so the first is the one that `metrics` ' +
        `shows. At most the ${BY_SOURCE_MAX} newest sources. A metric of one source is left out.`,
    ),
  history: z
    .strictObject({
      count: z.int().min(0).describe('Observations of all metrics, superseded ones included.'),
      firstObservedAt: instantSchema.nullable().describe('The oldest `observedAt`. Null: no observation.'),
      lastObservedAt: instantSchema.nullable().describe('The newest `observedAt`. Null: no observation.'),
      href: z.string().describe('The path of the first page, from the root of the host.'),
    })
    .describe('The contents of `GET /api/v1/markets/{slug}/history`.'),
  sources: z
    .array(
      sourceSchema.extend({
        cadence: cadenceSchema.nullable().describe('How often the source publishes. Null: not stated.'),
        expectedNextAt: instantSchema
          .nullable()
          .describe(
            'When the value after the newest one is expected, by `cadence`. The newest one is the latest `observedAt` ' +
              'in `metrics` and `bySource` with the `label` of this source. If the value has not come `graceSeconds` ' +
              'after this time, it is late: compare with your own clock. Null: the cadence is not stated, no value of ' +
              'the source is shown, or the market is retired.',
          ),
        verification: sourceVerificationSchema
          .nullable()
          .describe('The latest verification by `verifiedAt`. Null: the source was never verified.'),
      }),
    )
    .meta({ maxItems: MARKET_SOURCES_MAX })
    .describe("Where the market's numbers come from."),
  disputed: z
    .boolean()
    .describe('Whether any metric is disputed: by an accepted claim, or by a verification that found another value.'),
  disputedMetrics: z
    .array(metricNameSchema)
    .meta({ maxItems: MARKET_METRICS_MAX })
    .describe('The names of the disputed metrics, sorted.'),
  representedBy: publicTextSchema(200)
    .nullable()
    .describe(
      'The public name of the organisation that represents the market, by an accepted claim. Null: not represented.',
    ),
  representedBySalt: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable()
    .describe(
      'With this, anybody can check that the log means this name: it holds the SHA-256 of salt, line feed and name, in ' +
        'hex. Salt and name are erased together with the account of the organisation, and then the digest says ' +
        'nothing. Null: not represented, or since before the log began.',
    ),
  updatedAt: instantSchema
    .nullable()
    .describe(
      'When the market or one of its observations was last changed: by a new observation, a correction, a retraction, ' +
        'a verification, a claim or a new definition. Data that was already known does not move it. Null: not known, ' +
        'for a market without observations from an earlier version of the service.',
    ),
  revision: z.int().min(0).describe('Grows with every change of the market or of its observations.'),
});

export type MarketAttributes = z.infer<typeof attributesSchema>;
export type OutlierRule = z.infer<typeof outlierRuleSchema>;
export type Unit = z.infer<typeof unitSchema>;
export type SourceVerification = z.infer<typeof sourceVerificationSchema>;
export type Source = z.infer<typeof sourceSchema>;
export type Market = z.infer<typeof marketSchema>;

/** The description of `nextCursor` in every listing. */
export const NEXT_CURSOR = 'Opaque: pass it as `cursor` for the next page. Null: this is the last page.';

export const cursorSchema = z.string().regex(new RegExp(`^${CURSOR_PATTERN}$`));

const nextFileSchema = z
  .string()
  .regex(new RegExp(`^((markets|history)/pages/)?${CURSOR_PATTERN}\\.json$`))
  .nullable()
  .describe(
    "A link to the file of the next page, relative to this page's own file (RFC 3986). On a host of plain files, which " +
      'ignores `?cursor=`, follow it. Null: this is the last page.',
  );

/** A page of a collection that is published as files: `data`, and the next page, by file and by cursor. */
export function collectionSchema<Item extends z.ZodType>(item: Item, pageSize: number) {
  return z.strictObject({
    data: z.array(item).meta({ maxItems: pageSize }),
    page: z.strictObject({ next: nextFileSchema, nextCursor: cursorSchema.nullable().describe(NEXT_CURSOR) }),
  });
}

/** `GET /api/v1/snapshot`: the only public body with a time of publication. */
export const snapshotSchema = z.strictObject({
  generation: z.int().min(1).describe('The number of the generation. A later generation has a greater number.'),
  publishedAt: instantSchema,
  counts: z
    .strictObject({
      markets: z.int().min(0).describe('All listed markets, retired ones included.'),
      observations: z.int().min(0).describe('Observations of all markets, superseded ones included.'),
      unknownValues: z.int().min(0).describe('Observations whose value is null, superseded ones included.'),
    })
    .describe('Counts over this generation.'),
  listDigest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the bytes of the first page of `GET /api/v1/markets`, in hex.'),
  listGeneration: z
    .int()
    .min(1)
    .describe(
      'The list shows the markets as of this generation. A long list is published less often than its markets.',
    ),
  filesGeneration: z
    .int()
    .min(1)
    .exactOptional()
    .describe(
      'Files of histories show each market as of this generation or a later one, because long files wait for their turn while much is written. Left out: they show this generation.',
    ),
  projections: z
    .array(z.preprocess((name) => (typeof name === 'string' ? projectionOf(name) : name), z.enum(PROJECTIONS)))
    .max(PROJECTIONS.length)
    .exactOptional()
    .describe('The kinds of files that this deployment publishes besides JSON bodies. Left out: none.'),
  deferred: z
    .array(z.string().max(64))
    .max(64)
    .exactOptional()
    .describe(
      'Kinds of files that could not be made for this generation: theirs are of an earlier one. Left out: none. Their operator has an alarm.',
    ),
  log: z
    .strictObject({
      size: z.int().min(0).describe('The number of entries.'),
      root: z
        .string()
        .regex(/^[A-Za-z0-9+/]{43}=$/)
        .describe('The root hash of the tree (RFC 6962), in base64.'),
    })
    .exactOptional()
    .describe('The log as of this generation: everything above is in it. Left out if the deployment writes no log.'),
});

export type Snapshot = z.infer<typeof snapshotSchema>;
