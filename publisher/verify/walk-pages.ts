/** Follows cursors as a reader does. */
import type * as z from 'zod';
import { isCursorOf } from '../../contract/cursors.ts';
import { type Checked, checkBody, type Findings } from './check-body.ts';
import type { PublicReader } from './reader.ts';

interface Collection {
  readonly page: { readonly nextCursor: string | null };
}

/** A page that was read and matches its schema. */
export interface CheckedPage<Value> extends Checked<Value> {
  readonly url: string;
  readonly isFirst: boolean;
}

/**
 * Every page of a collection, from the first to the last, or to one that cannot be read. Always ends: a cursor that
 * comes again is a finding and is not followed.
 */
export async function* walkPages<Value extends Collection>(
  reader: PublicReader,
  findings: Findings,
  firstUrl: string,
  schema: z.ZodType<Value>,
): AsyncGenerator<CheckedPage<Value>> {
  const seen = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const url = cursor === undefined ? firstUrl : `${firstUrl}?cursor=${cursor}`;
    const page = await checkBody(reader, findings, url, schema);
    if (page === null) return;
    if (cursor !== undefined) checkCursor(findings, url, cursor, page.digest);
    yield { ...page, url, isFirst: cursor === undefined };
    cursor = page.value.page.nextCursor;
    if (cursor === null) return;
    if (seen.has(cursor)) {
      findings.add(url, 'link', `leads back to ${cursor}, a page that was read already`);
      return;
    }
    seen.add(cursor);
  }
}

/** A page is named by its own digest, so the body behind a cursor must have the cursor's digest. */
function checkCursor(findings: Findings, url: string, cursor: string, digest: string): void {
  if (isCursorOf(cursor, digest)) return;
  findings.add(url, 'digest', `holds other bytes than its cursor names: their digest is ${digest}`);
}
