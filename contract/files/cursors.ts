/**
 * Public cursors. A cursor names one immutable page by the generation that first published it and by the digest of its
 * bytes. Cursors are opaque to readers, who only send them back (docs/decisions/002).
 */

const DIGEST_CHARACTERS = 32;

/** The cursor of a page. `digest` is the SHA-256 of its bytes in hex; half of the digest is part of the cursor. */
export function pageCursor(generation: number, digest: string): string {
  return `${generation}-${digest.slice(0, DIGEST_CHARACTERS)}`;
}

export function cursorGeneration(cursor: string): number {
  return Number(cursor.slice(0, cursor.indexOf('-')));
}

/** Whether the cursor names a page with this digest. */
export function isCursorOf(cursor: string, digest: string): boolean {
  return cursor.slice(cursor.indexOf('-') + 1) === digest.slice(0, DIGEST_CHARACTERS);
}
