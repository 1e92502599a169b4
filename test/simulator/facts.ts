/** Facts about the committed records of a simulated ledger, read without the code under test. */
import type { PublicObjectName } from '../../contract/files/public-objects.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import type { AnyRange } from '../../storage/ports/paging.ts';
import { batchKey, uploadKey, WORK_QUEUE } from '../../storage/records/batches.ts';
import {
  MARKET_INDEX,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  OBSERVATION_PREFIX,
  observationsOf,
} from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  DEFERRED,
  FILES_BEHIND,
  FRESH_MARKS,
  GENERATIONS,
  generationOfKey,
  HEAD_KEY,
  type HeadValue,
  LIST_CHANGES,
  type PublishedHeads,
  publishedHeadsKey,
  publishedYearKey,
  REFRESH_MARKS,
  SUPERSEDED_PAGES,
  WALK_KEY,
} from '../../storage/records/publication.ts';
import type { LedgerItems } from './ledger-items.ts';
import type { ShownObservation } from './published.ts';

/** The items that wait for a publisher, and for a worker. */
export interface Due {
  readonly publishing: readonly string[];
  readonly working: readonly string[];
}

/** The work that is left, by the committed ledger. */
export function dueIn(items: LedgerItems): Due {
  const head = items.committed(HEAD_KEY)?.value as HeadValue | undefined;
  const ranges = [FRESH_MARKS, REFRESH_MARKS, AWAITING_GENERATION, FILES_BEHIND, LIST_CHANGES, DEFERRED];
  return {
    publishing: [
      ...ranges.flatMap((range) => partsOf(range).flatMap((part) => items.committedIn(part).map(nameOf))),
      ...(head === undefined ? [] : leftOf(head)),
    ],
    working: partsOf(WORK_QUEUE).flatMap((part) => items.committedIn(part).map(({ sort }) => sort)),
  };
}

const nameOf = ({ partition, sort }: { readonly partition: string; readonly sort: string }) => `${partition} ${sort}`;

/** The partitions that share a range; one that has its own is its only part. */
function partsOf(range: AnyRange<unknown>): readonly { readonly partition: string; readonly prefix?: string }[] {
  if (!('shards' in range)) return [range];
  const { shards, ...rest } = range;
  return shards.map((partition) => ({ partition, ...rest }));
}

/** A publisher tries every minute, whether it knows of work or not. So what only HEAD still says must be worked off, too. */
function leftOf(head: HeadValue): readonly string[] {
  const { applied, generation, list } = head;
  return [
    ...(applied ? [] : [`generation ${generation} is not applied`]),
    ...(list.shows === generation ? [] : [`the list shows generation ${list.shows} of ${generation}`]),
    ...(list.isDoubtful ? ['the list is doubtful'] : []),
    ...(areFilesBehind(head) ? ['files of histories wait'] : []),
  ];
}

/** The processes that a committed change wakes: the publisher for each mark, the worker for each new work item. */
export function wokenBy(changes: readonly Change[]): { readonly publishing: boolean; readonly working: boolean } {
  const puts = changes.filter((change) => change.kind === 'put');
  const ringing = [...FRESH_MARKS.shards, ...AWAITING_GENERATION.shards];
  return {
    publishing: puts.some(({ key }) => ringing.includes(key.partition)),
    working: puts.some(({ key, revision }) => WORK_QUEUE.shards.includes(key.partition) && revision === 0),
  };
}

/** Batches that these changes report as public. */
export function batchesAnsweredBy(changes: readonly Change[]): readonly string[] {
  return batchesPutInto('generation-of/', changes);
}

/** Batches that end with these changes, and then wait to be public. */
export function batchesAppliedBy(changes: readonly Change[]): readonly string[] {
  return batchesPutInto('awaiting-generation/', changes);
}

function batchesPutInto(partitions: string, changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ kind, key }) =>
    kind === 'put' && key.partition.startsWith(partitions) && key.sort.startsWith('batch/')
      ? [key.sort.slice('batch/'.length)]
      : [],
  );
}

/** Batches that these changes accept, apply, or report as public. */
export function batchesOf(changes: readonly Change[]): readonly string[] {
  const names = changes.flatMap(({ key: { partition, sort } }) => {
    if (partition.startsWith('batch/')) return [partition.slice('batch/'.length)];
    const isAnswer = /^(awaiting-generation|generation-of)\//.test(partition);
    return isAnswer && sort.startsWith('batch/') ? [sort.slice('batch/'.length)] : [];
  });
  return [...new Set(names)];
}

export interface PublishedState {
  readonly generation: number;
  readonly layout: string | null;
  readonly isDoubtful: boolean;
  readonly logSize: number;
  /** A restore took the ledger back, and no publisher has written the log since. */
  readonly isLogDoubtful: boolean;
  /** The projections of the deployment that has rendered it. */
  readonly projections: readonly string[];
  /** Whether files of histories wait for their turn. */
  readonly areFilesBehind: boolean;
}

const areFilesBehind = (head: HeadValue | undefined): boolean => head?.projections?.['history-files'] !== undefined;

export function publishedIn(items: LedgerItems): PublishedState {
  const head = items.committed(HEAD_KEY)?.value as HeadValue | undefined;
  const { generation = 0, list, log, renderer = '' } = head ?? {};
  const isDoubtful = list?.isDoubtful === true;
  // Behind the version and the two sizes of pages.
  const projections = renderer.split('/')[3]?.split(',') ?? [];
  const layout = list?.layout?.key ?? null;
  return {
    generation,
    layout,
    isDoubtful,
    logSize: log?.size ?? 0,
    isLogDoubtful: log?.isDoubtful === true,
    projections,
    areFilesBehind: areFilesBehind(head),
  };
}

export function isMarket(items: LedgerItems, slug: string): boolean {
  return items.committed(marketIndexKey(slug)) !== null;
}

/** Whether the records say that this file is published. While publishers of two deployments alternate, not each one is. */
export function isFileRecorded(items: LedgerItems, name: PublicObjectName): boolean {
  if (!('slug' in name)) {
    const { projections } = (items.committed(HEAD_KEY)?.value ?? {}) as Partial<HeadValue>;
    const { index, recent } = (projections?.latest ?? {}) as { readonly index?: object; readonly recent?: object };
    return (name.kind === 'recent' ? recent : index) !== undefined;
  }
  if ('year' in name) return items.committed(publishedYearKey(name.slug, name.year)) !== null;
  const heads = items.committed(publishedHeadsKey(name.slug))?.value as PublishedHeads | undefined;
  return (name.kind === 'history-index' ? heads?.files?.index : heads?.files?.all) != null;
}

/** The slugs of removed markets. */
export function removedIn(items: LedgerItems): readonly string[] {
  const slugs = items.committedIn(MARKET_INDEX).map(({ sort }) => sort);
  return slugs.filter((slug) => {
    const record = items.committed(marketKey(slug))?.value as MarketRecordValue | undefined;
    return record?.removal !== undefined;
  });
}

/** Whether the ledger has this batch or upload. */
export function isAccepted(items: LedgerItems, id: string): boolean {
  return items.committed(batchKey(id)) !== null || items.committed(uploadKey(id)) !== null;
}

export function isAnswered(items: LedgerItems, batch: string): boolean {
  return items.committed(generationOfKey(`batch/${batch}`)) !== null;
}

/** The observations of a market in the ledger, newest first. */
export function historyIn(items: LedgerItems, market: string): readonly ShownObservation[] {
  const found = items.committedIn(observationsOf(market));
  return found.map(({ value }) => value as unknown as ShownObservation).reverse();
}

/** The market to which this transaction adds observations, or null. */
export function marketWrittenBy(changes: readonly Change[]): string | null {
  const observation = changes.find(({ key }) => key.sort.startsWith(OBSERVATION_PREFIX));
  return observation?.key.partition.slice('market/'.length) ?? null;
}

/** The ledger without any trace of publishing. */
export function withoutPublication(items: LedgerItems): LedgerItems {
  const ofPublication = [HEAD_KEY, GENERATIONS, LIST_CHANGES, SUPERSEDED_PAGES, WALK_KEY, DEFERRED];
  const names = new Set(ofPublication.flatMap((range) => partsOf(range).map(({ partition }) => partition)));
  return items.copy((partition) => !names.has(partition) && !/^(published|log)\//.test(partition));
}
