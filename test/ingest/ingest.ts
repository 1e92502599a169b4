/** Takes records in as the worker does: from a stored batch. */
import type { FeedAuthority } from '../../contract/files/feed-authority.ts';
import type { IngestMode, RowError } from '../../contract/ingest/ingest-records.ts';
import type { BatchDependencies } from '../../lambdas/ingest/batch-changes.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { awaitingGenerationKey } from '../../storage/records/publication.ts';
import { deleteItem } from '../storage/put-item.ts';

export interface IngestOptions {
  readonly mode?: IngestMode;
  readonly partial?: boolean;
  readonly dryRun?: boolean;
  readonly authority?: FeedAuthority;
}

export interface IngestReport {
  /** Whether the accepted rows are in the ledger. */
  readonly taken: boolean;
  readonly accepted: number;
  readonly unchanged: number;
  readonly faults: readonly (Pick<RowError, 'pointer' | 'detail'> & {
    readonly index: number;
    readonly code: string;
  })[];
  /** The changed markets, in order. */
  readonly markets: readonly string[];
}

let batches = 0;

/** Takes the records in. By default the batch does not wait for its generation. */
export async function ingest(
  dependencies: BatchDependencies,
  records: readonly unknown[],
  { mode = 'append', partial = false, dryRun = false, ...more }: IngestOptions = {},
): Promise<IngestReport> {
  const id = `bat_of-a-test-${++batches}`;
  const options = { id, subject: 'operator', mode, partial, dryRun, ...more };
  const { state, counts, errors, markets } = await ingestBatch(dependencies, options, records);
  await deleteItem(dependencies.ledger, awaitingGenerationKey(`batch/${id}`));
  const faults = errors.map(({ index, pointer, code, detail }) => ({ index, pointer, code, detail }));
  const { accepted, unchanged } = counts;
  return { taken: state === 'applied', accepted, unchanged, faults, markets };
}
