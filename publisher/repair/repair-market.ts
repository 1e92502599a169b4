/**
 * Repairs a market whose record and observations do not add up, because a backup or a point-in-time restore may hold part
 * of a transaction. The existing observations count: the record is changed to match them.
 *
 * Safety: the record is written under the condition that its revision has not changed since it was read. A writer that
 * commits in the meantime changes the revision, and the repair starts again. A transaction that was committed before may
 * not be completely visible yet. So each repaired market is examined again, until nothing is left to repair.
 */
import { isDeepStrictEqual } from 'node:util';
import { dropped, put } from '../../storage/ports/changes.ts';
import { type Change, type ItemKey, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { inBatches, queryPages, readAll } from '../../storage/ports/paging.ts';
import { nextEffectiveAt } from '../../storage/records/announced-values.ts';
import {
  announcedMarketKey,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  observationsOf,
} from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  deferredKey,
  historyMarkKey,
  historyMarksOf,
  marketMarkKey,
  refreshMark,
} from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { commit } from '../kernel/change-many.ts';
import { knownSlugs } from '../kernel/marks.ts';
import { lastChangeOf, mendedVersions, type Recount, recountOf, type StoredObservation } from './recount.ts';

/**
 * - `removed`: the ledger has observations of the market but no record. Their market is undefined, so they are removed.
 * - `unknown`: the ledger has nothing about this market.
 */
export type RepairOutcome = 'unchanged' | 'repaired' | 'removed' | 'unknown';

const MAX_TRIES = 10;

type Repair = Pick<PublisherStorage, 'ledger' | 'newAttemptId'>;

/** Repairs one market. Throws if other writers change it faster than it can be read. */
export async function repairMarket(storage: Repair, slug: string): Promise<RepairOutcome> {
  let outcome: RepairOutcome | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await tryRepair(storage, slug);
    if (found === 'unchanged' || found === 'unknown') return outcome ?? found;
    outcome = found ?? outcome;
  }
  throw new Error(`${slug} was written to during each of ${MAX_TRIES} repairs: try again`);
}

/**
 * The repair that an operator asks for. Also renders the market from its first observation, because the records of its
 * pages may be as wrong as its record was.
 */
export async function repairOne(storage: Repair, slug: string): Promise<RepairOutcome> {
  const outcome = await repairMarket(storage, slug);
  if (outcome !== 'unknown') await commit(storage, [refreshMark(slug)]);
  return outcome;
}

/**
 * Repairs every market that needs it, in the order of slugs.
 *
 * @param after the run begins after this slug; '' for all markets
 * @param hasTime asked before each market; false ends the run
 * @returns the outcome by slug, and the slug to continue after; null at the end
 */
export async function repairMarkets(
  storage: Repair,
  { after, hasTime }: { readonly after: string; readonly hasTime: () => boolean },
): Promise<{ readonly outcomes: ReadonlyMap<string, RepairOutcome>; readonly next: string | null }> {
  const outcomes = new Map<string, RepairOutcome>();
  let last = after;
  for (const slug of await slugsToRepair(storage, after)) {
    if (!hasTime()) return { outcomes, next: last };
    const outcome = await repairMarket(storage, slug);
    if (outcome !== 'unchanged' && outcome !== 'unknown') outcomes.set(slug, outcome);
    last = slug;
  }
  return { outcomes, next: null };
}

/** Slugs in the index, in marks and in waiting items. */
async function slugsToRepair({ ledger }: Repair, after: string): Promise<readonly string[]> {
  const slugs = await knownSlugs(ledger);
  for await (const items of queryPages(ledger, AWAITING_GENERATION)) {
    for (const { value } of items) for (const slug of Object.keys(value?.revisions ?? {})) slugs.add(slug);
  }
  return [...slugs].filter((slug) => slug > after).sort();
}

/** Null if another writer has changed the market in the meantime. */
async function tryRepair(storage: Repair, slug: string): Promise<RepairOutcome | null> {
  const { ledger } = storage;
  const record = await ledger.get(marketKey(slug));
  const observations = await readAll(ledger, observationsOf(slug));
  const mark = await ledger.get(marketMarkKey(slug));
  const index = await ledger.get(marketIndexKey(slug));
  const isDue = record === null || (await isDueKnown(ledger, slug, record.value));
  if (record === null) {
    const isUnknown = observations.length === 0 && mark === null && index === null;
    return isUnknown ? 'unknown' : await removeTorn(storage, slug, observations);
  }
  const versions = mendedVersions(slug, observations);
  const revisions = observations.flatMap(({ revision, value }) => [revision, value.firstRevision ?? 0]);
  const newest = revisions.reduce((most, each) => Math.max(most, each), mark?.revision ?? 0);
  // A mark with a later revision than the record would wait for ever, and in the log a market has the newest revision of
  // all its entries.
  const isThere = record.revision >= newest;
  if (index !== null && isDue && isThere && versions.length === 0 && isRight(record.value, recountOf(observations))) {
    return 'unchanged';
  }
  const revision = 1 + Math.max(record.revision, newest);
  const asRead = { kind: 'revision-is', revision: record.revision } as const;
  const mended = new Map(versions.map(({ from, item }) => [from, { ...item, revision }]));
  const now = observations.map((item) => mended.get(item.sort) ?? item);
  for (const batch of inBatches(changesOf(mended), MAX_TRANSACT_CHANGES - 1)) {
    if (!(await commit(storage, [{ kind: 'check', key: marketKey(slug), if: asRead }, ...batch]))) return null;
  }
  const recount = recountOf(now);
  const updatedAt = lastChangeOf(observations, record.value.updatedAt);
  const value = { ...withRecount(record.value, recount), updatedAt, repairedRevision: revision };
  const dueAt = nextEffectiveAt(value);
  const due = dueAt === null ? [] : [announcedMarketKey(dueAt, slug)];
  const marks = [marketMarkKey(slug), historyMarkKey(slug, ''), marketIndexKey(slug), ...due];
  const isDone = await commit(storage, [
    { kind: 'put', key: marketKey(slug), revision, value, if: asRead },
    ...marks.map((key) => put(key, revision, null)),
    // The market no longer needs to be deferred.
    dropped(deferredKey(slug)),
  ]);
  return isDone ? 'repaired' : null;
}

/** A version that moves is deleted at its old key, unless a later version moves there. */
function changesOf(mended: ReadonlyMap<string, StoredObservation>): readonly Change[] {
  const places = new Set([...mended.values()].map(({ sort }) => sort));
  return [...mended].flatMap(([from, { partition, sort, revision, value, attemptId }]): Change[] => {
    const moved = { kind: 'put', key: { partition, sort }, revision, value } as const;
    if (sort === from) return [{ ...moved, if: { kind: 'written-by', attemptId } }];
    const here: Change = { ...moved, if: { kind: 'any' } };
    return places.has(from) ? [here] : [here, dropped({ partition, sort: from })];
  });
}

/**
 * Whether the next announced value has its item. Without that item, the publisher would miss the moment at which the value
 * becomes effective.
 */
async function isDueKnown(ledger: Repair['ledger'], slug: string, record: MarketRecordValue): Promise<boolean> {
  const at = record.removal === undefined ? nextEffectiveAt(record) : null;
  return at === null || (await ledger.get(announcedMarketKey(at, slug))) !== null;
}

function isRight(record: MarketRecordValue, recount: Recount): boolean {
  return isDeepStrictEqual(record, counted(record, recount));
}

/** A recount without announced values removes the member. */
function counted({ announced, ...record }: MarketRecordValue, recount: Recount): MarketRecordValue {
  return { ...record, ...recount };
}

/** A comparison refers to one version of an observation. If another version is the latest, the comparison is dropped. */
function withRecount(record: MarketRecordValue, recount: Recount): MarketRecordValue {
  const { standing } = record;
  if (standing === undefined) return counted(record, recount);
  const isSame = (metric: string) => record.latest[metric]?.order === recount.latest[metric]?.order;
  const comparisons = Object.fromEntries(Object.entries(standing.comparisons).filter(([metric]) => isSame(metric)));
  return { ...counted(record, recount), standing: { ...standing, comparisons } };
}

/** Removes observations without a record. The refresh mark removes the market from the published state, if it is published. */
async function removeTorn(
  storage: Repair,
  slug: string,
  observations: readonly StoredObservation[],
): Promise<RepairOutcome | null> {
  const marks = [marketMarkKey(slug), marketIndexKey(slug), deferredKey(slug)];
  const gone = [...observations, ...(await readAll(storage.ledger, historyMarksOf(slug))), ...marks];
  const absent: Change = { kind: 'check', key: marketKey(slug), if: { kind: 'absent' } };
  for (const batch of inBatches<ItemKey<unknown>>(gone, MAX_TRANSACT_CHANGES - 2)) {
    if (!(await commit(storage, [absent, refreshMark(slug), ...batch.map(dropped)]))) return null;
  }
  return 'removed';
}
