/**
 * The records of accepted work: ingest batches, and the queue from which workers take them.
 *
 * | partition           | sort                  | holds                                                              |
 * |---------------------|-----------------------|--------------------------------------------------------------------|
 * | `batch/<batch id>`  | `record`              | {@link BatchValue}                                                 |
 * | `batch/<batch id>`  | `raw/<n>`             | a part of the request's body as it came, gzip in base64            |
 * | `batch/<batch id>`  | `checkpoint`          | {@link CheckpointValue}: what has become of the batch              |
 * | `batch/<batch id>`  | `strand/<n>`          | {@link StrandValue}: how far one share of its markets has come     |
 * | `batch/<batch id>`  | `faults/<source>/<n>` | {@link FaultsValue}                                                |
 * | `batch/<upload id>` | `upload`              | {@link UploadValue}: a large file, and how far a worker has come   |
 * | `work`              | `<work id>`           | {@link WorkValue}: what a worker must do, in order of ids          |
 * | `ingested-files`    | `<digest>`            | {@link IngestedFileValue}: a file taken in whole                   |
 */
import { hash } from 'node:crypto';
import type { BATCH_FAILED, IngestMode, RowErrorCode } from '../../contract/ingest-records.ts';
import type { ItemKey } from '../ledger.ts';
import type { KeyRange } from '../paging.ts';

/** Revision 0; written once, with the request. */
export type BatchValue = {
  id: string;
  subject: string;
  mode: IngestMode;
  partial: boolean;
  dryRun: boolean;
  mediaType: 'application/json' | 'application/x-ndjson';
  records: number;
  /** SHA-256 of the request's body as it came, in hex. */
  sha256: string;
  bytes: number;
  rawParts: number;
  receivedAt: string;
};

/** What became of rows. */
export type RowTotals = { accepted: number; unchanged: number; refused: number };

/**
 * Absent until something of the batch is decided. A batch that fits one transaction is ended by that transaction; any other
 * one is opened first. Revision 0 when it is opened, 1 when an opened batch is ended.
 */
export type CheckpointValue = RowTotals & {
  /** While it is `applying`, the totals are of the rows that were set aside alone: the strands hold the rest. */
  state: 'applying' | 'applied' | 'examined' | 'refused';
  /** Rows that were refused before anything was applied, by index; none of them is tried again. */
  setAside: number[];
  /** How many strands the markets are dealt out to; 0 for a batch that was never opened. */
  strands: number;
  /** Slugs of the markets that changed. */
  markets: string[];
  finishedAt: string | null;
};

/**
 * A share of an opened batch's markets. Each transaction that applies rows of the share moves it, under the condition that its
 * revision is the one that was read: so each row is applied once, however many workers do so and wherever they die. The
 * transaction that ends the batch moves every strand once more, so no worker that is late can apply anything after it.
 */
export type StrandValue = RowTotals & {
  /** How many markets of the share are done, in order of their slugs. */
  marketsDone: number;
  /** How many rows of the market after those are done, in order of its history. */
  rowsDone: number;
  /** How many items of faults there are of this strand. */
  faultParts: number;
  /** Of the markets that changed, by slug: the newest revision that the batch has written. */
  revisions: { [slug: string]: number };
};

/**
 * A large file, which is applied as a row of batches, one for each part of it. Revision: counts every change. The
 * transaction that ends a part's batch moves it on.
 */
export type UploadValue = {
  id: string;
  subject: string;
  mode: IngestMode;
  /** As the sender said them. */
  sha256: string;
  bytes: number;
  records: number;
  createdAt: string;
  /** `stopped`: it holds more records than was said, and what was left is not taken in. */
  state: 'awaiting-content' | 'queued' | 'applying' | 'applied' | 'stopped';
  /** Of the file: what has been applied. */
  bytesDone: number;
  linesDone: number;
  partsDone: number;
  recordsDone: number;
  accepted: number;
  unchanged: number;
  refused: number;
  /** The first batches that have refused records. */
  refusedIn: { batch: string; firstLine: number; refused: number }[];
  /** The batch of the newest part. */
  lastBatch: string | null;
  finishedAt: string | null;
};

/** What an item of faults holds; see `batchReportSchema`, where `pointer` and `line` are put as the request needs them. */
export type FaultsValue = {
  index: number;
  line: number | null;
  pointer: string;
  code: RowErrorCode | typeof BATCH_FAILED;
  detail: string;
}[];

/** What a worker must do. Its id is that of the batch, the upload, the erasure or the publication. Revision: counts changes. */
export type WorkValue = Task & {
  /** Of several items of one lane, the first on the queue alone may be worked on: they are done in the order of their ids. */
  lane: string;
  lease: Lease | null;
  /** Slugs of the markets that it writes to in many transactions: see `touches.ts`. Absent where it does not. */
  touches?: string[];
};

export type Task =
  | { kind: 'ingest'; batch: string }
  | { kind: 'upload'; upload: string }
  | { kind: 'erasure'; erasure: string }
  /**
   * Marks these markets, or all, to be rendered again: those after a slug are left to do. Once all are marked, which is when
   * `after` is null, the publication begins to wait.
   */
  | { kind: 'refresh'; markets: string[] | null; after: string | null; publication: string | null };

/**
 * Until this moment no other worker takes the item; where there is no owner it is not due before. A lease saves work that would
 * be done twice. Safety does not depend on it: checkpoints see to that.
 */
export type Lease = { owner: string | null; untilMs: number };

/** A file that has been taken in to its last row, by the digest of its bytes and of its mapping. */
export type IngestedFileValue = { ingestedAt: string; accepted: number; unchanged: number };

const PART_DIGITS = 4;
const part = (index: number): string => String(index).padStart(PART_DIGITS, '0');

export const batchPartition = (id: string): string => `batch/${id}`;
export const batchKey = (id: string): ItemKey<BatchValue> => ({ partition: batchPartition(id), sort: 'record' });
export const uploadKey = (id: string): ItemKey<UploadValue> => ({ partition: batchPartition(id), sort: 'upload' });
export const RAW_PREFIX = 'raw/';
export const rawPartKey = (id: string, index: number): ItemKey<string> => ({
  partition: batchPartition(id),
  sort: RAW_PREFIX + part(index),
});
export const checkpointKey = (id: string): ItemKey<CheckpointValue> => ({
  partition: batchPartition(id),
  sort: 'checkpoint',
});
/** How far each share of the batch's markets has come, in order. */
export const strandsOf = (id: string): KeyRange<StrandValue> => ({ partition: batchPartition(id), prefix: 'strand/' });
export const strandKey = (id: string, strand: number): ItemKey<StrandValue> => ({
  partition: batchPartition(id),
  sort: `strand/${part(strand)}`,
});
/** All faults of a batch, in order of where they came up. */
export const faultsOfBatch = (id: string): KeyRange<FaultsValue> => ({
  partition: batchPartition(id),
  prefix: 'faults/',
});
export const faultsKey = (id: string, source: number, index: number): ItemKey<FaultsValue> => ({
  partition: batchPartition(id),
  sort: `faults/${part(source)}/${part(index)}`,
});

export const WORK_PARTITION = 'work';
/** Everything that is queued, in order of ids. */
export const WORK_QUEUE: KeyRange<WorkValue> = { partition: WORK_PARTITION };
export const workKey = (id: string): ItemKey<WorkValue> => ({ partition: WORK_PARTITION, sort: id });

export const ingestedFileKey = (digest: string): ItemKey<IngestedFileValue> => ({
  partition: 'ingested-files',
  sort: digest,
});

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_CHARACTERS = 10;
const CHANCE_CHARACTERS = 16;

/** Holds a part of an upload. An id like any batch's: the time of the upload, and a digest of upload and part in place of chance. */
export function partBatchId(uploadId: string, part: number): string {
  const time = uploadId.slice('upl_'.length).slice(0, TIME_CHARACTERS);
  return digestedBatchId(time, `${uploadId}\n${part}`);
}

/** Holds a part of a file that is ingested by its digest. It follows from the file and from what is in the part. */
export function fileBatchId(fileDigest: string, records: readonly unknown[]): string {
  return digestedBatchId(CROCKFORD.charAt(0).repeat(TIME_CHARACTERS), `${fileDigest}\n${JSON.stringify(records)}`);
}

function digestedBatchId(time: string, content: string): string {
  const digest = hash('sha256', content, 'buffer');
  const rest = Array.from({ length: CHANCE_CHARACTERS }, (_, index) => CROCKFORD.charAt((digest[index] ?? 0) & 31));
  return `bat_${time}${rest.join('')}`;
}
