/**
 * Any number of markets for benchmarks: copies of the sample's markets, with slugs that begin with `synthetic-` and
 * observations of status `estimated`, so that they can never be mistaken for data.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMapping } from '../../mapping/declared/parse-mapping.ts';

const SAMPLE = join(import.meta.dirname, '../../mapping/sample');

type MarketInput = Extract<IngestRecordInput, { type: 'market' }>;
type ObservationInput = Extract<IngestRecordInput, { type: 'observation' }>;

/** A market's record, and its observations, oldest first. */
export interface SampleMarket {
  readonly market: MarketInput;
  readonly observations: readonly ObservationInput[];
}

export async function readSample(): Promise<readonly SampleMarket[]> {
  const parsed = parseMapping(JSON.parse(await readFile(join(SAMPLE, 'mapping.json'), 'utf8')));
  if (!('mapping' in parsed)) throw new Error(`the sample's mapping is not valid: ${JSON.stringify(parsed.faults)}`);
  const markets = new Map<string, { market: MarketInput; observations: ObservationInput[] }>();
  for await (const mapped of mapCsv(parsed.mapping, await readFile(join(SAMPLE, 'currency-api.csv'), 'utf8'))) {
    if (mapped.kind === 'refusal') throw new Error(`the sample is refused at line ${mapped.line}: ${mapped.detail}`);
    const { record } = mapped;
    if (record.type === 'market') markets.set(record.slug, { market: record, observations: [] });
    else if (record.type === 'observation') markets.get(record.market)?.observations.push(record);
  }
  return [...markets.values()];
}

/** The slug of one synthetic market; they sort by number. */
function syntheticSlug(index: number): string {
  return `synthetic-${String(index).padStart(7, '0')}`;
}

/** The synthetic market with this number, made from one sample market: `index` modulo the number of sample markets. */
export function syntheticMarket(sample: readonly SampleMarket[], index: number): SampleMarket {
  const { market, observations } = sample[index % sample.length] as SampleMarket;
  const slug = syntheticSlug(index);
  return {
    market: { ...market, slug, name: `Synthetic ${index}, after ${market.name}` },
    observations: observations.map((observation) => ({ ...observation, market: slug, status: 'estimated' })),
  };
}

/** An observation `days` after the newest one of the market, with the same value. */
export function laterObservation({ observations }: SampleMarket, days: number): ObservationInput {
  const newest = observations.at(-1) as ObservationInput;
  const observedAt = new Date(Date.parse(newest.observedAt) + days * 24 * 60 * 60 * 1000).toISOString();
  return { ...newest, observedAt };
}
