/** The newest price of every market, one short line each. */
import * as z from 'zod';
import { LATEST_MARKETS_MAX } from './latest-entries.ts';
import { marketSchema } from './market.ts';
import { observationFields, provenanceFields } from './metric.ts';

const { sourceLabel, observedAt, releasedAt, status, unknownReason } = provenanceFields;
const { recordedAt } = observationFields;
const { slug, name, nativeCurrency, unit, updatedAt } = marketSchema.shape;

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
  source: sourceLabel.nullable().describe('The name of its source. Null: there is no observation.'),
  status: status
    .nullable()
    .describe('`final`, `provisional`, `estimated` or `aggregate`. Null: there is no observation.'),
  unknownReason,
  recordedAt: recordedAt
    .nullable()
    .describe(
      'When the service took in the price. Null: there is no observation, or 256 newer rows of the history hide it.',
    ),
});

/** `GET /api/v1/latest`. */
export const latestSchema = z.strictObject({
  data: z.array(latestEntrySchema).max(LATEST_MARKETS_MAX).describe('By slug.'),
});
