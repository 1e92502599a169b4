/**
 * Repairs as a Lambda function, invoked by hand as docs/operations.md says. Each of them may be repeated.
 *
 * - `{ "market": "gold-usd" }` sets the record of one market to the sum of its observations.
 * - `{ "restore": true }` does so for every market that needs it. Then publishing continues above the generation of a
 *   store that is later than the ledger. If the answer has a `next`, there was not enough time: invoke it again with
 *   `"after"` set to that slug.
 */
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { type RepairOutcome, repairOne } from '../repair/repair-market.ts';
import { restore } from '../repair/restore.ts';
import { logLine } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

/** The time for marking every market and counting its published state, after the last repair. */
const RESUMING_MS = 300_000;

export type RepairAnswer =
  | { readonly outcome: RepairOutcome }
  /** The number of repaired markets, which the log names; and the slug to continue after, null at the end. */
  | { readonly repaired: number; readonly next: string | null };

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<RepairAnswer> {
  const asked = Object(event) as { readonly [name: string]: unknown };
  const hasTime = () => invocation.getRemainingTimeInMillis() > RESUMING_MS;
  await checkFormat(storage.ledger);
  if (typeof asked.market === 'string') return await repairMarket(asked.market);
  if (asked.restore === true) return await restoreAll(typeof asked.after === 'string' ? asked.after : '', hasTime);
  throw new RangeError('nothing was repaired: invoke it with { "market": "<slug>" } or { "restore": true }');
}

async function repairMarket(market: string): Promise<RepairAnswer> {
  const outcome = await repairOne(storage, market);
  logLine('info', 'repaired', { market, outcome });
  return { outcome };
}

async function restoreAll(after: string, hasTime: () => boolean): Promise<RepairAnswer> {
  const { repaired, next } = await restore(storage, { after, hasTime });
  for (const [slug, outcome] of repaired) logLine('info', 'repaired', { market: slug, outcome });
  logLine('info', 'restored', { repaired: repaired.size, next });
  return { repaired: repaired.size, next };
}
