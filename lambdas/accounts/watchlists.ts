/** The handlers of watchlists. A watchlist lives in its owner's partition, so another subject cannot name it. */

import { isDeepStrictEqual } from 'node:util';
import { decodeTime } from 'ulid';
import type { Watchlist } from '../../contract/operations/accounts/watchlists.ts';
import type { OperationId } from '../../contract/operations/operations.ts';
import type { ProblemError } from '../../contract/problems/problems.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, Item, ItemKey, LedgerReader } from '../../storage/ports/ledger.ts';
import { type WatchlistValue, watchlistKey, watchlistsOf } from '../../storage/records/accounts.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { refusal } from '../http/refused-request.ts';
import { type Commit, type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { checkIfMatch, unchanged } from '../pipeline/preconditions.ts';
import { limitOf } from '../pipeline/quota.ts';

export const listWatchlists: ReadHandler<'listWatchlists'> = (request, tools) =>
  paginate(request, tools, {
    range: watchlistsOf(request.principal.subject),
    valuesOf: (items) => items.map(toResource),
  });

export const getWatchlist: ReadHandler<'getWatchlist'> = async (request, { reader }) => {
  const item = checkIfMatch(null, await reader.get(keyOf(request)));
  return { body: toResource(item), revision: item.revision };
};

export const createWatchlist = writeHandler<'createWatchlist'>()({
  decide(request, _view, found) {
    const id = request.newId('wl');
    const { name, markets } = request.body;
    const value: WatchlistValue = { name, markets, updatedAt: request.now };
    checkMarkets(request, markets, found);
    return {
      target: targetOf(id),
      changes: [created(watchlistKey(request.principal.subject, id), value, 1), ...markets.map(mustExist)],
      uses: [{ feature: 'watchlists', amount: 1 }],
      response: { body: toWatchlist(id, 1, value), revision: 1, location: `/api/v1/watchlists/${id}` },
    };
  },
});

/** The time of creation is derived from the id. */
export const replaceWatchlist = writeHandler<'replaceWatchlist'>()({
  read: readWatchlist,
  decide(request, item, found) {
    const { name, markets } = request.body;
    if (item !== null && isDeepStrictEqual([item.value.name, item.value.markets], [name, markets])) {
      return kept(request, item);
    }
    checkMarkets(request, markets, found);
    return changed(request, item, { name, markets }, markets);
  },
});

export const deleteWatchlist = writeHandler<'deleteWatchlist'>()({
  read: readWatchlist,
  decide(request, found) {
    const item = checkIfMatch(request.ifMatch, found);
    const { revision } = item;
    return {
      target: targetOf(item.sort),
      changes: [{ kind: 'delete', key: keyOf(request), if: { kind: 'revision-is', revision } }],
      uses: [{ feature: 'watchlists', amount: -1 }],
      response: { body: null },
    };
  },
});

export const addWatchlistMarket = writeHandler<'addWatchlistMarket'>()({
  read: readWatchlist,
  decide(request, item, found) {
    const { slug } = request.params;
    const { name, markets } = item?.value ?? NOTHING;
    if (markets.includes(slug)) return kept(request, item);
    const all = [...markets, slug];
    checkMarkets(request, all, found, [slug]);
    return changed(request, item, { name, markets: all }, [slug]);
  },
});

export const removeWatchlistMarket = writeHandler<'removeWatchlistMarket'>()({
  read: readWatchlist,
  decide(request, item) {
    const { name, markets } = item?.value ?? NOTHING;
    const others = markets.filter((slug) => slug !== request.params.slug);
    return others.length === markets.length
      ? kept(request, item)
      : changed(request, item, { name, markets: others }, []);
  },
});

type OneWatchlist = 'getWatchlist' | 'replaceWatchlist' | 'deleteWatchlist' | MarketOfWatchlist;
type MarketOfWatchlist = 'addWatchlistMarket' | 'removeWatchlistMarket';

type Found = Item<WatchlistValue> | null;

const NOTHING: WatchlistValue = { name: '', markets: [], updatedAt: '' };

function keyOf({ principal, params }: OperationRequest<OneWatchlist>): ItemKey<WatchlistValue> {
  return watchlistKey(principal.subject, params.id);
}

function readWatchlist(
  request: OperationRequest<'replaceWatchlist' | 'deleteWatchlist' | MarketOfWatchlist>,
  reader: LedgerReader,
): Promise<Found> {
  return reader.get(keyOf(request));
}

/** The next revision of a watchlist. `added` must be existing markets. */
function changed<Id extends 'replaceWatchlist' | MarketOfWatchlist>(
  request: OperationRequest<Id>,
  found: Found,
  content: Pick<WatchlistValue, 'name' | 'markets'>,
  added: readonly string[],
): Commit<Id> {
  const item = checkIfMatch(request.ifMatch, found);
  const revision = item.revision + 1;
  const value: WatchlistValue = { ...content, updatedAt: request.now };
  return {
    target: targetOf(item.sort),
    changes: [replaced(item, value), ...added.map(mustExist)],
    response: { body: toWatchlist(item.sort, revision, value), revision } as never,
  };
}

function kept<Id extends 'replaceWatchlist' | MarketOfWatchlist>(
  request: OperationRequest<Id>,
  found: Found,
): Commit<Id> {
  const item = checkIfMatch(request.ifMatch, found);
  return unchanged(targetOf(item.sort), item, { body: toResource(item), revision: item.revision } as never);
}

/** Refuses markets that cannot be on one watchlist: too many, or one that the ledger does not have. */
function checkMarkets(
  request: OperationRequest<OperationId>,
  markets: readonly string[],
  found: ConflictItems,
  checkedMarkets: readonly string[] = markets,
): void {
  const limit = limitOf({ ...request.principal, nowMs: request.nowMs }, 'watchlist-items');
  if (markets.length > limit) {
    throw refusal('quota-exceeded', `A watchlist of yours may hold ${limit} markets, not ${markets.length}.`);
  }
  const unknown = checkedMarkets.filter((slug) => found.get(marketKey(slug)) === null);
  if (unknown.length === 0) return;
  const errors = unknown.map((slug): ProblemError => {
    const pointer = markets === checkedMarkets ? `/markets/${markets.indexOf(slug)}` : '';
    return { pointer, code: 'market.unknown', detail: `no market ${slug}: see /api/v1/markets` };
  });
  throw refusal('validation-failed', 'Not every slug names a market: see errors.', { errors });
}

function mustExist(slug: string): Change {
  return { kind: 'check', key: marketKey(slug), if: { kind: 'present' } };
}

function targetOf(id: string): string {
  return `watchlist/${id}`;
}

function toWatchlist(id: string, revision: number, value: WatchlistValue): Watchlist {
  const createdAt = new Date(decodeTime(id.slice('wl_'.length))).toISOString();
  return { id, revision, createdAt, ...value };
}

function toResource({ sort, revision, value }: Item<WatchlistValue>): Watchlist {
  return toWatchlist(sort, revision, value);
}
