/** The sources of all markets in one file: licence, cadence, the last fetch and the last change. */
import * as z from 'zod';
import { PUBLIC_SOURCES_MAX } from '../files/limits.ts';
import { marketSchema, sourceSchema } from '../values/market.ts';
import { instantSchema } from '../values/metric.ts';

const { cadence, expectedNextAt } = marketSchema.shape.sources.element.shape;
const { label, url, publisher, licence, attribution } = sourceSchema.shape;

export const publicSourceSchema = z.strictObject({
  label,
  url: url.describe('A page that describes or holds the whole source, as its first market by slug names it.'),
  publisher,
  licence,
  attribution,
  cadence,
  markets: z.int().min(1).describe('The number of markets with this source.'),
  lastChangedAt: instantSchema.nullable().describe('The newest `updatedAt` of these markets. Null: not known.'),
  lastFetchedAt: instantSchema
    .nullable()
    .describe(
      'When this service asked the source and got an answer: for the last time with something new, or for the first time on ' +
        'the last day (UTC) with an answer, whichever is later. Null: this service does not fetch it, or has not yet.',
    ),
  expectedNextAt: expectedNextAt.describe(
    'The earliest moment at which one of these markets expects its next value. If it has not come `graceSeconds` of `cadence` ' +
      'after this time, it is late: compare with your own clock. Null: no value is expected.',
  ),
  late: z
    .boolean()
    .nullable()
    .describe(
      'Whether that value was late already at `lastFetchedAt`: the source had not published it in time. Null: one of the two is null.',
    ),
});

/** `GET /api/v1/sources.json`. */
export const publicSourcesSchema = z.strictObject({
  data: z
    .array(publicSourceSchema)
    .max(PUBLIC_SOURCES_MAX)
    .describe('By label. A source that markets describe in several ways is there once for each.'),
});

export type PublicSource = Readonly<z.infer<typeof publicSourceSchema>>;
