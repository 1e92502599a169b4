/** Ledgers full of synthetic markets, none of them published yet. */
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { dropped } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { awaitingGenerationKey } from '../../storage/records/publication.ts';
import { readSample, syntheticMarket } from './synthetic-markets.ts';

/** Later than every date that a benchmark uses, and the same in each run. */
export const NOW_MS = Date.UTC(2030, 0, 1);

const OBSERVATIONS_PER_MARKET = 3;
const BATCH_ROWS = 1_000;

let attempts = 0;

export function dependenciesOn(ledger: Ledger): BatchDependencies {
  return { ledger, nowMs: () => NOW_MS, newAttemptId: () => `bench-${process.pid}-${++attempts}` };
}

/** Ingests records, and stops if any is refused. No batch waits for its generation. */
export async function ingest(
  ledger: Ledger,
  records: readonly IngestRecordInput[],
  mode: IngestMode = 'append',
): Promise<void> {
  const dependencies = dependenciesOn(ledger);
  const id = `bat_${dependencies.newAttemptId()}`;
  const options = { id, subject: 'operator', mode, partial: false, dryRun: false } as const;
  const { errors } = await ingestBatch(dependencies, options, records);
  if (errors.length > 0) throw new Error(`the benchmark's own records were refused: ${JSON.stringify(errors[0])}`);
  await ledger.transact([dropped(awaitingGenerationKey(`batch/${id}`))], { attemptId: dependencies.newAttemptId() });
}

/** A few observations for each of the first `markets` synthetic markets. */
export async function fillLedger(ledger: Ledger, markets: number): Promise<void> {
  const sample = await readSample();
  let batch: IngestRecordInput[] = [];
  for (let index = 0; index < markets; index++) {
    const { market, observations } = syntheticMarket(sample, index);
    batch.push(market, ...observations.slice(-OBSERVATIONS_PER_MARKET));
    if (batch.length < BATCH_ROWS && index < markets - 1) continue;
    await ingest(ledger, batch);
    batch = [];
  }
}
