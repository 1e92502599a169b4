/** The ETag of a read's answer. */
import { hash } from 'node:crypto';
import { etagOf } from '../http/headers.ts';

/**
 * The revision of a versioned resource, which `If-Match` can name. For any other answer, half of the digest of its
 * bytes.
 */
export function entityTag(revision: number | undefined, body: string): string {
  return revision === undefined ? `"${hash('sha256', body).slice(0, 32)}"` : etagOf(revision);
}
