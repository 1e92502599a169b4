/** Reads announced values of a market by the places that its record names. */
import type { Metric } from '../../contract/values/metric.ts';
import type { Item, LedgerReader } from '../../storage/ports/ledger.ts';
import { readMany } from '../../storage/ports/paging.ts';
import { announcedPlaces } from '../../storage/records/announced-values.ts';
import {
  firstOrderOf,
  type MarketRecordValue,
  type ObservationValue,
  observationKey,
} from '../../storage/records/markets.ts';
import { metricPart } from '../../storage/records/newest-values.ts';
import { Contended } from '../worker/contended.ts';
import type { MarketInput } from './market-decision.ts';

type Market = Item<MarketRecordValue>;

/**
 * For each metric whose first announced value may be taken away: the announced value that then comes first, by its place. Reads
 * nothing if no first value may be taken away.
 *
 * @param taken observations that may be taken away, by the places of their first versions
 * @throws as {@link readAnnounced}
 */
export async function readNextAnnounced(
  ledger: LedgerReader,
  slug: string,
  market: Market | null,
  taken: ReadonlySet<string>,
): Promise<NonNullable<MarketInput['announced']>> {
  const isTaken = (place: string) => taken.has(firstOrderOf(place));
  const places = Object.values(market?.value.announced ?? {}).flatMap((values) => {
    const next = isTaken(values.order) ? announcedPlaces(values).find((place) => !isTaken(place)) : undefined;
    return next ?? [];
  });
  if (market === null || places.length === 0) return new Map<string, Metric>();
  const items = await readAnnounced(ledger, slug, places);
  return new Map(items.map(({ value }, index) => [places[index] as string, metricPart(value)]));
}

/**
 * The observations at these places, in their order.
 *
 * @throws Contended if one is not visible yet. The record names it, so its transaction is committed
 */
export async function readAnnounced(
  ledger: LedgerReader,
  slug: string,
  places: readonly string[],
): Promise<readonly Item<ObservationValue>[]> {
  const items = await readMany(
    ledger,
    places.map((place) => observationKey(slug, place)),
  );
  return items.map((item, index) => {
    if (item === null) throw new Contended(`${slug}: the announced value at ${places[index]} is not visible yet`);
    return item;
  });
}
