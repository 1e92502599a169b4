/** Which files readers may still request. */
import { RATES_KEPT_DAYS } from '../../../contract/bodies/compat-limits.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { COMPAT_PARTS, partOfRecord } from '../../../storage/records/compat.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject } from '../../kernel/projection.ts';
import { dateOf, partOfFile } from './names.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** All objects if the deployment makes no such files any more. Otherwise rates of expired days, and parts without a record. */
export async function unreachableCompat(
  { ledger, nowMs, projections }: Pick<PublisherStorage, 'ledger' | 'nowMs' | 'projections'>,
  objects: readonly OwnedObject[],
): Promise<readonly string[]> {
  // A command that does not know the deployment's kinds removes nothing.
  if (projections?.has('compat') === false) return objects.map(({ key }) => key);
  const firstKept = new Date(nowMs() - RATES_KEPT_DAYS * DAY_MS).toISOString().slice(0, '2026-11-22'.length);
  const parts = new Set((await readAll(ledger, COMPAT_PARTS)).map(partOfRecord));
  return objects.flatMap(({ key, name }) => {
    const file = name !== null && 'file' in name ? name.file : '';
    const part = partOfFile(file);
    const isOld = (dateOf(file) ?? firstKept) < firstKept;
    return isOld || (part !== undefined && !parts.has(part)) ? [key] : [];
  });
}
