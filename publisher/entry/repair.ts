/**
 * Repairs as a Lambda function, invoked by hand; docs/operations.md and docs/deploy.md say when. Either may be invoked again.
 *
 * - `{ "market": "gold-usd" }` makes the record of one market say what its observations add up to.
 * - `{ "restore": true }` does so with every market that needs it, and then has the publisher go on from a store that is later
 *   than the ledger. Where the answer has a `next`, there was no time for all: invoke it again with `"after"` that slug.
 */
import type { LambdaInvocation } from '../../contract/aws.ts';
import { type RepairOutcome, repairOne } from '../repair/repair-market.ts';
import { restore } from '../repair/restore.ts';
import { log } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

/** To mark every market and to count what is published of it, after the last repair. */
const RESUMING_MS = 300_000;

export type RepairAnswer =
  | { readonly outcome: RepairOutcome }
  /** How many markets were repaired, which the log names; and where to go on, null at the end. */
  | { readonly repaired: number; readonly next: string | null };

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<RepairAnswer> {
  const { market, restore: isRestore, after } = Object(event) as { readonly [name: string]: unknown };
  if (typeof market === 'string') {
    const outcome = await repairOne(storage, market);
    log('info', 'repaired', { market, outcome });
    return { outcome };
  }
  if (isRestore !== true) {
    throw new RangeError('nothing was repaired: invoke it with { "market": "<slug>" } or { "restore": true }');
  }
  const hasTime = () => invocation.getRemainingTimeInMillis() > RESUMING_MS;
  const { repaired, next } = await restore(storage, { hasTime, ...(typeof after === 'string' ? { after } : {}) });
  for (const [slug, outcome] of repaired) log('info', 'repaired', { market: slug, outcome });
  log('info', 'restored', { repaired: repaired.size, next });
  return { repaired: repaired.size, next };
}
