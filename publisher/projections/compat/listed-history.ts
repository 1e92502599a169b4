/**
 * The history of a market as the published list shows the market. The list is read before the histories, and may be published
 * less often, so the stored pages of a history may already have later versions.
 */
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { queryPages } from '../../../storage/ports/paging.ts';
import { firstOrderOf, observationsOf, orderOfObservation } from '../../../storage/records/markets.ts';
import { publicObservation } from '../../core/bodies/render.ts';
import { storedHistory } from '../../core/bodies/stored-history.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { Superseded } from '../../errors.ts';

type ListedMarket = Pick<Market, 'history' | 'revision' | 'slug' | 'unit'>;

/** Receives a history, newest first. */
interface Reader {
  /** False: it needs no further observations. */
  addAll(observations: readonly PublicObservation[]): boolean;
}

/**
 * Gives a reader what it needs of the history. Usually that is in the store; the ledger is asked only if the store may be later
 * than the list.
 *
 * @param begin a reader that has received nothing
 * @throws Superseded if a page is gone: the market has just changed, or was removed
 */
export async function readListed<Read extends Reader>(
  { ledger, objects }: Pick<PublisherStorage, 'ledger' | 'objects'>,
  market: ListedMarket,
  begin: () => Read,
  yieldToEventLoop: () => Promise<void>,
): Promise<Read> {
  const { slug, history } = market;
  const missing = (key: string) => new Superseded(`${key} is not there any more`);
  const read = async (pages: AsyncIterable<readonly PublicObservation[]>) => {
    const reader = begin();
    let count = 0;
    let isWhole = true;
    for await (const page of pages) {
      await yieldToEventLoop();
      count += page.length;
      isWhole = reader.addAll(page);
      if (!isWhole) break;
    }
    return { reader, isAsListed: isWhole && count === history.count };
  };
  const stored = await read(storedHistory(objects, slug, undefined, missing));
  return stored.isAsListed ? stored.reader : (await read(historyAt(ledger, market))).reader;
}

/** The history at the market's revision. Every version is a row, so a later revision only adds rows and supersedes some. */
async function* historyAt(ledger: Pick<Ledger, 'query'>, { slug, revision, unit }: ListedMarket) {
  let place = '';
  for await (const items of queryPages(ledger, observationsOf(slug), { descending: true })) {
    yield items.flatMap((item) => {
      if ((item.value.firstRevision ?? item.revision) > revision) return [];
      const own = firstOrderOf(orderOfObservation(item));
      const isNewest = own !== place;
      place = own;
      const value = isNewest ? { ...item.value, supersededAt: null, supersededBy: null } : item.value;
      return [publicObservation(value, unit.quantity) as unknown as PublicObservation];
    });
  }
}
