/** The tool `provenance`: where one value comes from, every version of it, and what the signed log says. */
import * as z from 'zod';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { TidemarkError } from '../typescript/tidemark-error.ts';
import type { AskedService } from './service.ts';
import { logPlaceSchema, shownValue, shownValueSchema } from './values.ts';

const VERSIONS_MAX = 20;

export const provenanceInput = z.strictObject({
  market: z.string().describe('The slug of the market: `find_markets` gives it.'),
  observedAt: z.string().describe('The moment of the value, as `value` or `history` gave it.'),
  metric: z.string().optional().describe('Default: `price`.'),
  withReceipt: z
    .boolean()
    .optional()
    .describe('Whether to add the receipt: a text that proves each version without a network. Default: false.'),
});

export const provenanceOutput = z.object({
  market: z.string(),
  name: z.string(),
  disputed: z.boolean().describe('Whether the metric is disputed now.'),
  versions: z
    .array(
      shownValueSchema.extend({ log: logPlaceSchema, receipt: z.string().optional().describe('A C2SP tlog-proof.') }),
    )
    .describe(
      'Every version, newest first: a correction replaces the one below it. Several sources may have the same moment.',
    ),
  sources: z
    .array(
      z.object({
        label: z.string(),
        url: z.string(),
        publisher: z.string().nullable(),
        licence: z.string().nullable(),
        attribution: z.string().nullable().describe('The text that must be shown with the data. Null: no text.'),
        verification: z
          .string()
          .nullable()
          .describe('The latest comparison with the source, and when. Null: never verified.'),
      }),
    )
    .describe('The sources of these versions, as the market describes them.'),
  leftOut: z.number().int().describe('Versions beyond those of this answer.'),
});

export async function provenanceOf(
  service: AskedService,
  { market: slug, observedAt, metric = 'price', withReceipt = false }: z.infer<typeof provenanceInput>,
): Promise<z.infer<typeof provenanceOutput>> {
  const market = await service.tidemark.market(slug);
  const rows: PublicObservation[] = [];
  for await (const row of service.tidemark.history(slug, { from: observedAt, to: observedAt })) {
    if (row.metric === metric) rows.push(row);
  }
  if (rows.length === 0) {
    const detail = `${slug} has no ${metric} of ${observedAt}: \`history\` lists the moments that it has`;
    throw new TidemarkError('not-found', { detail });
  }
  const versions = [];
  for (const row of rows.slice(0, VERSIONS_MAX)) {
    const { receipt, ...log } = await service.placeOf(slug, row);
    versions.push({ ...shownValue(row, market), log, ...(withReceipt && receipt !== null ? { receipt } : {}) });
  }
  const labels = new Set(rows.map(({ sourceLabel }) => sourceLabel));
  return {
    market: slug,
    name: market.name,
    disputed: market.disputedMetrics.includes(metric),
    versions,
    sources: market.sources
      .filter(({ label }) => labels.has(label))
      .map(({ label, url, publisher, licence, attribution, verification }) => ({
        ...{ label, url, publisher, licence, attribution },
        verification: verification && `${verification.outcome} at ${verification.verifiedAt}`,
      })),
    leftOut: rows.length - versions.length,
  };
}
