/** The counts of a batch or an upload, and the corrections that a dry run shows. */
import * as z from 'zod';
import { slugSchema } from '../values/market.ts';
import { instantSchema, metricNameSchema } from '../values/metric.ts';

const count = z.int().min(0);
const part = (text: string) => count.exactOptional().describe(`${text}. Left out: none.`);

export const rowCountsSchema = z
  .strictObject({
    accepted: count.describe('Stored.'),
    unchanged: count.describe('Records whose observation was already known, with the same content.'),
    refused: count.describe('Records with at least one error.'),
    newMarkets: part('Records of `accepted` that define a new market'),
    changedMarkets: part('Records of `accepted` that change the definition of a market'),
    corrected: part('Records of `accepted` that correct a known observation'),
    reinstated: part('Records of `corrected` whose observation was retracted'),
    besides: part(
      'Records of `accepted` that stand beside the newest value of the same market, metric, `observedAt` and ' +
        '`sourceLabel`, because their `sourceUrl` is another one: see `firstBeside`',
    ),
    withheld: part(
      'Records of `accepted` whose price rounds to zero, so that it is unknown (`withheld`): see `firstWithheld`',
    ),
    retractions: part('Records of `accepted` that retract an observation'),
    retracted: part(
      'Records of `unchanged` that give a value which was retracted, and stays so: see `reinstated` of an observation',
    ),
  })
  .describe('Counts of records so far. In a dry run: the counts that it would have.');

/** Parts of the counts. Most are zero, and left out. */
export const ROW_COUNT_PARTS = [
  'newMarkets',
  'changedMarkets',
  'corrected',
  'reinstated',
  'retractions',
  'retracted',
  'besides',
  'withheld',
] as const satisfies readonly (keyof RowCounts)[];

/** A missing part is zero. */
export type RowCountParts = { [part in (typeof ROW_COUNT_PARTS)[number]]?: number };

/** The most corrections that a dry run shows. */
export const CORRECTIONS_MAX = 10;

const correctionSchema = z.strictObject({
  market: slugSchema,
  metric: metricNameSchema,
  observedAt: instantSchema.describe('The moment of the observation.'),
  from: z.string().describe('The value that is known, with its unit, for people. The wording may change.'),
  to: z.string().describe('The value that the record gives, in the same form.'),
});

export const correctionsSchema = z
  .array(correctionSchema)
  .meta({ maxItems: CORRECTIONS_MAX })
  .optional()
  .describe('The first corrections that a dry run would make. Left out: none, or no dry run.');

/** A stored value, and the value of the same source that it does not correct. */
export const firstBesideSchema = z
  .strictObject({
    market: slugSchema,
    metric: metricNameSchema,
    observedAt: instantSchema.describe('The moment of both observations.'),
    sourceLabel: z.string().describe('The source of both.'),
    sourceUrl: z.string().describe('The URL of the record.'),
    knownUrl: z.string().describe('The URL of the value that was known before.'),
  })
  .optional()
  .describe(
    'A record of `counts.besides`. The URL is a part of the identity of an observation, so both values stand. To ' +
      'correct a value, send it with its own URL. Left out: none.',
  );

/** A price that the quantity of its market is too small for. */
export const firstWithheldSchema = z
  .strictObject({
    market: slugSchema,
    metric: metricNameSchema,
    observedAt: instantSchema.describe('The moment of the price.'),
    sourceValue: z.string().describe('The price, as the source wrote it.'),
  })
  .optional()
  .describe('A record of `counts.withheld`. Left out: none.');

export type RowCounts = z.infer<typeof rowCountsSchema>;
export type ShownBeside = NonNullable<z.infer<typeof firstBesideSchema>>;
export type ShownWithheld = NonNullable<z.infer<typeof firstWithheldSchema>>;
export type ShownCorrection = z.infer<typeof correctionSchema>;
