/**
 * The paths of the write API. They are separate from the table of operations, whose loading would take most of an edge's start. A
 * test compares them with the table.
 */
import { decodeUnreserved } from '../../contract/files/routes.ts';

/** The first parts of paths, after `/api/v1/`. All paths below belong to the write API. */
const RESOURCES: ReadonlySet<string> = new Set([
  ...['api-keys', 'audit-records', 'claims', 'entitlements', 'erasures', 'ingest', 'me', 'publications'],
  ...['source-verifications', 'sources', 'takedowns', 'waitlist-requests', 'watchlists'],
]);

/** Markets are public reads, but for this path. */
const WRITE_TO_PUBLIC = /^\/api\/v1\/markets\/[^/]+\/removal(\/|$)/;

/**
 * Whether a path belongs to the write API. Every other path is a public read.
 *
 * @param encoded has no query
 */
export function isWritePath(encoded: string): boolean {
  const path = decodeUnreserved(encoded);
  if (!path.startsWith('/api/v1/')) return false;
  const end = path.indexOf('/', 8);
  return RESOURCES.has(end < 0 ? path.slice(8) : path.slice(8, end)) || WRITE_TO_PUBLIC.test(path);
}
