/** The form of one row of the table of operations. Everything else about an operation is derived from its row. */
import * as z from 'zod';
import type { ProblemCode } from '../problems/problems.ts';
import type { Feature } from '../values/features.ts';
import type { Scope } from './scopes.ts';
import type { Tag } from './tags.ts';

/** Enough for every body except a batch. A larger body is refused before it is parsed. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** How a request says which version it has seen (RFC 9110, section 13.1; RFC 6585, section 3). */
export type Precondition =
  /** `If-Match` is required: 428 without it, 412 when stale. */
  | 'if-match'
  /** `If-Match` to replace, or `If-None-Match: *` to create. */
  | 'if-match-or-none-match'
  /** `If-Match` is optional, because the write means the same in every version; a stale one is 412. */
  | 'if-match-if-sent';

/** How the limit of an API key to some markets binds an operation of the write API. */
export type MarketLimit =
  /** It changes no market, and grants no right to change one. */
  | 'touches-no-market'
  /** Its handler names the markets, before it decides. Others than those of the key are refused, in one place. */
  | 'handler-names-markets'
  /** The limit is kept with the batch or upload. The worker compares each record with it. */
  | 'checked-with-each-record'
  /** It gives and takes keys: only those that are limited to markets of this key. */
  | 'keys-within-the-limit'
  /** Its effect cannot be bound to markets. Refused, and no limited key gets a scope of it. */
  | 'refused-for-limited-keys';

export interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Null for 204. */
  readonly body: z.ZodType | null;
  /** Default: JSON. */
  readonly mediaType?: string;
  readonly headers?: readonly ('ETag' | 'Location')[];
}

export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The example of the answer; left out for 204. */
  readonly response?: unknown;
}

export interface OperationDefinition {
  readonly method: Method;
  /** With path parameters in braces, as OpenAPI writes them. */
  readonly path: `/${'api/v1' | 'badges' | 'embed' | 'feeds'}/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /**
   * One of these is enough. With an empty list, every credential is enough. Null: a public read, without credential.
   */
  readonly scopes: readonly Scope[] | null;
  /** Of every write. Reads of a limited key depend on its scopes alone. */
  readonly marketLimit?: MarketLimit;
  /** Path parameters, each of them a string. */
  readonly params?: z.ZodObject;
  /** Query parameters, each of them a string. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The largest body, in bytes; default {@link DEFAULT_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** Media types of the body; default JSON alone. The handler parses a body of another type. */
  readonly mediaTypes?: readonly string[];
  /** The schema of a line, if NDJSON is one of the media types. For the document only: the handler parses the lines. */
  readonly line?: z.ZodType;
  readonly precondition?: Precondition;
  /** The features that the operation uses: the subject's limits are checked in the transaction of the write. */
  readonly features?: readonly Feature[];
  /** Of a public read without parameters: every deployment has it. */
  readonly isAlwaysThere?: true;
  /** Why a write has no daily limit. Every other write has a feature of the kind `rate`. */
  readonly unlimitedBecause?: string;
  readonly success: Success;
  /** Codes beside those that follow from the other members: see `problemCodesOf`. */
  readonly problems?: readonly ProblemCode[];
  readonly example: Example;
}

/** A row of the write API: a write without an answer to each of these does not compile. */
export type WriteApiOperation = OperationDefinition & { readonly scopes: readonly Scope[] } & (
    | { readonly method: 'GET' }
    | { readonly marketLimit: MarketLimit }
  );

type Rows<Row> = Readonly<Record<string, Row>>;
type With<Table, Shared> = { readonly [Id in keyof Table]: Omit<Readonly<Shared>, keyof Table[Id]> & Table[Id] };

/** Why the writes of a scope that accounts cannot have need no daily limit. */
export const OPERATORS_ONLY = 'only operators have this scope, and they have no limits';

/**
 * Operations of the write API. Keeps the exact type of each row, from which the types of its handler follow.
 *
 * @param shared members of all rows that do not have their own; `marketLimit` of the writes alone
 */
export function operationsOf<
  const Shared extends Pick<OperationDefinition, 'tag'> &
    Partial<Pick<OperationDefinition, 'scopes' | 'marketLimit' | 'unlimitedBecause'>>,
>(shared: Shared) {
  const { marketLimit: _, ...ofReads } = shared;
  return <const Table extends Rows<Partial<OperationDefinition> & Omit<OperationDefinition, keyof Shared>>>(
    table: Table,
  ): With<Table, Shared> => {
    const rows = Object.entries(table).map(([id, row]) => {
      return [id, { ...(row.method === 'GET' ? ofReads : shared), ...row }];
    });
    return Object.fromEntries(rows) as With<Table, Shared>;
  };
}

/** A file of text. A new schema each time, because the document names each answer after its operation. */
export function textFile(description: string, mediaType: string, text: string) {
  return { status: 200, description, body: z.string().describe(text), mediaType } as const;
}

/** Reads of public files. */
export function publicReads<const Table extends Rows<Omit<OperationDefinition, 'method' | 'scopes' | 'tag'>>>(
  table: Table,
): With<Table, { method: 'GET'; scopes: null; tag: Tag }> {
  const rows = Object.entries(table).map(([id, row]) => {
    return [id, { method: 'GET', scopes: null, tag: 'Public reads', ...row }];
  });
  return Object.fromEntries(rows) as With<Table, { method: 'GET'; scopes: null; tag: Tag }>;
}
