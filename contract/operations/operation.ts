/** What one row of the table of operations says. Everything else about an operation is derived from its row. */
import type * as z from 'zod';
import type { Feature } from '../features.ts';
import type { ProblemCode } from '../problems.ts';
import type { Scope } from '../scopes.ts';
import type { Tag } from './tags.ts';

/** More than any body needs but a batch's: what is larger is refused before it is looked at. */
export const DEFAULT_BODY_BYTES = 64 * 1024;

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** How a request must say which version it has seen (RFC 9110, section 13.1; RFC 6585, section 3). */
export type Precondition =
  /** `If-Match` is required: 428 without it, 412 when stale. */
  | 'if-match'
  /** `If-Match` to replace, or `If-None-Match: *` to create. */
  | 'if-match-or-none-match'
  /** Not needed, because the write means the same whatever has changed; held to `If-Match` where that is sent. */
  | 'if-match-if-sent';

export interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Null for 204. */
  readonly body: z.ZodType | null;
  readonly headers?: readonly ('ETag' | 'Location')[];
}

export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What is answered; left out for 204. */
  readonly response?: unknown;
}

export interface OperationDefinition {
  readonly method: Method;
  /** With path parameters in braces, as OpenAPI writes them. */
  readonly path: `/api/v1/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Any one of these is enough; with an empty list every credential is; null: a public read, without credential. */
  readonly scopes: readonly Scope[] | null;
  /** Path parameters, each of them a string. */
  readonly params?: z.ZodObject;
  /** Query parameters, each of them a string. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The largest body, in bytes; default {@link DEFAULT_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** Media types of the body; default JSON alone. A body of another type than JSON is left to the handler. */
  readonly mediaTypes?: readonly string[];
  /** What each line is, where one of the media types is NDJSON. For the document only: the handler reads the lines. */
  readonly line?: z.ZodType;
  readonly precondition?: Precondition;
  /** What the subject must be entitled to: its limits hold at the moment of commit. */
  readonly features?: readonly Feature[];
  readonly success: Success;
  /** Beside those that any operation of its kind may answer. */
  readonly problems?: readonly ProblemCode[];
  readonly example: Example;
}

/** Keeps the exact type of a row, from which the types of its handler follow. */
export function defineOperations<const Table extends Readonly<Record<string, OperationDefinition>>>(
  table: Table,
): Table {
  return table;
}
