/** Plans the files of one market: those whose bytes change, or the problem documents that replace them. */
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { type Removal, removedMarketDocument } from '../../../contract/files/removed-market.ts';
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
  context: MarketContext,
  history: HistoryPlan,
): Promise<MarketPart> {
  const { objects } = context.dependencies;
  const { slug, record, isRefresh } = context.view;
  if (record === null) return NO_PART;
  if (record.value.removal !== undefined) {
    const wanted = kinds.filter((kind) => settings.readBaseUrl !== null || !needBaseUrl.includes(kind));
    const names = wanted.map((kind) => nameOfFile(kind, slug));
    return await planRemovedFiles(context, record.value.removal, names);
  }
  const market = JSON.parse(marketBody(slug, record.revision, record.value)) as Market;
  const prices = await readRecentPrices(objects, slug, newestPrices(history, market.unit.quantity));
  const { textsOf } = await load();
  const texts = textsOf({ market, recent: prices.markedEntry(slug), ...settings });
  const changed = async (kind: MarketFileKind): Promise<readonly HeadPut[]> => {
    const [name, body] = [nameOfFile(kind, slug), texts[kind]];
    const other = body === undefined ? null : await compareWithStored(objects, name, Buffer.from(body), false);
    if (body === undefined || other === null) return [];
    // A swap by ETag needs bytes that never come back (docs/decisions/101-requests-in-flight.md); a refresh has the same revision.
    const swap = nameRevision && !isRefresh ? other : {};
    return [{ kind: 'put', key: publicKey(name), body, nextCursor: null, ...swap }];
  };
  return { ...NO_PART, lines: (await Promise.all(kinds.map(changed))).flat() };
}

/** Puts the problem document of a removed market in place of each of these files. */
export async function planRemovedFiles(
  { dependencies: { objects }, view: { published, isRefresh } }: MarketContext,
  removal: Removal,
  names: readonly PublicObjectName[],
): Promise<MarketPart> {
  if (published === null || (published.isRemoved && !isRefresh)) return NO_PART;
  const body = canonicalJson(removedMarketDocument(removal));
  const changed = async (name: PublicObjectName): Promise<readonly HeadPut[]> => {
    const isThere = (await compareWithStored(objects, name, Buffer.from(body), true)) === null;
    return isThere ? [] : [{ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone: true }];
  };
  return { ...NO_PART, gone: (await Promise.all(names.map(changed))).flat() };
}
