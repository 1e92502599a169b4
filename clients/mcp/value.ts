/** The tool `value`: one number, now or as it was known at a moment. */
import * as z from 'zod';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { decimalOf } from '../typescript/decimal-of.ts';
import { type AsOfArgument, asOfFields, asOfRange, asOfShown, asOfShownSchema } from './as-of-argument.ts';
import type { AskedService } from './service.ts';
import { logPlaceSchema, shownUnit, shownValue, shownValueSchema } from './values.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export const valueInput = z.strictObject({
  market: z.string().describe('The slug of the market: `find_markets` gives it.'),
  metric: z.string().optional().describe('Default: `price`.'),
  ...asOfFields,
});

export const valueOutput = z.object({
  market: z.string(),
  name: z.string(),
  asOf: asOfShownSchema,
  value: shownValueSchema.nullable().describe('Null: no value was known at that moment; `note` says more.'),
  log: logPlaceSchema.nullable(),
  disputed: z.boolean().describe('Whether the metric is disputed now.'),
  note: z.string().nullable(),
});

export async function askedValue(
  service: AskedService,
  { market: slug, metric = 'price', ...at }: z.infer<typeof valueInput>,
): Promise<z.infer<typeof valueOutput>> {
  const market = await service.tidemark.market(slug);
  const row = await shownRow(service, slug, metric, at);
  const { receipt: _, ...log } = row === null ? { receipt: null } : await service.placeOf(slug, row);
  return {
    market: slug,
    name: market.name,
    asOf: asOfShown(at, service.nowMs()),
    value: row === null ? null : shownValue(row, market),
    log: row === null ? null : logPlaceSchema.parse(log),
    disputed: market.disputedMetrics.includes(metric),
    note: row === null ? unknownNote(metric, market, at) : null,
  };
}

/** The newest row of the metric that the market showed at the moment. */
async function shownRow(
  { tidemark }: AskedService,
  slug: string,
  metric: string,
  at: AsOfArgument,
): Promise<PublicObservation | null> {
  const { asOf, byRelease } = at;
  const asOfMs = Date.parse(asOf ?? '');
  // The service accepts values more than a day ahead only if they are announced. So the range can end there, except for
  // readings by release.
  const to = Number.isNaN(asOfMs) || byRelease === true ? {} : { to: new Date(asOfMs + 2 * DAY_MS) };
  for await (const row of tidemark.history(slug, { ...asOfRange(at), ...to })) {
    const isShown =
      row.metric === metric &&
      row.retraction !== 'mistake' &&
      (byRelease === true || !row.announced) &&
      (asOf !== undefined || row.supersededAt === null);
    if (isShown) return row;
  }
  return null;
}

function unknownNote(metric: string, market: Market, { asOf, byRelease }: AsOfArgument): string {
  const announced = asOf === undefined ? market.announced?.[metric] : undefined;
  if (announced !== undefined) {
    const value = `${decimalOf(announced) ?? 'unknown'}, in ${shownUnit(announced, market)}`;
    return `No ${metric} is effective yet. The one announced from ${announced.observedAt} on: ${value}.`;
  }
  const metrics = Object.keys(market.metrics);
  if (asOf === undefined) return `There is no ${metric}. The metrics of this market: ${metrics.join(', ')}.`;
  if (byRelease === true) return `The sources had published no ${metric} by then, as far as is known.`;
  return (
    `This service had recorded no ${metric} by then. Values that it took in later are not used, because that would look ahead. ` +
    'With `byRelease` they count from the moment when their source published them.'
  );
}
