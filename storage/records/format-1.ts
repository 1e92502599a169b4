/**
 * The records of format 1 that are different now, or no longer exist. For the migration only. Markets and their
 * observations are first migrated to format 2: see `format-2.ts`.
 *
 * | partition        | sort           | holds                                                             |
 * |------------------|----------------|-------------------------------------------------------------------|
 * | `market/<slug>`  | `record`       | as in format 2, without the sum                                   |
 * | `dirty`          | `everything`   | nothing: every market must be published again                     |
 * | `publication`    | `head`         | {@link OldHeadValue}                                              |
 * | `publication`    | `generation/…` | {@link OldGenerationValue}                                        |
 * | `publication`    | `republish`    | {@link OldRepublishValue}: a full publication under way           |
 * | `republish/<id>` | `range/<n>`    | the rendered part of a full publication                           |
 * | `published/list` | `page/<index>` | a page of the market list                                         |
 * | `published/…`    | `heads`        | as now, without the market's revision and its first generation    |
 * | `unlinked`       | `<object key>` | a superseded page                                                 |
 * | `work`           | `<work id>`    | {@link OldWorkValue}                                              |
 * | `batch/<id>`     | `checkpoint`   | {@link OldCheckpointValue}: the progress of the whole batch       |
 * | `batch/<id>`     | `faults/<n>`   | as now; their keys sort before those of `faults/<source>/<n>`     |
 */
import type { StaticKind } from '../../contract/public-object-names.ts';
import type { ItemKey } from '../ledger.ts';
import type { KeyRange } from '../paging.ts';
import { type CheckpointValue, checkpointKey, type StrandValue, type Task, WORK_QUEUE } from './batches.ts';
import { type MarketValue2, marketKey2 } from './format-2.ts';
import {
  FRESH_MARKS,
  GENERATIONS,
  type GenerationValue,
  type HeadValue,
  type PublishedHeads,
  publishedHeadsKey,
  type SupersededValue,
} from './publication.ts';

export type OldMarketValue = Omit<MarketValue2, 'sum'> & { sum?: string };
export const oldMarketKey = (slug: string): ItemKey<OldMarketValue> => marketKey2(slug);

export type OldPublishedHeads = Omit<PublishedHeads, 'revision' | 'joined'>;
export const oldPublishedHeadsKey = (slug: string): ItemKey<OldPublishedHeads> => publishedHeadsKey(slug);

/** Revision: the generation. */
export type OldHeadValue = Pick<HeadValue, 'generation' | 'publishedAt' | 'applied' | 'counts' | 'marksTakenTo'> & {
  bundleKey: string;
  bundleDigest: string;
  listDigest: string | null;
  staticDigests?: { [Kind in StaticKind]?: string };
};
export const OLD_HEAD_KEY: ItemKey<OldHeadValue> = { partition: GENERATIONS.partition, sort: 'head' };

export type OldGenerationValue = Omit<GenerationValue, 'layout'> & { bundleKey?: string };
export const OLD_GENERATIONS: KeyRange<OldGenerationValue> = { ...GENERATIONS };

export type OldRepublishValue = { id: string };
export const OLD_REPUBLISH_KEY: ItemKey<OldRepublishValue> = { partition: GENERATIONS.partition, sort: 'republish' };
export const oldRangesOf = (republish: string): KeyRange<unknown> => ({ partition: `republish/${republish}` });

export const OLD_EVERYTHING_MARK: ItemKey<null> = { partition: FRESH_MARKS.partition, sort: 'everything' };
export const OLD_LIST_PAGES: KeyRange<unknown> = { partition: 'published/list' };
export const OLD_SUPERSEDED_PAGES: KeyRange<SupersededValue> = { partition: 'unlinked' };

export type OldWorkValue = Task & { lane?: string };
export const OLD_WORK_QUEUE: KeyRange<OldWorkValue> = { partition: WORK_QUEUE.partition };

/** In format 1 the whole batch was one strand. */
export type OldCheckpointValue = Omit<CheckpointValue, 'strands'> &
  Omit<StrandValue, 'revisions'> & { strands?: number };
export const oldCheckpointKey = (batch: string): ItemKey<OldCheckpointValue> => {
  const { partition, sort } = checkpointKey(batch);
  return { partition, sort };
};
