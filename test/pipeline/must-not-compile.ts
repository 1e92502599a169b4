/**
 * Writes that would skip idempotency or audit must not compile. If one of these lines compiles, the type checker reports a
 * missing error. Nothing here is run.
 */

import type { WriteApiOperation } from '../../contract/operations/operation.ts';
import { OPERATIONS, type ReadOperationId, type WriteOperationId } from '../../contract/operations/operations.ts';
import type { Handlers } from '../../lambdas/handlers.ts';
import type { Committed } from '../../lambdas/pipeline/commit.ts';
import {
  type Commit,
  type ReadHandler,
  type ReadTools,
  type WriteHandler,
  writeHandler,
} from '../../lambdas/pipeline/handler.ts';
import { replaced } from '../../storage/ports/changes.ts';
import type { Item, Ledger, LedgerReader } from '../../storage/ports/ledger.ts';
import type { WatchlistValue } from '../../storage/records/accounts.ts';
import { marketKey } from '../../storage/records/markets.ts';

declare const reader: LedgerReader;
declare const tools: ReadTools;
declare const ledger: Ledger;

export function handlersCannotWrite(): unknown {
  return [
    // @ts-expect-error the reading half of the ledger in a write's handler cannot write
    reader.transact([], { attemptId: 'mine' }),
    // @ts-expect-error nor can the ledger of a read's handler
    tools.reader.transact([], { attemptId: 'mine' }),
    writeHandler<'deleteWatchlist'>()({
      async read(_request, ownReader) {
        // @ts-expect-error also by the handler's own name for it
        return await ownReader.transact([], { attemptId: 'mine' });
      },
      decide: () => deleted,
    }),
    writeHandler<'deleteWatchlist'>()({
      // @ts-expect-error a decision is made, not awaited: it cannot wait for a ledger
      decide: async () => ({ ...deleted, target: (await ledger.get({ partition: 'p', sort: 's' }))?.sort ?? '' }),
    }),
  ];
}

const deleted = { target: 'watchlist/wl_1', changes: [], response: { body: null } } as const;
const { target: _target, ...withoutTarget } = deleted;
const { changes: _changes, ...withoutChanges } = deleted;
const { response: _response, ...withoutResponse } = deleted;

export const decisions: Commit<'deleteWatchlist'>[] = [
  deleted,
  // @ts-expect-error the audit needs its target
  withoutTarget,
  // @ts-expect-error a commit needs its changes
  withoutChanges,
  // @ts-expect-error a commit needs its answer, which is stored with it
  withoutResponse,
  // @ts-expect-error an answer alone is no decision
  { body: null },
];

// @ts-expect-error the answer has the shape of the operation's row
export const otherBody: Commit<'createWatchlist'> = { ...deleted, response: { body: { id: 'wl_1' } } };

// @ts-expect-error 204 has no body
export const bodyOfNothing: Commit<'deleteWatchlist'> = { ...deleted, response: { body: { id: 'wl_1' } } };

// @ts-expect-error only the commit makes an answer of a write, because only it has committed
export const answered: Committed = { status: 200, headers: {}, body: '{}', replayed: false };

declare const handlers: Handlers;
const { deleteWatchlist: _delete, ...withoutOne } = handlers;
// @ts-expect-error every operation of the table has a handler
export const all: Handlers = withoutOne;

// @ts-expect-error the handler of one operation is not that of another one
export const mistaken: WriteHandler<'createClaim', unknown> = handlers.createWatchlist;

// @ts-expect-error a write is not answered by a handler of reads
export const asRead: ReadHandler<'deleteWatchlist'> = async () => ({ body: null });

// @ts-expect-error nor a read by a handler of writes
export const asWrite: WriteHandler<'listWatchlists'> = { decide: () => deleted };

// @ts-expect-error an operation is one or the other
export const both: ReadOperationId & WriteOperationId = 'createWatchlist';

declare const watchlist: Item<WatchlistValue>;
// @ts-expect-error an item is replaced by a value of its own type
export const replacement = replaced(watchlist, { name: 'metals' });
// @ts-expect-error what a key names has the type of that key
export const listed = ledger.get(marketKey('a')).then((item) => item?.value.markets);

const { marketLimit: _limit, ...unbound } = OPERATIONS.decideClaim;
// @ts-expect-error a write says how the limit of a key to markets binds it
export const withoutLimit: WriteApiOperation = unbound;
