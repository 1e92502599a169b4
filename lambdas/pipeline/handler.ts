/**
 * Input and output of handlers. A handler cannot write: it reads the ledger, and its decision is only a list of changes.
 * `commit.ts` alone turns a decision into a transaction, together with its idempotency record and its audit records. So none of
 * these exists without the others.
 */

import type {
  BodyOf,
  NamesMarkets,
  OperationId,
  ParamsOf,
  QueryOf,
  ReadOperationId,
  ResponseOf,
  WriteOperationId,
} from '../../contract/operations/operations.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, LedgerReader } from '../../storage/ports/ledger.ts';
import type { UploadTargets } from '../../storage/ports/upload-store.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import type { Principal } from '../credentials/principal.ts';
import type { Body } from '../http/body.ts';
import type { Cursors } from '../http/cursor.ts';
import type { QuotaUse } from './quota.ts';

/** A request after authentication, authorisation and validation. */
export interface OperationRequest<Id extends OperationId = OperationId> extends Pick<Runtime, 'newId' | 'randomBytes'> {
  readonly operation: Id;
  readonly principal: Principal;
  readonly params: ParamsOf<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** The body as received; null if the request has no body. */
  readonly raw: Body | null;
  /** The revisions that `If-Match` names; `any` for `*`, null without the field. */
  readonly ifMatch: readonly number[] | 'any' | null;
  /** Whether the request has `If-None-Match: *`: create, never replace. */
  readonly mustCreate: boolean;
  readonly nowMs: number;
  /** The same moment as `nowMs`, RFC 3339. */
  readonly now: string;
  /** The environment of new API keys. */
  readonly environment: ApiKeyEnvironment;
}

/** The answer; its status is that of the operation's row. */
export interface Response<Id extends OperationId> {
  readonly body: ResponseOf<Id>;
  /** Becomes the ETag of a versioned resource. */
  readonly revision?: number;
  /** The URL of the new resource. */
  readonly location?: string;
}

export interface Commit<Id extends WriteOperationId> {
  /** The target in the audit, e.g. `watchlist/wl_01JD…`. */
  readonly target: string;
  /** The mutation with its conditions, and the marks of everything public that it changes. */
  readonly changes: readonly Change[];
  /**
   * The stored state already equals the requested one, so the changes are checks only. Nothing permanent is written: no audit
   * record, and no use of a daily limit.
   */
  readonly isUnchanged?: true;
  /** Changes of the subject's quota counters, bounded by its limits at the moment of commit. */
  readonly uses?: readonly QuotaUse[];
  readonly response: Response<Id>;
}

export type WriteHandler<Id extends WriteOperationId, View = undefined> = Decider<Id, View> & MarketsOf<Id, View>;

type MarketsOf<Id extends WriteOperationId, View> =
  NamesMarkets<Id> extends true
    ? {
        /**
         * The markets that the request is about. Called before the decision: a key that is limited to other markets is refused.
         * The decision may change no other market, for any caller.
         */
        markets(request: OperationRequest<Id>, view: View): readonly string[];
      }
    : { readonly markets?: undefined };

interface Decider<Id extends WriteOperationId, View> {
  /**
   * Reads the items that the decision depends on, with one `getMany` if possible. Called again after a refusal. A handler whose
   * rules are all conditions has no `read`, and costs one round trip.
   */
  read?(request: OperationRequest<Id>, reader: LedgerReader, tools: WriteTools): Promise<View>;
  /**
   * Pure. Called again after a refused transaction, with the items that refused it; at the first call, `found` is empty.
   *
   * @throws RefusedRequest
   */
  decide(request: OperationRequest<Id>, view: View, found: ConflictItems): Commit<Id>;
}

/** Services that a handler may use besides the ledger. They change nothing. */
export interface WriteTools {
  /** The targets of large files; null if this deployment takes none. */
  readonly uploads: UploadTargets | null;
}

export interface ReadTools extends WriteTools {
  readonly reader: LedgerReader;
  readonly cursors: Cursors;
  /** See `pseudonymised`. */
  readonly pseudonymOf: (text: string) => string;
}

/** @throws RefusedRequest */
export type ReadHandler<Id extends ReadOperationId> = (
  request: OperationRequest<Id>,
  tools: ReadTools,
) => Promise<Response<Id>>;

/** Infers the type of a handler's view from its `read`. */
export function writeHandler<Id extends WriteOperationId>() {
  return <View = undefined>(handler: WriteHandler<Id, View>): WriteHandler<Id, unknown> => handler;
}
