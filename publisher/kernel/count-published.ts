/** Counts the published markets and observations, when it is not known what HEAD should say of them. */
import type { Ledger } from '../../storage/ports/ledger.ts';
import { inBatches, queryPages, readMany } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import {
  FRESH_MARKS,
  type HeadValue,
  parseMark,
  publishedHeadsKey,
  REFRESH_MARKS,
} from '../../storage/records/publication.ts';

/** Bounds the memory. */
const RECORDS_AT_ONCE = 2_000;

/** The published state by the ledger's records. The next generations count from there. */
export async function countPublished(ledger: Ledger): Promise<HeadValue['counts']> {
  const counts = { markets: 0, observations: 0, unknownValues: 0 };
  for (const batch of inBatches([...(await publishedSlugs(ledger))], RECORDS_AT_ONCE)) {
    for (const heads of await readMany(ledger, batch.map(publishedHeadsKey))) {
      if (heads === null || heads.value.isRemoved) continue;
      counts.markets++;
      counts.observations += heads.value.observations;
      counts.unknownValues += heads.value.unknownValues;
    }
  }
  return counts;
}

/** A removed market stays marked until a generation without it is applied; that generation also reduces the counts. */
async function publishedSlugs(ledger: Ledger): Promise<ReadonlySet<string>> {
  const slugs = new Set<string>();
  for await (const items of queryPages(ledger, MARKET_INDEX)) for (const { sort } of items) slugs.add(sort);
  for (const marks of [FRESH_MARKS, REFRESH_MARKS]) {
    for await (const items of queryPages(ledger, marks)) for (const mark of items) slugs.add(parseMark(mark).slug);
  }
  return slugs;
}
