/**
 * What a handler is given and what it gives back. A handler cannot write: of the ledger it sees the reading half, and a
 * write's decision is only a list of changes. `commit.ts` alone turns one into a transaction, together with its
 * idempotency record and its audit records, so none of the three exists without the others.
 */

import type { Feature } from '../../contract/features.ts';
import type {
  BodyOf,
  OperationId,
  ParamsOf,
  QueryOf,
  ReadOperationId,
  ResponseOf,
  WriteOperationId,
} from '../../contract/operations.ts';
import { type Problem, type ProblemCode, type ProblemError, problem } from '../../contract/problems.ts';
import type { Change, Item, ItemKey, LedgerReader } from '../../storage/ledger.ts';
import { describeKey } from '../../storage/ledger-rules.ts';
import type { UploadTargets } from '../../storage/upload-store.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import type { Principal } from '../credentials/principal.ts';
import type { Body } from '../http/body.ts';
import type { Cursors } from '../http/cursor.ts';

/** A request that was authenticated, authorised and validated. */
export interface OperationRequest<Id extends OperationId = OperationId> {
  readonly operation: Id;
  readonly principal: Principal;
  readonly params: ParamsOf<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** The body as it came; null without one. */
  readonly raw: Body | null;
  /** The revisions that `If-Match` names; `any` for `*`, null without the field. */
  readonly ifMatch: readonly number[] | 'any' | null;
  /** Whether the request says `If-None-Match: *`: create, never replace. */
  readonly mustCreate: boolean;
  readonly nowMs: number;
  /** The same moment, RFC 3339. */
  readonly now: string;
  /** A new id such as `wl_01JD…`: the prefix, and a ULID of this moment. */
  readonly newId: (prefix: string) => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** What new API keys are for. */
  readonly environment: ApiKeyEnvironment;
  /** What the subject may have of a feature, as far as is known; the transaction checks that it is so. */
  readonly limitOf: (feature: Feature) => number;
}

/** What is answered, with the status of the operation's row. */
export interface Response<Id extends OperationId> {
  readonly body: ResponseOf<Id>;
  /** Becomes the ETag of a versioned resource. */
  readonly revision?: number;
  /** Where the new resource is. */
  readonly location?: string;
}

export interface Refused {
  readonly kind: 'refused';
  readonly problem: Problem;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Refuses with a problem of the catalogue. `detail` says what happened here and how to mend it. */
export function refuse(
  code: ProblemCode,
  detail: string,
  more: { readonly errors?: readonly ProblemError[]; readonly headers?: Readonly<Record<string, string>> } = {},
): Refused {
  const { errors, headers } = more;
  return {
    kind: 'refused',
    problem: problem(code, detail, errors && { errors }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** Refuses for want of scopes (RFC 6750, section 3.1). */
export function refuseScopes(scopes: readonly string[], detail: string): Refused {
  const challenge = `Bearer realm="tidemark", error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return refuse('forbidden', detail, { headers: { 'www-authenticate': challenge } });
}

/** Ends a request before it is decided. Thrown by the steps of the pipeline, never by handlers. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.detail);
    this.problem = problem;
    this.headers = headers;
  }
}

/** How much of a feature a write takes; negative gives back. */
export interface Use {
  readonly feature: Feature;
  readonly amount: number;
}

export interface Commit<Id extends WriteOperationId> {
  readonly kind: 'commit';
  /** What the audit says was acted upon, e.g. `watchlist/wl_01JD…`. */
  readonly target: string;
  /** The mutation with its conditions, and the dirty marks of everything public that it touches. */
  readonly changes: readonly Change[];
  /** Of the quotas of the subject; bounded by its limits at the moment of commit. */
  readonly uses?: readonly Use[];
  readonly response: Response<Id>;
}

export type Decision<Id extends WriteOperationId> = Commit<Id> | Refused;

/** What a refused transaction has handed back. Empty at the first try. */
export class Found {
  readonly #items: ReadonlyMap<string, Item | null>;

  constructor(refused: readonly (readonly [ItemKey, Item | null])[] = []) {
    this.#items = new Map(refused.map(([key, item]) => [describeKey(key), item]));
  }

  /** The item that refused a change; null where there was none; undefined when this key refused nothing. */
  get(key: ItemKey): Item | null | undefined {
    return this.#items.get(describeKey(key));
  }
}

export interface WriteHandler<Id extends WriteOperationId, View = undefined> {
  /**
   * Reads what the decision rests on, with one `getMany` where that is enough; read again after a refusal. A handler that
   * can say everything in conditions has none, and so costs one round trip.
   */
  read?(request: OperationRequest<Id>, reader: LedgerReader, tools: WriteTools): Promise<View>;
  /** Pure. Called again after a refused transaction, with what refused it. */
  decide(request: OperationRequest<Id>, view: View, found: Found): Decision<Id>;
}

/** What a handler may ask beside the ledger. None of it changes anything. */
export interface WriteTools {
  /** Where large files are put; null where there is no such place. */
  readonly uploads: UploadTargets | null;
}

export interface ReadTools extends WriteTools {
  readonly reader: LedgerReader;
  readonly cursors: Cursors;
}

export interface ReadHandler<Id extends ReadOperationId> {
  answer(request: OperationRequest<Id>, tools: ReadTools): Promise<Response<Id> | Refused>;
}

/** Infers what a handler reads from its `read`. */
export function writeHandler<Id extends WriteOperationId>() {
  return <View = undefined>(handler: WriteHandler<Id, View>): WriteHandler<Id, unknown> => handler;
}
