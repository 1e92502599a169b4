/**
 * A bundled sample. It is taken in before the first publication, and never after it: a later start would mix it with
 * what people have stored since, and a signed log cannot give it back.
 */
import { readFile } from 'node:fs/promises';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { readPage } from '../../storage/ports/paging.ts';
import { INGESTED_FILES, type IngestedFileValue } from '../../storage/records/batches.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { StartError } from '../service/start-error.ts';
import { type EmbeddedConfig, SAMPLES, type SampleName } from '../settings/config.ts';
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
 * @returns the sample that the ledger holds. Null: none
 * @throws StartError if a sample is demanded for a folder that was begun without it
 */
export async function ingestSample(
  dependencies: BatchDependencies,
  { sample, dataFolder }: Pick<EmbeddedConfig, 'sample' | 'dataFolder'>,
  progress: SampleProgress,
): Promise<SampleName | null> {
  const { ledger } = dependencies;
  if (sample !== 'no' && (await ledger.get(HEAD_KEY)) === null) {
    const ingested = await ingestFile(dependencies, await readSample(sample), progress.ingesting);
    progress.ingested(ingested && ingested.accepted + ingested.unchanged);
    return sample === 'unsaid' ? DEFAULT : sample;
  }
  // The file may be the sample of an earlier version. That one stays as it is.
  const [ingested] = (await readPage(ledger, INGESTED_FILES, { limit: 1 })).items;
  const held = ingested === undefined ? null : nameOf(ingested.value);
  if (held !== null && sample !== 'no') progress.ingested(null);
  if (sample === 'no' || sample === 'unsaid' || sample === held) return held;
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

async function readSample(wanted: SampleName | 'unsaid'): Promise<IngestFile> {
  const name = wanted === 'unsaid' ? DEFAULT : wanted;
  const { csv, mapping } = FILES[name];
  const read = (file: string) => readFile(new URL(`../../mapping/sample/${file}`, import.meta.url), 'utf8');
  return { name, path: `mapping/sample/${csv}`, csv: await read(csv), mapping: await read(mapping) };
}
