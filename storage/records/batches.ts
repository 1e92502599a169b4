/**
 * The records of accepted work: ingest batches, and the queue from which a worker takes them.
 *
 * | partition           | sort         | holds                                                              |
 * |---------------------|--------------|--------------------------------------------------------------------|
 * | `batch/<batch id>`  | `record`     | {@link BatchValue}                                                 |
 * | `batch/<batch id>`  | `raw/<n>`    | a part of the request's body as it came, gzip in base64            |
 * | `batch/<batch id>`  | `checkpoint` | {@link CheckpointValue}: how far the worker has come               |
 * | `batch/<batch id>`  | `faults/<n>` | {@link FaultsValue}: faults, in the order in which they came up    |
 * | `batch/<upload id>` | `upload`     | {@link UploadValue}: a large file, and how far the worker has come |
 * | `work`              | `<work id>`  | {@link WorkValue}: what a worker must do, each kind in order       |
 * | `ingested-files`    | `<digest>`   | {@link IngestedFileValue}: a file taken in whole                   |
 */
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

/**
 * Moved forward by each transaction of the batch, under the condition that its revision is the one that was read: so
 * each part of a batch is applied once, however many workers apply it and wherever they die.
 */
export type CheckpointValue = {
  state: 'applying' | 'applied' | 'examined' | 'refused';
  /** Rows that were refused before anything was applied, by index; none of them is tried again. */
  setAside: number[];
  /** How many of the batch's markets are done, in order of their slugs; those without a row that is left do not count. */
  marketsDone: number;
  /** How many rows of the market after those are done, in order of its history. */
  rowsDone: number;
  accepted: number;
  unchanged: number;
  refused: number;
  /** How many `faults/<n>` items there are. */
  faultParts: number;
  /** Slugs of the markets that changed. */
  markets: string[];
  finishedAt: string | null;
};

/**
 * A large file, which is applied as a row of batches, one for each part of it. Revision: counts every change. What moves
 * is moved once a part's batch has come to its end.
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
  /** When a worker last moved it on, in milliseconds since the epoch; null before. */
  movedAtMs: number | null;
  finishedAt: string | null;
};

/** What a `faults/<n>` item holds; see `batchReportSchema`, where `pointer` and `line` are put as the request needs them. */
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
  lane?: string;
  lease?: { owner: string | null; untilMs: number } | null;
};

export type Task =
  | { kind: 'ingest'; batch: string }
  | { kind: 'upload'; upload: string }
  | { kind: 'erasure'; erasure: string }
  | { kind: 'refresh'; markets: string[] | null; after: string | null; publication: string | null };

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
export const FAULTS_PREFIX = 'faults/';
export const faultsKey = (id: string, index: number): ItemKey<FaultsValue> => ({
  partition: batchPartition(id),
  sort: FAULTS_PREFIX + part(index),
});

export const WORK_PARTITION = 'work';
/** Everything that is queued, in order of ids. */
export const WORK_QUEUE: KeyRange<WorkValue> = { partition: WORK_PARTITION };
export const workKey = (id: string): ItemKey<WorkValue> => ({ partition: WORK_PARTITION, sort: id });

export const ingestedFileKey = (digest: string): ItemKey<IngestedFileValue> => ({
  partition: 'ingested-files',
  sort: digest,
});
