import { decodeUnreserved } from '../../contract/files/routes.ts';
import type { Method } from '../../contract/operations/operation.ts';
import { OPERATIONS, type OperationId, operationOf } from '../../contract/operations/operations.ts';

/** An operation of the write API. */
interface Route {
  readonly operation: OperationId;
  readonly method: Method;
  /** The segments of the path; `null` for a parameter. */
  readonly segments: readonly (string | null)[];
  readonly names: readonly string[];
}

export type Routed =
  | { readonly kind: 'operation'; readonly operation: OperationId; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. */
  | { readonly kind: 'other-method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

const ROUTES: readonly Route[] = (Object.keys(OPERATIONS) as OperationId[]).map((operation) => {
  const { method, path } = operationOf(operation);
  const parts = path.split('/');
  const isParameter = (part: string) => part.startsWith('{');
  return {
    operation,
    method,
    segments: parts.map((part) => (isParameter(part) ? null : part)),
    names: parts.filter(isParameter).map((part) => part.slice(1, -1)),
  };
});

/** Finds the operation. Segments are percent-decoded one by one; a malformed segment matches no path. */
export function route(method: string, path: string): Routed {
  const parts = decodeUnreserved(path).split('/');
  const fitting = ROUTES.filter(
    ({ segments }) =>
      segments.length === parts.length &&
      segments.every((segment, index) => segment === null || segment === parts[index]),
  );
  if (fitting.length === 0) return { kind: 'unknown' };
  const found = fitting.find((candidate) => candidate.method === method);
  if (found === undefined) {
    const methods = fitting.flatMap((each) => (each.method === 'GET' ? ['GET', 'HEAD'] : [each.method]));
    return { kind: 'other-method', allow: [...methods, 'OPTIONS'] };
  }
  const values = parts.filter((_, index) => found.segments[index] === null).map(decode);
  if (values.includes(null)) return { kind: 'unknown' };
  // Safe for any value: `fromEntries` defines properties, and the names come from our table.
  const params = Object.fromEntries(found.names.map((name, index) => [name, values[index] as string]));
  return { kind: 'operation', operation: found.operation, params };
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
