/**
 * Follows the first store: applies the bundle of each generation to the second store, in the order of generations and
 * in the order of links, as the publisher has applied it (kernel/apply.ts). So a round costs what has changed. The
 * pages of a generation are not in its bundle: its records and the layout of its list name them, and they come first.
 */
import pMap from 'p-map';
import { cursorGeneration } from '../../contract/files/cursors.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import {
  GENERATIONS,
  type GenerationValue,
  generationKey,
  HEAD_KEY,
  pageOfRecord,
} from '../../storage/records/publication.ts';
import { BundleLost } from '../errors.ts';
import { putBodies, putPlace } from '../kernel/apply.ts';
import { type BundleLine, readBundle } from '../kernel/bundle.ts';
import { readLayoutAt } from '../kernel/list/list-layout.ts';
import type { StateFile } from './state.ts';
import { type CopyStorage, copyImmutable } from './stores.ts';

/** A generation cannot be followed: a ledger was restored, or the copy is more than a day behind. Then everything is copied. */
class Gap extends Error {
  override readonly name = 'Gap';
}

/**
 * - `current`: the second store shows the newest applied generation.
 * - `gap`: a generation is missing.
 * - `unfinished`: the time was over.
 */
export type FollowOutcome = 'current' | 'gap' | 'unfinished';

/** @throws Superseded if another round is running */
export async function follow(storage: CopyStorage, state: StateFile): Promise<FollowOutcome> {
  const head = await storage.ledger.get(HEAD_KEY);
  // A ledger that is behind is being restored: HEAD will be raised above the store's generation.
  if (head === null || head.revision < state.value.generation) return 'unfinished';
  if (head.revision === state.value.generation) return 'current';
  const after = generationKey(state.value.generation).sort;
  try {
    for await (const items of queryPages(storage.ledger, GENERATIONS, { after, limit: 100 })) {
      for (const item of items) {
        if (item.revision !== state.value.generation + 1) throw new Gap(`generation ${item.revision} follows`);
        // The newest generation is not applied in the first store yet, and the copy must not be ahead.
        if (item.value.appliedAtMs === null && item.revision === head.revision) return 'current';
        if (!storage.hasTime()) return 'unfinished';
        await applyAgain(storage, item);
        await state.save({ generation: item.revision });
      }
    }
  } catch (error) {
    if (error instanceof Gap || error instanceof BundleLost) return 'gap';
    throw error;
  }
  return state.value.generation < head.revision ? 'gap' : 'current';
}

async function applyAgain(storage: CopyStorage, { revision, value }: Item<GenerationValue>): Promise<void> {
  const { first, second, concurrency } = storage;
  const { bundle, layout, appliedAtMs } = value;
  // HEAD was raised, the generation was given up, or its version kept no bundles.
  if (!bundle?.key || appliedAtMs === null) throw new Gap(`generation ${revision} has no bundle`);
  const put = async (isDue: (line: BundleLine) => boolean) => {
    for await (const { lines } of readBundle(first, bundle)) {
      await putBodies({ objects: second, concurrency, mayBeNewer: true }, revision, lines.filter(isDue));
    }
  };
  // A record may be in a later part than the body that links to its page, so all records are read first.
  for await (const { lines } of readBundle(first, bundle)) {
    const records = lines.filter((line) => line.kind === 'record');
    await copyPages(storage, records.flatMap((line) => pageOfRecord(line.key, line.value) ?? []).map(publicKey));
  }
  await put((line) => !isAfterList(line));
  // List pages come last: a reader may have a cursor of the first region, and a page must not lead to older markets.
  if (layout !== null) {
    const pages = (await readLayoutAt(first, layout))?.pages ?? [];
    const isNew = ({ cursor }: { readonly cursor: string }) => cursorGeneration(cursor) === revision;
    await copyPages(
      storage,
      pages.filter(isNew).map(({ cursor }) => publicKey({ kind: 'market-list-page', cursor })),
    );
  }
  await put(isAfterList);
}

const LIST_PLACE = putPlace({ key: publicKey({ kind: 'market-list' }) });

function isAfterList(line: BundleLine): boolean {
  return line.kind === 'put' && putPlace(line) >= LIST_PLACE;
}

async function copyPages(storage: CopyStorage, keys: readonly string[]): Promise<void> {
  const copy = async (key: string) => {
    if (!(await copyImmutable(storage, key))) throw new Gap(`${key} is gone`);
  };
  await pMap(keys, copy, { concurrency: storage.concurrency.objects });
}
