/**
 * Garbage collection as a Lambda function, on a schedule. The only function with permission to delete public objects
 * and bundles: no publisher deletes any. Invoked by hand with `{ "dryRun": true }` it removes nothing.
 */
import { collectGarbage } from '../collect-garbage.ts';
import { log } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

/** Objects of one run: some minutes' work. What is left is for the next. */
const MAX_REMOVALS = 10_000;

export async function handler(event: unknown): Promise<void> {
  const dryRun = typeof event === 'object' && event !== null && 'dryRun' in event && event.dryRun === true;
  const { removed, kept, prunedRecords, unknown, capped } = await collectGarbage(storage, {
    dryRun,
    maxRemovals: MAX_REMOVALS,
  });
  for (const key of unknown) log('error', 'an object that no rule knows', { key });
  log('info', 'collected', { dryRun, removed: removed.length, kept, prunedRecords, unknown: unknown.length, capped });
}
