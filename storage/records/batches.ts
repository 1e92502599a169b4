/**
 * The records of accepted work: ingest batches, uploads, and the queue of the workers.
 *
 * | partition           | sort                  | holds                                                              |
 * |---------------------|-----------------------|--------------------------------------------------------------------|
 * | `batch/<batch id>`  | `record`              | {@link BatchValue}                                                 |
 * | `batch/<batch id>`  | `raw/<n>`             | a part of the request's body as it came, gzip in base64            |
 * | `batch/<batch id>`  | `checkpoint`          | {@link CheckpointValue}: the state of the batch                    |
 * | `batch/<batch id>`  | `strand/<n>`          | {@link StrandValue}: the state of one share of its markets         |
 * | `batch/<batch id>`  | `faults/<source>/<n>` | {@link FaultsValue}                                                |
 * | `batch/<upload id>` | `upload`              | {@link UploadValue}: a large file and its state                    |
 * | `work/<shard>`      | `<lane>/<id>`         | {@link WorkValue}: work that is due, lane by lane, in order of ids |
 * | `ingested-files`    | `<digest>`            | {@link IngestedFileValue}: a file that was ingested completely     |
 */
import { decodeTime } from 'ulid';
import type { FeedAuthority } from '../../contract/files/feed-authority.ts';
import type { BATCH_FAILED, BatchReport, RowErrorCode } from '../../contract/ingest/ingest-records.ts';
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import type {
  RowCountParts,
  RowCounts,
  ShownBeside,
  ShownCorrection,
  ShownWithheld,
} from '../../contract/ingest/row-counts.ts';
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange, ShardedRange } from '../ports/paging.ts';
import { sha256Hex } from '../ports/sha256.ts';
import { digestedUlid } from '../ports/ulid.ts';
import { keyIn, keyOf, shardOfDigest, shardsOf } from './keys.ts';

/** Revision 0; written once, with the request. */
export type BatchValue = Pick<
  BatchReport,
  'id' | 'mode' | 'partial' | 'dryRun' | 'records' | 'sha256' | 'bytes' | 'receivedAt'
> & {
  subject: string;
  /** The credential that sent the batch. Absent: the service itself sent it, or an earlier version stored it. */
  actor?: string;
  /** Absent: every record is allowed, as in batches of earlier versions. */
  authority?: FeedAuthority;
  mediaType: 'application/json' | 'application/x-ndjson';
  /** For a part of an upload: the line of the file with which the part begins. Absent: 1. */
  firstLine?: number;
  rawParts: number;
};

/** Rows by their outcome, as `RowCounts` describes them. Absent: none. */
export type RowTotals = Pick<RowCounts, 'accepted' | 'refused' | 'unchanged'> &
  RowCountParts & {
    firstBeside?: ShownBeside;
    firstWithheld?: ShownWithheld;
    /** Of a dry run: the first ones. */
    corrections?: ShownCorrection[];
  };

/**
 * Absent until the batch is decided. If the batch fits one transaction, that transaction writes this item and ends the
 * batch. Otherwise a first transaction opens the batch. Revision 0 when it is opened, 1 when an opened batch is ended.
 */
export type CheckpointValue = RowTotals & {
  /** While the state is `applying`, the totals count only rows that were set aside; the strands count the others. */
  state: 'applying' | 'applied' | 'examined' | 'refused';
  /** Indexes of rows that were refused before anything was applied. They are not tried again. */
  setAside: number[];
  /** The number of strands of the batch; 0 for a batch that was never opened. */
  strands: number;
  /** Slugs of the markets that changed. */
  markets: string[];
  finishedAt: string | null;
};

/**
 * A strand: one share of an opened batch's markets. Each transaction that applies rows of the share also writes the
 * next revision of this item, under the condition that it has the revision that was read. So each row is applied once,
 * no matter how many workers apply it or when they die. The transaction that ends the batch writes a last revision of
 * every strand, so a late worker cannot apply anything after it.
 */
export type StrandValue = RowTotals & {
  /** The number of finished markets of the share, in the order of slugs. */
  marketsDone: number;
  /** The number of finished rows of the next market, in the order of its history. */
  rowsDone: number;
  /** The number of fault items of this strand. */
  faultParts: number;
  /** The newest revision of each changed market that the batch has written, by slug. */
  revisions: { [slug: string]: number };
};

/**
 * A large file. Each part of it is applied as a batch. Revision counts changes. The transaction that ends a part's batch
 * also changes this item.
 */
export type UploadValue = RowTotals &
  UploadFacts & {
    subject: string;
    /** The credential that announced it. Absent in records of earlier versions. */
    actor?: string;
    /** See {@link BatchValue.authority}. */
    authority?: FeedAuthority;
    /** Its records are checked, but not stored. Absent: they are stored. */
    dryRun?: true;
    /** Absent: the upload is not stopped, or an earlier version stopped it because of too many records. */
    stoppedBecause?: StopReason;
    /** The number of applied bytes of the file. */
    bytesDone: number;
    linesDone: number;
    partsDone: number;
    recordsDone: number;
    /** The batch of the newest part. */
    lastBatch: string | null;
  };

type UploadFacts = Pick<
  Upload,
  'id' | 'mode' | 'sha256' | 'bytes' | 'records' | 'createdAt' | 'state' | 'refusedIn' | 'finishedAt'
>;

/** The reason why the rest of a file is not applied. */
export type StopReason = NonNullable<Upload['stoppedBecause']>;

/** Faults of rows; see `batchReportSchema`. The report writes `pointer` and `line` in the form of the request. */
export type FaultsValue = {
  index: number;
  line: number | null;
  pointer: string;
  code: RowErrorCode | typeof BATCH_FAILED;
  detail: string;
}[];

/** Due work. It has the id of its batch, upload, erasure or publication. Revision counts changes. */
export type WorkValue = Task & {
  /** A worker may lease only the first item of a lane, so the items of a lane are done in the order of their ids. */
  lane: string;
  lease: Lease | null;
  /** Slugs of the markets that the work writes to in many transactions: see `affected-markets.ts`. Absent for other work. */
  touches?: string[];
};

export type Task =
  | { kind: 'ingest'; batch: string }
  | { kind: 'upload'; upload: string }
  | { kind: 'erasure'; erasure: string }
  /**
   * Sets refresh marks on these markets, or on all of them; the markets after `after` are left. When all marks are set,
   * `after` is null and the publication begins to wait.
   */
  | { kind: 'refresh'; markets: string[] | null; after: string | null; publication: string | null };

/**
 * Until this moment, no other worker takes the item. Without an owner, the item is not due before this moment. A lease only
 * avoids duplicate work. Safety does not depend on it: the checkpoints ensure that each row is applied once.
 */
export type Lease = { owner: string | null; untilMs: number };

/**
 * A file that was ingested completely, by the digest of its bytes and its mapping. `name` is the name of the sample;
 * earlier versions, which had only one sample, omitted it.
 */
export type IngestedFileValue = { ingestedAt: string; accepted: number; unchanged: number; name?: string };

const PART_DIGITS = 4;
const part = (index: number): string => String(index).padStart(PART_DIGITS, '0');

export const batchPartition = (id: string): string => `batch/${id}`;
export const batchKey = (id: string) => keyOf<BatchValue>(batchPartition(id), 'record');
export const uploadKey = (id: string) => keyOf<UploadValue>(batchPartition(id), 'upload');
export const RAW_PREFIX = 'raw/';
export const rawPartKey = (id: string, index: number) => keyOf<string>(batchPartition(id), RAW_PREFIX + part(index));
export const checkpointKey = (id: string) => keyOf<CheckpointValue>(batchPartition(id), 'checkpoint');
/** The strands of a batch, in order. */
export const strandsOf = (id: string): KeyRange<StrandValue> => ({ partition: batchPartition(id), prefix: 'strand/' });
export const strandKey = (id: string, strand: number) => keyIn(strandsOf(id), part(strand));
/** All faults of a batch, in the order in which they were found. */
export const faultsOfBatch = (id: string): KeyRange<FaultsValue> => ({
  partition: batchPartition(id),
  prefix: 'faults/',
});
export const faultsKey = (id: string, source: number, index: number) =>
  keyIn(faultsOfBatch(id), `${part(source)}/${part(index)}`);

/**
 * All work, lane by lane: a worker that looks for the first item of the next lane skips the rest of this lane. The key has
 * a digest of the lane, so no sender can choose the order of lanes. The partitions follow one another in the order of
 * lanes.
 */
export const WORK_QUEUE: ShardedRange<WorkValue> = { shards: shardsOf('work') };
const LANE_DIGITS = 16;
/** @param lane see {@link WorkValue}. Default: the item has its own lane */
export function workKey(id: string, lane = id): ItemKey<WorkValue> {
  const digest = sha256Hex(lane).slice(0, LANE_DIGITS);
  return { partition: workShardOf(digest), sort: `${digest}/${id}` };
}
/** The id of work, from its key. */
export const workIdOf = ({ sort }: { readonly sort: string }): string => sort.slice(sort.lastIndexOf('/') + 1);
/** The partition that holds the lane of this item or of this {@link laneEnd}. */
export const workShardOf = (sort: string): string => shardOfDigest(WORK_QUEUE.shards, sort);
/** A sort key after all items of this item's lane, and before all other lanes. */
export const laneEnd = (sort: string): string => `${sort.slice(0, LANE_DIGITS)}~`;

export const INGESTED_FILES: KeyRange<IngestedFileValue> = { partition: 'ingested-files' };
export const ingestedFileKey = (digest: string) => keyIn(INGESTED_FILES, digest);

/**
 * The id of the batch for a part of an upload. It has the upload's time, and a digest of upload and part instead of random
 * characters, so a repeated attempt gives the same id.
 */
export function partBatchId(uploadId: string, part: number): string {
  return `bat_${digestedUlid(decodeTime(uploadId.slice('upl_'.length)), `${uploadId}\n${part}`)}`;
}
