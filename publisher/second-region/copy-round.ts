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
import { queryPages } from '../../storage/ports/paging.ts';
import { GENERATIONS, generationKey, HEAD_KEY } from '../../storage/records/publication.ts';
import { withDrainedWrites } from '../kernel/drained-writes.ts';
import { copyAll } from './copy-all.ts';
import { copyDailyFiles } from './copy-daily.ts';
import { follow } from './follow.ts';
import { StateFile } from './state.ts';
import type { CopyStorage } from './stores.ts';

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
