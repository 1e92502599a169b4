/**
 * Repairs as a Lambda function, invoked by hand. With `{ "restore": true }` it has the publisher go on from a store that is
 * later than the ledger, as after a restore of the table. May be invoked again.
 */
import { resume } from '../repair/resume.ts';
import { log } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

/** Answers with the generation from which the publisher goes on; null when nothing was ever published. */
export async function handler(event: unknown): Promise<{ readonly generation: number | null }> {
  const isRestore = typeof event === 'object' && event !== null && 'restore' in event && event.restore === true;
  if (!isRestore) throw new RangeError('nothing was repaired: invoke it with { "restore": true }');
  const generation = await resume(storage);
  log('info', 'resumed', { generation });
  return { generation };
}
