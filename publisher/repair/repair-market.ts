/**
 * Repairs a market whose record and observations do not belong together: a backup or a point-in-time restore may hold part of a
 * transaction. What is there counts: the record is made to say what the observations add up to.
 *
 * Safety: the record is written under the condition that nobody has moved it since it was read. A writer that commits meanwhile
 * moves it, and the repair begins again; so nothing that was acknowledged is taken for torn.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Change, type Item, MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import { inBatches, queryPages, readAll } from '../../storage/paging.ts';
import {
  MARKET_INDEX,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  observationsOf,
} from '../../storage/records/markets.ts';
import { FRESH_MARKS, historyMarkKey, marketMarkKey, parseMark, putOffKey } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { mendedLinks, type Recount, recountOf, type StoredObservation } from './recount.ts';

/** `removed`: the ledger has observations of the market and no record, so nothing says what they are of. They are removed. */
export type RepairOutcome = 'unchanged' | 'repaired' | 'removed';

const MAX_TRIES = 10;

type Repair = Pick<PublisherStorage, 'ledger' | 'newAttemptId'>;

/** Repairs one market. Throws when it is written to faster than it can be read. */
export async function repairMarket(storage: Repair, slug: string): Promise<RepairOutcome> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await tryRepair(storage, slug);
    if (outcome !== null) return outcome;
  }
  throw new Error(`${slug} was written to during each of ${MAX_TRIES} repairs: try it again`);
}

/**
 * Repairs every market that needs it, in order of the slugs.
 *
 * @param after begins behind this slug; '' for all
 * @param hasTime asked before each market: false ends it
 * @returns what was done to whom, and where to go on; null at the end
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
    if (outcome !== 'unchanged') outcomes.set(slug, outcome);
    last = slug;
  }
  return { outcomes, next: null };
}

/** Those in the index, and those of which only a mark is there. */
async function slugsToRepair({ ledger }: Repair, after: string): Promise<readonly string[]> {
  const slugs = new Set<string>();
  for await (const items of queryPages(ledger, MARKET_INDEX)) for (const { sort } of items) slugs.add(sort);
  for await (const items of queryPages(ledger, FRESH_MARKS)) for (const mark of items) slugs.add(parseMark(mark).slug);
  return [...slugs].filter((slug) => slug > after).sort();
}

/** Null when somebody has written to the market meanwhile. */
async function tryRepair({ ledger, newAttemptId }: Repair, slug: string): Promise<RepairOutcome | null> {
  const record = await ledger.get(marketKey(slug));
  const observations = await readAll(ledger, observationsOf(slug));
  if (record === null) return await removeTorn({ ledger, newAttemptId }, slug, observations);
  const links = mendedLinks(observations);
  const isIndexed = (await ledger.get(marketIndexKey(slug))) !== null;
  if (isIndexed && links.length === 0 && isRight(record.value, recountOf(observations))) return 'unchanged';

  const revision = Math.max(record.revision, ...observations.map((item) => item.revision)) + 1;
  const mended = new Map(links.map((item) => [item.sort, { ...item, revision }]));
  for (const batch of inBatches([...mended.values()], MAX_TRANSACT_CHANGES - 1)) {
    const check: Change = {
      kind: 'check',
      key: marketKey(slug),
      if: { kind: 'revision-is', revision: record.revision },
    };
    const puts = batch.map((item): Change => {
      const { partition, sort, value, attemptId } = item;
      return { kind: 'put', key: { partition, sort }, revision, value, if: { kind: 'written-by', attemptId } };
    });
    if (!(await ledger.transact([check, ...puts], { attemptId: newAttemptId() })).committed) return null;
  }
  const recount = recountOf(observations.map((item) => mended.get(item.sort) ?? item));
  const any = { kind: 'any' } as const;
  const marks = [marketMarkKey(slug), historyMarkKey(slug, ''), marketIndexKey(slug)];
  const changes: Change[] = [
    {
      kind: 'put',
      key: marketKey(slug),
      revision,
      value: withRecount(record.value, recount),
      if: { kind: 'revision-is', revision: record.revision },
    },
    ...marks.map((key): Change => ({ kind: 'put', key, revision, value: null, if: any })),
  ];
  return (await ledger.transact(changes, { attemptId: newAttemptId() })).committed ? 'repaired' : null;
}

function isRight(record: MarketRecordValue, recount: Recount): boolean {
  return isDeepStrictEqual(record, { ...record, ...recount });
}

/** A comparison is about one version of an observation: where another is the latest, it says nothing any more. */
function withRecount(record: MarketRecordValue, recount: Recount): MarketRecordValue {
  const { standing } = record;
  if (standing === undefined) return { ...record, ...recount };
  const isSame = (metric: string) => record.latest[metric]?.order === recount.latest[metric]?.order;
  const comparisons = Object.fromEntries(Object.entries(standing.comparisons).filter(([metric]) => isSame(metric)));
  return { ...record, ...recount, standing: { ...standing, comparisons } };
}

async function removeTorn(
  { ledger, newAttemptId }: Repair,
  slug: string,
  observations: readonly StoredObservation[],
): Promise<RepairOutcome | null> {
  const marks = [marketMarkKey(slug), historyMarkKey(slug, ''), marketIndexKey(slug), putOffKey(slug)];
  const gone: readonly Pick<Item, 'partition' | 'sort'>[] = [...observations, ...marks];
  const absent: Change = { kind: 'check', key: marketKey(slug), if: { kind: 'absent' } };
  for (const batch of inBatches(gone, MAX_TRANSACT_CHANGES - 1)) {
    const deletes = batch.map(({ partition, sort }): Change => {
      return { kind: 'delete', key: { partition, sort }, if: { kind: 'any' } };
    });
    if (!(await ledger.transact([absent, ...deletes], { attemptId: newAttemptId() })).committed) return null;
  }
  return 'removed';
}
