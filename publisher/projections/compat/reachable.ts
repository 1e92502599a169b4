/** Which faces readers may still ask for. */
import { FACE_RATES_KEPT_DAYS } from '../../../contract/files/face-limits.ts';
import { readMany } from '../../../storage/ports/paging.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject } from '../../kernel/projection.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * All, if the deployment has no faces any more. Otherwise those of markets that are not published, and rates of a day
 * long ago. A removed market counts as published: its files say that it was removed.
 */
export async function unreachableFaces(
  { ledger, nowMs, projections }: Pick<PublisherStorage, 'ledger' | 'nowMs' | 'projections'>,
  faces: readonly OwnedObject[],
): Promise<readonly string[]> {
  // A command that does not know the kinds of the deployment removes none.
  if (projections?.has('faces') === false) return faces.map(({ key }) => key);
  const firstKept = new Date(nowMs() - FACE_RATES_KEPT_DAYS * DAY_MS).toISOString().slice(0, '2026-11-22'.length);
  const old = faces.filter(({ name }) => name !== null && 'date' in name && name.date < firstKept);
  const ofMarkets = faces.flatMap(({ key, name }) =>
    name !== null && 'slug' in name ? [{ key, slug: name.slug }] : [],
  );
  const published = await readMany(
    ledger,
    ofMarkets.map(({ slug }) => publishedHeadsKey(slug)),
  );
  return [...old, ...ofMarkets.filter((_, index) => published[index] === null)].map(({ key }) => key);
}
