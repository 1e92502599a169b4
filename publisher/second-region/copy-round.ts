/**
 * One round of the copy in a second region, which serves readers when the first region does not answer. Its store shows a
 * whole generation of the first, which may be an old one (docs/decisions/108).
 *
 * 1. Follow: each generation since the last round is applied to the second store too.
 * 2. If one cannot be followed, everything is copied; then 1 again.
 * 3. Once the second store shows the newest generation: the daily files.
 *
 * The sweep removes from both stores (delete-in-both.ts).
 *
 * Any number of rounds may run at once, and may end at any moment. Every put is conditional on the object that it replaces,
 * and never replaces a newer generation.
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
import { withDrainedWrites } from '../kernel/drained-writes.ts';
import { readLayoutAt } from '../kernel/list/list-layout.ts';
import { copyAll } from './copy-all.ts';
import { copyDailyFiles } from './copy-daily.ts';
import { StateFile } from './state.ts';
import { type CopyStorage, copyImmutable } from './stores.ts';

const DAILY_EVERY_MS = 60 * 60 * 1000;

export interface CopyReport {
  /** The generation that the second store shows; 0: the first copy is incomplete. */
  readonly generation: number;
  /** For how long the first store has shown a newer generation, in milliseconds. 0: both show the same. */
  readonly behindMs: number;
  /** Whether everything is being copied. */
  readonly isFilling: boolean;
  /** Whether another round is running. */
  readonly isBusy: boolean;
}

/**
 * When it rejects, none of its writes is still under way.
 *
 * @param leaseMs the longest duration of the round
 * @throws Superseded if another round has taken over
 * @throws StorageUnavailable if a store failed: call again later
 * @throws ImmutableMismatch, StorageCorrupt if a person must look into it
 */
export async function copyRound(storage: CopyStorage, leaseMs: number): Promise<CopyReport> {
  const { second, nowMs } = storage;
  const state = await StateFile.open(second);
  const isBusy = state.value.leaseUntilMs > nowMs();
  if (!isBusy) {
    await state.save({ leaseUntilMs: nowMs() + leaseMs });
    try {
      await withDrainedWrites({ objects: second }, ({ objects }) => copyDue({ ...storage, second: objects }, state));
    } finally {
      // The lease ends after a failure too, so that each round reports the failure instead of finding the copy busy.
      await state.save({ leaseUntilMs: 0 });
    }
  }
  const { generation, filling } = state.value;
  const behindMs = await behind(storage, generation);
  return { generation, behindMs, isFilling: filling !== undefined, isBusy };
}

async function copyDue(storage: CopyStorage, state: StateFile): Promise<void> {
  const { nowMs, hasTime } = storage;
  const isFilling = state.value.filling !== undefined || state.value.generation === 0;
  let outcome = isFilling ? ('gap' as const) : await follow(storage, state);
  if (outcome === 'gap') outcome = (await copyAll(storage, state)) ? await follow(storage, state) : 'unfinished';
  if (outcome !== 'current' || !hasTime()) return;
  const { generation, dailyAtMs } = state.value;
  if (nowMs() - dailyAtMs >= DAILY_EVERY_MS && (await copyDailyFiles(storage, generation)))
    await state.save({ dailyAtMs: nowMs() });
}

/** Since the first generation that is not copied was applied, in milliseconds. */
async function behind({ ledger, nowMs }: CopyStorage, generation: number): Promise<number> {
  const head = await ledger.get(HEAD_KEY);
  if (head === null || head.revision <= generation) return 0;
  const after = generationKey(generation).sort;
  for await (const [next] of queryPages(ledger, GENERATIONS, { after, limit: 1 })) {
    const appliedAtMs = next?.value.appliedAtMs;
    return appliedAtMs ? Math.max(0, nowMs() - appliedAtMs) : 0;
  }
  return 0;
}

/** A generation cannot be followed: a ledger was restored, or the copy is more than a day behind. Then everything is copied. */
class Gap extends Error {
  override readonly name = 'Gap';
}

/**
 * - `current`: the second store shows the newest applied generation.
 * - `gap`: a generation is missing.
 * - `unfinished`: the time was over.
 */
type FollowOutcome = 'current' | 'gap' | 'unfinished';

/**
 * Applies the bundle of each generation to the second store, in the order of generations and in the order of links, as the
 * publisher has applied it (kernel/apply.ts). So a round costs what has changed. The pages of a generation are not in its
 * bundle: its records and the layout of its list name them, and they come first.
 *
 * @throws Superseded if another round is running
 */
async function follow(storage: CopyStorage, state: StateFile): Promise<FollowOutcome> {
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
