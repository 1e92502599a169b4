/**
 * The bundled sample. It is taken in before the first publication, and never after it: a later start would mix it with
 * what people have stored since, and a signed log cannot give it back.
 */
import { readFile } from 'node:fs/promises';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { readPage } from '../../storage/ports/paging.ts';
import { INGESTED_FILES } from '../../storage/records/batches.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { StartError } from '../service/start-error.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { type IngestFile, ingestFile } from './ingest-file.ts';

export interface SampleProgress {
  ingesting(records: number): void;
  /** The number of records in the sample; null if it was taken in before. Not called without the sample. */
  ingested(records: number | null): void;
}

/**
 * To be called before the start publishes. No write is accepted before the first publication, so a ledger without one
 * holds at most a part of the sample, of a start that was killed: then this completes it.
 *
 * @returns whether the ledger holds the sample
 * @throws StartError if the sample is demanded for a folder that was begun without it
 */
export async function takeSample(
  dependencies: BatchDependencies,
  { sample, dataFolder }: Pick<EmbeddedConfig, 'sample' | 'dataFolder'>,
  progress: SampleProgress,
): Promise<boolean> {
  const { ledger } = dependencies;
  if (sample !== 'no' && (await ledger.get(HEAD_KEY)) === null) {
    const ingested = await ingestFile(dependencies, await readSample(), progress.ingesting);
    progress.ingested(ingested && ingested.accepted + ingested.unchanged);
    return true;
  }
  // The file may be the sample of an earlier version. That one stays as it is.
  const hasSample = (await readPage(ledger, INGESTED_FILES, { limit: 1 })).items.length > 0;
  if (hasSample && sample !== 'no') progress.ingested(null);
  if (hasSample || sample !== 'yes') return hasSample;
  throw new StartError(
    `${dataFolder} was begun without the sample, whose markets could never be taken out of its log again: start it without --sample (TIDEMARK_SAMPLE=yes), or look at the sample in another folder by --data.`,
  );
}

async function readSample(): Promise<IngestFile> {
  const read = (name: string) => readFile(new URL(`../../mapping/sample/${name}`, import.meta.url), 'utf8');
  return {
    name: 'mapping/sample/currency-api.csv',
    csv: await read('currency-api.csv'),
    mapping: await read('mapping.json'),
  };
}
