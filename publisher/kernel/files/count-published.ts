/** Counts the published markets and observations when HEAD's own counts cannot be trusted. */
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { inBatches, readMany } from '../../../storage/ports/paging.ts';
import { type HeadValue, publishedHeadsKey } from '../../../storage/records/publication.ts';
import { knownSlugs } from '../marks.ts';

/** Bounds the memory. */
const RECORDS_AT_ONCE = 2_000;

/** The published state by the ledger's records. The next generations count from there. */
export async function countPublished(ledger: Ledger): Promise<HeadValue['counts']> {
  const counts = { markets: 0, observations: 0, unknownValues: 0 };
  for (const batch of inBatches([...(await knownSlugs(ledger))], RECORDS_AT_ONCE)) {
    for (const heads of await readMany(ledger, batch.map(publishedHeadsKey))) {
      if (heads === null || heads.value.isRemoved) continue;
      counts.markets++;
      counts.observations += heads.value.observations;
      counts.unknownValues += heads.value.unknownValues;
    }
  }
  return counts;
}
