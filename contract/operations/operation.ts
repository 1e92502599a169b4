/** The form of one row of the table of operations. Everything else about an operation is derived from its row. */
import * as z from 'zod';
import type { ProblemCode } from '../problems/problems.ts';
import type { Feature } from '../values/features.ts';
import type { Scope } from './scopes.ts';
import type { Tag } from './tags.ts';

/** Enough for every body except batches. A larger body is refused before it is parsed. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** How a request names the version that its sender has seen (RFC 9110, section 13.1; RFC 6585, section 3). */
export type Precondition =
  /** `If-Match` is required: 428 without it, 412 if it is stale. */
  | 'if-match'
  /** `If-Match` to replace, or `If-None-Match: *` to create. */
  | 'if-match-or-none-match'
  /** `If-Match` is optional, because the write means the same in every version; a stale one is 412. */
  | 'if-match-if-sent';

/** How an API key's limit to some markets restricts an operation of the write API. */
export type MarketLimit =
  /** The operation changes no market, and grants no right to change one. */
  | 'touches-no-market'
  /** The handler names the markets before it decides. If one is outside the key's limit, the pipeline refuses the request. */
  | 'handler-names-markets'
  /** The limit is stored with the batch or upload. The worker compares each record with it. */
  | 'checked-with-each-record'
  /** The operation issues or revokes keys: only keys whose markets are within the limit of this key. */
  | 'keys-within-the-limit'
  /** The limit cannot restrict the effect, so a limited key is refused, and can have no scope of the operation. */
  | 'refused-for-limited-keys';

export interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Null for 204. */
  readonly body: z.ZodType | null;
  /** Default: JSON. */
  readonly mediaType?: string;
  /** The schema of a line of NDJSON. Only for the document. */
  readonly line?: z.ZodType;
  readonly headers?: readonly ('ETag' | 'Location')[];
}

export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The example of the answer; absent for 204. */
  readonly response?: unknown;
}

export interface OperationDefinition {
  readonly method: Method;
  /** Path parameters are in braces, as in OpenAPI. */
  readonly path: `/${'api/v1' | 'badges' | 'embed' | 'feeds'}/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /**
   * A credential needs one of these scopes. Empty: any credential may call the operation. Null: a public read, without
   * credential.
   */
  readonly scopes: readonly Scope[] | null;
  /** Required for every write. Reads by a limited key depend on its scopes alone. */
  readonly marketLimit?: MarketLimit;
  /** The path parameters. Each is a string. */
  readonly params?: z.ZodObject;
  /** The query parameters. Each is a string. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The largest body, in bytes; default {@link DEFAULT_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** The media types of the body; default: only JSON. The handler parses a body of another type. */
  readonly mediaTypes?: readonly string[];
  /** The schema of a line, if NDJSON is one of the media types. Only for the document, because the handler parses the lines. */
  readonly line?: z.ZodType;
  readonly precondition?: Precondition;
  /** The features that the operation uses: the write's transaction checks the subject's limits. */
  readonly features?: readonly Feature[];
  /** For a public read without parameters: whether every deployment publishes it. */
  readonly isAlwaysThere?: true;
  /** The reason why a write has no daily limit. Every other write has a feature of the kind `rate`. */
  readonly unlimitedBecause?: string;
  readonly success: Success;
  /** Further problem codes, besides those that follow from the other members: see `problemCodesOf`. */
  readonly problems?: readonly ProblemCode[];
  readonly example: Example;
}

/** A row of the write API. A write does not compile until each of these questions is answered. */
export type WriteApiOperation = OperationDefinition & { readonly scopes: readonly Scope[] } & (
    | { readonly method: 'GET' }
    | { readonly marketLimit: MarketLimit }
  );

type Rows<Row> = Readonly<Record<string, Row>>;
type With<Table, Shared> = { readonly [Id in keyof Table]: Omit<Readonly<Shared>, keyof Table[Id]> & Table[Id] };

/** The reason why writes with an operator's scope need no daily limit. */
export const OPERATORS_ONLY = 'only operators have this scope, and they have no limits';

/**
 * Operations of the write API. Keeps the exact type of each row, from which the types of its handler follow.
 *
 * @param shared default members of all rows; `marketLimit` is for writes only
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

/** A text file as an answer. Each call makes a new schema, because the document names each answer after its operation. */
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
