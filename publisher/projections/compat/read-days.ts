import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { Superseded } from '../../errors.ts';
import { type DayPrice, DayPrices } from './day-prices.ts';

interface HistoryBody {
  readonly data: readonly PublicObservation[];
  readonly page: { readonly nextCursor: string | null };
}

/**
 * One price a day, oldest first. One page is in memory at a time.
 *
 * @throws Superseded if a page is gone: the market has just changed, or was removed
 */
export async function readDays(
  storage: Pick<PublisherStorage, 'objects'>,
  slug: string,
  most: number,
  yieldToEventLoop: () => Promise<void>,
): Promise<readonly DayPrice[]> {
  const prices = new DayPrices(most);
  for await (const page of publishedHistory(storage, slug)) {
    await yieldToEventLoop();
    if (!prices.addAll(page)) break;
  }
  return prices.days;
}

/** Newest first. @throws Superseded if a page is gone: the market has just changed, or was removed */
export async function* publishedHistory(
  { objects }: Pick<PublisherStorage, 'objects'>,
  slug: string,
): AsyncGenerator<readonly PublicObservation[]> {
  for (let name: PublicObjectName | null = { kind: 'history', slug }; name !== null; ) {
    const found = await objects.get(publicKey(name));
    if (found.kind !== 'found') throw new Superseded(`${publicKey(name)} is not there any more`);
    const { data, page } = JSON.parse(Buffer.from(found.body).toString('utf8')) as HistoryBody;
    // A removed market has a problem document.
    if (data === undefined) throw new Superseded(`${slug} was removed`);
    yield data;
    name = page.nextCursor === null ? null : { kind: 'history-page', slug, cursor: page.nextCursor };
  }
}
