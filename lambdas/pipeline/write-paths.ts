/**
 * The paths of the write API. They are separate from the table of operations, whose loading would take most of an edge's start.
 */
import { decodeUnreserved } from '../../contract/files/routes.ts';

const WRITE_TO_PUBLIC = /^\/api\/v1\/markets\/[^/]+\/removal(\/|$)/;

/**
 * Whether a path belongs to the write API. Every other path is a public read.
 *
 * @param encoded has no query
 * @param resources `WRITE_RESOURCES` of route.ts
 */
export function isWritePath(encoded: string, resources: ReadonlySet<string>): boolean {
  const path = decodeUnreserved(encoded);
  if (!path.startsWith('/api/v1/')) return false;
  const end = path.indexOf('/', 8);
  return resources.has(end < 0 ? path.slice(8) : path.slice(8, end)) || WRITE_TO_PUBLIC.test(path);
}
