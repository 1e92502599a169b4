/**
 * Migrates the records of publishing: the pages of the list are in one object now, and HEAD has a partition of its own.
 */
import { removed } from '../changes.ts';
import { formatPut } from '../format.ts';
import { type Change, type Item, MAX_TRANSACT_CHANGES } from '../ledger.ts';
import { inBatches, type KeyRange, queryPages } from '../paging.ts';
import {
  OLD_EVERYTHING_MARK,
  OLD_GENERATIONS,
  OLD_HEAD_KEY,
  OLD_LIST_PAGES,
  OLD_REPUBLISH_KEY,
  OLD_SUPERSEDED_PAGES,
  type OldGenerationValue,
  type OldHeadValue,
  oldRangesOf,
} from '../records/format-1.ts';
import { type GenerationValue, HEAD_KEY, type HeadValue, supersededPageKey } from '../records/publication.ts';
import { changed, commit, type Migration } from './migration.ts';

/** Everything except HEAD. Finished steps leave nothing to find. */
export async function migratePublication(migration: Migration): Promise<void> {
  const { ledger } = migration;
  await changeAll(migration, OLD_GENERATIONS, changedGeneration);
  await changeAll(migration, OLD_SUPERSEDED_PAGES, (item) => {
    const { sort, revision, value } = item;
    return [{ kind: 'put', key: supersededPageKey(sort), revision, value, if: { kind: 'any' } }, removed(item)];
  });
  await changeAll(migration, OLD_LIST_PAGES, (item) => [removed(item)]);
  const republish = await ledger.get(OLD_REPUBLISH_KEY);
  if (republish !== null) {
    await changeAll(migration, oldRangesOf(republish.value.id), (item) => [removed(item)]);
    await commit(migration, [removed(republish)]);
  }
  // Every market has a mark of its own by now.
  const everything = await ledger.get(OLD_EVERYTHING_MARK);
  if (everything !== null) await commit(migration, [removed(everything)]);
}

/** The last step: a ledger with a format has that format completely. */
export async function endPublicationTo2(migration: Migration): Promise<void> {
  const old = await migration.ledger.get(OLD_HEAD_KEY);
  const changes: readonly Change[] = old === null ? [] : [removed(old), headPut(migration, old)];
  await commit(migration, [...changes, formatPut()]);
}

/**
 * The layout of the list is no longer known, so the list is cut again after every market has been rendered. The bundle
 * of a generation that was committed but not applied can no longer be read, so that generation counts as lost.
 */
function headPut({ renderer }: Migration, { revision, value }: Item<OldHeadValue>): Change {
  const { bundleKey, bundleDigest, listDigest, staticDigests = {}, ...kept } = value;
  const head: HeadValue = {
    ...kept,
    bundle: { key: bundleKey, digest: bundleDigest },
    staticDigests,
    list: {
      generation: kept.generation,
      shows: kept.generation,
      digest: listDigest,
      markets: kept.counts.markets,
      publishedAtMs: 0,
      layout: null,
      isDoubtful: true,
    },
    renderer,
  };
  return { kind: 'put', key: HEAD_KEY, revision, value: head, if: { kind: 'absent' } };
}

function changedGeneration(item: Item<OldGenerationValue>): readonly Change[] {
  const { generation, publishedAt, appliedAtMs, bundleKey } = item.value;
  if (bundleKey === undefined) return [];
  return [changed<GenerationValue>(item, { generation, publishedAt, appliedAtMs, layout: null })];
}

/** Changes each item of a range, with at most two changes for each. */
async function changeAll<Value>(
  migration: Migration,
  range: KeyRange<Value>,
  changesOf: (item: Item<Value>) => readonly Change[],
): Promise<void> {
  for await (const items of queryPages(migration.ledger, range)) {
    for (const batch of inBatches(items, MAX_TRANSACT_CHANGES / 2)) {
      const changes = batch.flatMap(changesOf);
      if (changes.length > 0) await commit(migration, changes);
    }
  }
}
