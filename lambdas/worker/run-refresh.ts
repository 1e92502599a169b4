/** Sets refresh marks, one transaction at a time. Then the publication that asked for them starts to wait for a generation. */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { put, replaced } from '../../storage/ports/changes.ts';
import { type Change, type Ledger, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { readPage } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { awaitingGenerationKey, refreshMark } from '../../storage/records/publication.ts';
import type { WorkOf } from './leases.ts';
import type { StepOutcome } from './run-work.ts';

export interface RefreshDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'query' | 'transact'>;
}

/** One change is for the work item. */
const MARKS_AT_ONCE = MAX_TRANSACT_CHANGES - 1;

/**
 * Marks the next markets. The work item records the marked slugs in the same transactions. The publication starts to wait in a
 * later transaction than the last marks. So a publisher that sees it waiting also finds every mark.
 *
 * @throws StorageUnavailable if storage fails: call it again
 */
export async function runRefresh(
  { ledger, newAttemptId }: RefreshDependencies,
  item: WorkOf<'refresh'>,
): Promise<StepOutcome> {
  const { after } = item.value;
  const changes = after === null ? end(item) : await nextMarks(ledger, item, after);
  const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
  // Refused if the item was changed by another worker, or by a transaction whose answer was lost.
  return committed && after === null ? 'done' : { more: [] };
}

async function nextMarks(
  ledger: RefreshDependencies['ledger'],
  item: WorkOf<'refresh'>,
  after: string,
): Promise<readonly Change[]> {
  const { slugs, next } = await slugsAfter(ledger, item.value.markets, after);
  return [replaced(item, { ...item.value, after: next }), ...slugs.map(refreshMark)];
}

/** The next slugs, of these markets or of all, and the slug after which to continue; null at the end. */
async function slugsAfter(
  ledger: RefreshDependencies['ledger'],
  markets: readonly string[] | null,
  after: string,
): Promise<{ readonly slugs: readonly string[]; readonly next: string | null }> {
  if (markets === null) {
    const options = { limit: MARKS_AT_ONCE, ...(after === '' ? {} : { after }) };
    const { items, next } = await readPage(ledger, MARKET_INDEX, options);
    return { slugs: items.map(({ sort }) => sort), next };
  }
  const left = markets.filter((slug) => slug > after).sort();
  const slugs = left.slice(0, MARKS_AT_ONCE);
  return { slugs, next: slugs.length < left.length ? (slugs.at(-1) ?? null) : null };
}

function end({ partition, sort, revision, value: { publication } }: WorkOf<'refresh'>): readonly Change[] {
  const done: Change = { kind: 'delete', key: { partition, sort }, if: { kind: 'revision-is', revision } };
  if (publication === null) return [done];
  return [done, put(awaitingGenerationKey(`publication/${publication}`), 0, null)];
}
