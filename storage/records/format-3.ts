/**
 * The keys of format 3 that are spelled differently now: busy ranges were not divided among partitions yet
 * (docs/decisions/103). For the migration, and for redo bundles that an earlier version has written.
 *
 * | partition             | sort                        | now                                      |
 * |-----------------------|-----------------------------|------------------------------------------|
 * | `dirty`               | as now                      | {@link marketMarkKey} and its neighbours |
 * | `list-changes`        | as now                      | {@link listChangeKey}                    |
 * | `awaiting-generation` | as now                      | {@link awaitingGenerationKey}            |
 * | `generation-of`       | as now                      | {@link generationOfKey}                  |
 * | `work`                | `[~lane/<lane>/]<work id>` | {@link workKey}                          |
 *
 * Audit records stay where they are: see `auditOfDay`.
 */
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange } from '../ports/paging.ts';
import { workIdOf, workKey } from './batches.ts';
import { awaitingGenerationKey, generationOfKey, listChangeKey, marketMarkKey, parseMark } from './publication.ts';

/** Work names its lane; a mark has no value. */
export type MovedValue = { lane?: string } | null;

const MOVED: { readonly [partition: string]: (sort: string, value: MovedValue) => ItemKey<unknown> } = {
  dirty: (sort) => ({ partition: marketMarkKey(parseMark({ sort }).slug).partition, sort }),
  'list-changes': (sort) => listChangeKey(sort),
  'awaiting-generation': (sort) => awaitingGenerationKey(sort),
  'generation-of': (sort) => generationOfKey(sort),
  work: (sort, value) => workKey(workIdOf({ sort }), value?.lane),
};

/** Partitions of which every item has another key now. */
export const MOVED_PARTITIONS: readonly string[] = Object.keys(MOVED);
export const movedRange = (partition: string): KeyRange<MovedValue> => ({ partition });

/** The present key of an item of format 3. */
export function keyOfToday({ partition, sort }: ItemKey<unknown>, value: MovedValue = null): ItemKey<MovedValue> {
  const key = MOVED[partition]?.(sort, value) ?? { partition, sort };
  return { partition: key.partition, sort: key.sort };
}
