/** Which compat readers may still ask for. */
import { RATES_KEPT_DAYS } from '../../../contract/files/compat-limits.ts';
import { readMany } from '../../../storage/ports/paging.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject } from '../../kernel/projection.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * All, if the deployment has no compat any more. Otherwise those of markets that are not published, and rates of a day
 * long ago. A removed market counts as published: its files say that it was removed.
 */
export async function unreachableCompat(
  { ledger, nowMs, projections }: Pick<PublisherStorage, 'ledger' | 'nowMs' | 'projections'>,
  compat: readonly OwnedObject[],
): Promise<readonly string[]> {
  // A command that does not know the kinds of the deployment removes none.
  if (projections?.has('compat') === false) return compat.map(({ key }) => key);
  const firstKept = new Date(nowMs() - RATES_KEPT_DAYS * DAY_MS).toISOString().slice(0, '2026-11-22'.length);
  const old = compat.filter(({ name }) => name !== null && 'date' in name && name.date < firstKept);
  const ofMarkets = compat.flatMap(({ key, name }) =>
    name !== null && 'slug' in name ? [{ key, slug: name.slug }] : [],
  );
  const published = await readMany(
    ledger,
    ofMarkets.map(({ slug }) => publishedHeadsKey(slug)),
  );
  return [...old, ...ofMarkets.filter((_, index) => published[index] === null)].map(({ key }) => key);
}
