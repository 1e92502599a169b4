/**
 * Removes what the sweep has removed in the first store, a day later or more: an object that a walk does not find there
 * is remembered, and the next walk, a day after it, removes it if it is still absent. Walks are made only while the second store
 * shows the newest generation, so what is absent from the first is not led to by the second either. A first store without a
 * snapshot has lost more, and nothing is removed.
 */
import { PUBLIC_PREFIX, publicKey } from '../../contract/files/public-objects.ts';
import { presentAmong } from './copy-all.ts';
import { readNote, writeNote } from './state.ts';
import type { CopyStorage } from './stores.ts';

interface Walk {
  readonly startedAtMs: number;
  /** Null: the walk has ended. */
  readonly after: string | null;
  /** Not in the first store, as this walk and the one before have found. */
  readonly absent: readonly string[];
  readonly absentBefore: readonly string[];
}

const NO_WALK: Walk = { startedAtMs: 0, after: null, absent: [], absentBefore: [] };
const NOTE = 'absent.json';
const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the number of removed objects. */
export async function removeAbsent(storage: CopyStorage, generation: number): Promise<number> {
  const { first, second, nowMs, hasTime } = storage;
  const last = (await readNote<Walk>(second, NOTE)) ?? NO_WALK;
  if (last.after === null && nowMs() - last.startedAtMs < DAY_MS) return 0;
  const begun: Walk =
    last.after === null ? { startedAtMs: nowMs(), after: '', absent: [], absentBefore: last.absent } : last;
  if ((await first.stat(publicKey({ kind: 'snapshot' }))) === null) return 0;
  const due = new Set(begun.absentBefore);
  const absent = [...begun.absent];
  let { after } = begun;
  let removed = 0;
  while (after !== null && hasTime()) {
    const page: Awaited<ReturnType<typeof second.list>> = await second.list(`${PUBLIC_PREFIX}/`, { after });
    const present = await presentAmong(first, after, page.keys.at(-1) ?? '');
    for (const key of page.keys.filter((one) => !present.has(one))) {
      if (due.has(key) && (await remove(storage, key, generation))) removed++;
      else absent.push(key);
    }
    after = page.next;
  }
  await writeNote(second, NOTE, { ...begun, after, absent } satisfies Walk);
  return removed;
}

/** An object that came back meanwhile, in either store, stays. */
async function remove({ first, second }: CopyStorage, key: string, generation: number): Promise<boolean> {
  const there = await second.stat(key);
  if (there === null || there.metadata.generation > generation || (await first.stat(key)) !== null) return false;
  return (await second.delete(key, there.etag)) === 'deleted';
}
