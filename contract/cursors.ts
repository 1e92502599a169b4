/**
 * Public cursors: each names one immutable page by the generation that first published it and by the digest of its
 * bytes. Opaque to readers, who may only pass them back (docs/decisions/002).
 */

const DIGEST_CHARACTERS = 32;

/** The cursor of a page. `digest` is the SHA-256 of its bytes in hex; half of it goes into the name. */
export function pageCursor(generation: number, digest: string): string {
  return `${generation}-${digest.slice(0, DIGEST_CHARACTERS)}`;
}

/** The generation that first published the page. */
export function cursorGeneration(cursor: string): number {
  return Number(cursor.slice(0, cursor.indexOf('-')));
}

/** Whether a page with this digest is the one that the cursor names. */
export function isCursorOf(cursor: string, digest: string): boolean {
  return cursor.slice(cursor.indexOf('-') + 1) === digest.slice(0, DIGEST_CHARACTERS);
}
