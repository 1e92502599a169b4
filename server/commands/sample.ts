/**
 * A bundled sample. It is ingested only before the first publication. Later, its markets would mix with stored data, and a
 * signed log could not remove them.
 */
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import type { MappedRecord } from '../../mapping/declared/mapped-rows.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { put, removed } from '../../storage/ports/changes.ts';
import { readAll, readPage } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { digestedUlid } from '../../storage/ports/ulid.ts';
import {
  batchPartition,
  INGESTED_FILES,
  type IngestedFileValue,
  ingestedFileKey,
} from '../../storage/records/batches.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { StartError } from '../service/start-error.ts';
import { type EmbeddedConfig, SAMPLES, type SampleName } from '../settings/config.ts';

export interface SampleProgress {
  ingesting(records: number): void;
  /** Called with the number of ingested records; null: an earlier start has ingested the sample. Not called without a sample. */
  ingested(records: number | null): void;
}

/**
 * Call it before the start publishes. No write is accepted before the first publication. So a ledger without one holds at most
 * a part of the sample, from a start that was killed. Then this call ingests the rest.
 *
 * @returns the sample in the ledger; null: none
 * @throws StartError if a sample is requested for a folder that began without it
 */
export async function ingestSample(
  dependencies: BatchDependencies,
  { sample, dataFolder }: Pick<EmbeddedConfig, 'sample' | 'dataFolder'>,
  progress: SampleProgress,
): Promise<SampleName | null> {
  const { ledger } = dependencies;
  if (sample !== 'no' && (await ledger.get(HEAD_KEY)) === null) {
    const name = sample === 'unsaid' ? DEFAULT : sample;
    progress.ingested(await ingestFile(dependencies, name, progress.ingesting));
    return name;
  }
  // The ledger may have the sample of an earlier version, which stays unchanged.
  const [ingested] = (await readPage(ledger, INGESTED_FILES, { limit: 1 })).items;
  const held = ingested === undefined ? null : nameOf(ingested.value);
  if (sample === 'no' || sample === 'unsaid' || sample === held) {
    if (held !== null && sample !== 'no') progress.ingested(null);
    return held;
  }
  throw new StartError(
    `${dataFolder} was begun ${held === null ? 'without a sample' : `with the sample ${held}`}. Its log can never lose markets, so another sample is refused. Start it without --sample (TIDEMARK_SAMPLE), or use another folder with --data.`,
  );
}

const DEFAULT = SAMPLES[0];

const nameOf = ({ name }: IngestedFileValue): SampleName => SAMPLES.find((known) => known === name) ?? DEFAULT;

const FILES = {
  currencies: { csv: 'currency-api.csv', mapping: 'mapping.json' },
  models: { csv: 'models.csv', mapping: 'models.json' },
} as const;

/**
 * Ingests the file, unless an earlier start has done so. The ids of its batches are derived from their contents, so after a
 * crash the next start recognises the stored batches and continues.
 *
 * @param progress receives the number of records after each batch
 * @returns the number of its records; null if it was ingested before
 * @throws StartError if a row is refused. Its batch is removed, because the cause may be gone at the next start
 */
async function ingestFile(
  dependencies: BatchDependencies,
  name: SampleName,
  progress: (records: number) => void,
): Promise<number | null> {
  const { ledger, nowMs, newAttemptId } = dependencies;
  const [csv, mapping] = await Promise.all(
    [FILES[name].csv, FILES[name].mapping].map((file) =>
      readFile(new URL(`../../mapping/sample/${file}`, import.meta.url), 'utf8'),
    ),
  );
  const digest = sha256Hex(`${sha256Hex(csv as string)}\n${sha256Hex(mapping as string)}`);
  const key = ingestedFileKey(digest);
  if ((await ledger.get(key)) !== null) return null;
  const total = { accepted: 0, unchanged: 0 };
  for await (const rows of batchesOf(csv as string, mapping as string)) {
    const records = rows.map(({ record }) => record);
    const id = `bat_${digestedUlid(0, `${digest}\n${JSON.stringify(records)}`)}`;
    const { errors, counts } = await ingestBatch(dependencies, { id, ...OPTIONS }, records);
    const [fault] = errors;
    if (fault !== undefined) {
      const items = await readAll<unknown>(ledger, { partition: batchPartition(id) });
      await ledger.transact(items.map(removed), { attemptId: newAttemptId() });
      const place = `mapping/sample/${FILES[name].csv}, line ${rows[fault.index]?.line}`;
      // Other machines have accepted this row.
      const hint = fault.code === 'date.future' ? ". Or is this machine's clock behind?" : '';
      throw new StartError(`${place}: ${fault.code}: ${fault.detail}${hint}`);
    }
    total.accepted += counts.accepted;
    total.unchanged += counts.unchanged;
    progress(total.accepted + total.unchanged);
    // Calls to the ledger in this process never wait, so only this line lets signals and requests run.
    await setImmediate();
  }
  const value: IngestedFileValue = { ingestedAt: new Date(nowMs()).toISOString(), ...total, name };
  await ledger.transact([put(key, 0, value)], { attemptId: newAttemptId() });
  return total.accepted + total.unchanged;
}

const OPTIONS = { subject: 'system:sample', mode: 'append', partial: false, dryRun: false } as const;

/** Tests check that every row of the bundled files becomes a record. */
async function* batchesOf(csv: string, mapping: string): AsyncGenerator<readonly MappedRecord[]> {
  const parsed = parseMappingText(mapping);
  if (!('mapping' in parsed)) throw new Error(parsed.faults[0].detail);
  let batch: MappedRecord[] = [];
  for await (const mapped of mapCsv(parsed.mapping, csv)) {
    if (mapped.kind === 'refusal') throw new Error(`line ${mapped.line}: ${mapped.detail}`);
    batch.push(mapped);
    if (batch.length === BATCH_RECORDS_MAX) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
