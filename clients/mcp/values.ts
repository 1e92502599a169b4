/** How a value is shown to a model: its number as exact text, where it comes from, its times, and its place in the log. */
import * as z from 'zod';
import type { Market } from '../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../contract/values/metric.ts';
import { decimalOf } from '../typescript/decimal-of.ts';

const instant = z.string().describe('RFC 3339, in UTC.');

export const logPlaceSchema = z
  .object({
    index: z.number().int().nullable().describe('The place of the value in the signed log. Null: see `note`.'),
    verified: z.boolean().describe('Whether the signature, the place and every member were checked here.'),
    note: z.string().describe('By which key it was checked, or why it is not in the log.'),
  })
  .describe('What the signed log says of the value.');

export type LogPlace = z.infer<typeof logPlaceSchema>;

export const shownValueSchema = z.object({
  metric: z.string(),
  announced: z
    .boolean()
    .describe('Whether the value is not effective yet: its `observedAt` was ahead when it was recorded.'),
  decimal: z.string().nullable().describe('The exact number. Null: unknown, never zero; `unknownReason` says why.'),
  unit: z.string().describe('What the number counts, e.g. `USD for 1 troy ounce`.'),
  unknownReason: z.string().nullable(),
  observedAt: instant.describe('The moment that the value is about.'),
  releasedAt: instant.nullable().describe('When the source published it. Null: not known.'),
  recordedAt: instant.describe('When this service took it in.'),
  supersededAt: instant.nullable().describe('When a correction or retraction replaced it. Null: it stands.'),
  source: z.object({ label: z.string(), url: z.string() }),
  confidence: z.string(),
  status: z.string(),
  sourceValue: z.string().nullable().describe("The source's own digits."),
  rounded: z.boolean().describe("Whether the number could not hold the source's digits."),
  retraction: z.string().nullable(),
  publicReason: z.string().nullable().describe('Why it corrects or takes back the version before it. Null: not said.'),
  id: z.string(),
});

export type ShownValue = z.infer<typeof shownValueSchema>;

export function shownUnit(metric: PublicMetric, { unit }: Pick<Market, 'unit'>): string {
  return metric.kind === 'money' ? `${metric.currency} for ${unit.quantity} ${unit.of}` : metric.unit;
}

export function shownValue(row: PublicObservation, market: Pick<Market, 'unit'>): ShownValue {
  const { metric, unknownReason, observedAt, releasedAt, recordedAt, supersededAt, retraction, id } = row;
  const { confidence, status, sourceValue, rounded, sourceLabel, sourceUrl } = row;
  return {
    metric,
    announced: row.announced === true,
    decimal: decimalOf(row),
    unit: shownUnit(row, market),
    unknownReason,
    ...{ observedAt, releasedAt, recordedAt, supersededAt },
    source: { label: sourceLabel, url: sourceUrl },
    ...{ confidence, status, sourceValue, rounded, retraction, publicReason: row.publicReason ?? null, id },
  };
}
