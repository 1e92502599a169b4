/** The tool `history`: a limited part of a history. Its answer states what is left out. */
import * as z from 'zod';
import { asOfFields, asOfRange, asOfShown, asOfShownSchema } from './as-of-argument.ts';
import type { AskedService } from './service.ts';
import { type ShownValue, shownValue, shownValueSchema } from './values.ts';

const LIMIT = 30;
const LIMIT_MAX = 200;
/** The limit of rows that are read to find the requested ones. */
const READ_MAX = 10_000;

export const historyInput = z.strictObject({
  market: z.string().describe('The slug of the market: `find_markets` gives it.'),
  metric: z.string().optional().describe('Default: `price`.'),
  from: z.string().optional().describe('The first `observedAt`: a date such as `2026-09-01`, or a moment.'),
  to: z.string().optional().describe('The last `observedAt`, included.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .optional()
    .describe(`The largest number of values, newest first. Default: ${LIMIT}.`),
  ...asOfFields,
});

export const historyOutput = z.object({
  market: z.string(),
  name: z.string(),
  asOf: asOfShownSchema,
  values: z.array(shownValueSchema).describe('Newest first. `provenance` gives the place of each in the signed log.'),
  logSize: z
    .number()
    .int()
    .nullable()
    .describe('The entries of the signed log now. Null: this service publishes no log.'),
  leftOut: z.object({
    older: z.boolean().describe('Whether there may be older values that fit: ask again with `to`.'),
    to: z.string().nullable().describe('The `to` of that question. It gives values of that same moment again.'),
    replacedVersions: z
      .number()
      .int()
      .describe('Versions that a correction had replaced, among the rows that were read.'),
    otherMetrics: z.number().int().describe('Rows of other metrics, among the rows that were read.'),
  }),
});

export async function historyOf(
  service: AskedService,
  { market: slug, metric = 'price', limit = LIMIT, from, to, ...at }: z.infer<typeof historyInput>,
): Promise<z.infer<typeof historyOutput>> {
  const market = await service.tidemark.market(slug);
  const values: ShownValue[] = [];
  let [read, replacedVersions, otherMetrics] = [0, 0, 0];
  let end: string | null = null;
  const { asOf } = at;
  const range = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...asOfRange(at),
  };
  for await (const row of service.tidemark.history(slug, range)) {
    if (values.length === limit || read++ === READ_MAX) {
      end = row.observedAt;
      break;
    }
    if (row.metric !== metric) otherMetrics++;
    else if (asOf === undefined && row.supersededAt !== null) replacedVersions++;
    else values.push(shownValue(row, market));
  }
  return {
    market: slug,
    name: market.name,
    asOf: asOfShown(at, service.nowMs()),
    values,
    logSize: await service.logSize(),
    leftOut: { older: end !== null, to: end, replacedVersions, otherMetrics },
  };
}
