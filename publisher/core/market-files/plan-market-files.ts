/** Plans the files of one market: those whose bytes change, or the problem documents that replace them. */
import { publicKey } from '../../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { HeadPut } from '../../kernel/bundle.ts';
import { compareWithStored } from '../../kernel/files/stored-digest.ts';
import type { HistoryPlan } from '../../kernel/market-view.ts';
import { type MarketContext, type MarketPart, NO_PART } from '../../kernel/projection.ts';
import { newestPrices, readRecentPrices } from '../bodies/recent-prices.ts';
import { marketBody } from '../bodies/render.ts';
import { type FileSettings, type FilesOfMarkets, type MarketFileKind, nameOfFile } from './files-of-markets.ts';

export async function planMarketFiles(
  { kinds, load, nameRevision, needBaseUrl = [] }: FilesOfMarkets,
  settings: FileSettings,
  { dependencies: { objects }, view }: MarketContext,
  history: HistoryPlan,
): Promise<MarketPart> {
  const { slug, record, published, isShown, isRefresh } = view;
  const changed = async (kind: MarketFileKind, body: string, isGone: boolean): Promise<readonly HeadPut[]> => {
    const name = nameOfFile(kind, slug);
    const other = await compareWithStored(objects, name, Buffer.from(body), isGone);
    if (other === null) return [];
    // A swap by ETag needs bytes that never come back (docs/decisions/101-requests-in-flight.md); a refresh has the same revision.
    const swap = nameRevision && !isRefresh && !isGone ? other : {};
    return [{ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone, ...swap }];
  };
  const removal = record?.value.removal;
  if (removal !== undefined) {
    if (published === null || (published.isRemoved && !isRefresh)) return NO_PART;
    const text = canonicalJson(removedMarketDocument(removal));
    const wanted = kinds.filter((kind) => settings.readBaseUrl !== null || !needBaseUrl.includes(kind));
    const gone = await Promise.all(wanted.map((kind) => changed(kind, text, true)));
    return { ...NO_PART, gone: gone.flat() };
  }
  if (record === null || !isShown) return NO_PART;
  const market = JSON.parse(marketBody(slug, record.revision, record.value)) as Market;
  const prices = await readRecentPrices(objects, slug, newestPrices(history, market.unit.quantity));
  const { textsOf } = await load();
  const texts = textsOf({ market, recent: prices.markedEntry(slug), ...settings });
  const lines = await Promise.all(
    kinds.map(async (kind) => (texts[kind] === undefined ? [] : await changed(kind, texts[kind], false))),
  );
  return { ...NO_PART, lines: lines.flat() };
}
