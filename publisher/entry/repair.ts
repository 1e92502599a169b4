/**
 * Repairs as a Lambda function, invoked by hand as docs/operations.md says. Each of them may be repeated.
 *
 * - `{ "market": "gold-usd" }` sets the record of one market to the sum of its observations.
 * - `{ "restore": true }` does so for every market that needs it. Then publishing continues above the generation of a store
 *   that is later than the ledger. If the answer has a `next`, the time was too short: invoke it again with `"after"` set
 *   to that slug.
 * - `{ "rebuild": true }` requests that everything is published again, in place: after files were lost.
 * - `{ "migrate": true }` migrates a ledger of an earlier version to the format of this one. If the answer is `unfinished`,
 *   invoke it again.
 */

import { logLine } from '../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { type MigrationOutcome, migrateLedger, moveItems } from '../../storage/ports/migrate-ledger.ts';
import { type RepairOutcome, repairOne } from '../repair/repair-market.ts';
import { restore } from '../repair/restore.ts';
import { assertApplied, resume } from '../repair/resume.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

/** The time for marking every market and counting its published state, after the last repair. */
const RESUMING_MS = 300_000;

export type RepairAnswer =
  | { readonly outcome: RepairOutcome }
  /** The number of repaired markets, which the log names; and the slug to continue after, null at the end. */
  | { readonly repaired: number; readonly next: string | null }
  /** The generation that the next ones come after; null if nothing was ever published. */
  | { readonly generation: number | null }
  | { readonly ledger: MigrationOutcome };

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<RepairAnswer> {
  const asked = Object(event) as { readonly [name: string]: unknown };
  const hasTime = () => invocation.getRemainingTimeInMillis() > RESUMING_MS;
  if (asked.migrate === true) return await migrate(hasTime);
  await checkFormat(storage.ledger);
  if (asked.restore === true || asked.rebuild === true) await assertApplied(storage);
  if (typeof asked.market === 'string') return await repairMarket(asked.market);
  if (asked.restore === true) return await restoreAll(typeof asked.after === 'string' ? asked.after : '', hasTime);
  if (asked.rebuild === true) return { generation: await resume(storage) };
  throw new RangeError(
    'nothing was done: invoke it with { "market": "<slug>" }, { "restore": true }, { "rebuild": true } or { "migrate": true }',
  );
}

async function migrate(hasTime: () => boolean): Promise<RepairAnswer> {
  const outcome = await migrateLedger(storage, hasTime);
  // A function of the previous version may have written since the first call.
  const ledger = outcome === 'current' && !(await moveItems(storage, hasTime)) ? 'unfinished' : outcome;
  logLine('info', 'migrated', { ledger });
  return { ledger };
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
