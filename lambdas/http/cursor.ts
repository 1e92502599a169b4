/**
 * Cursors of the authenticated collections. Opaque and authenticated: what comes back is what was handed out, to the same
 * actor, for the same operation and filter. Not encrypted: the holder may find out the sort key of the last item seen.
 *
 *   octet 0         the version
 *   octets 1 to 16  HMAC-SHA-256 (RFC 2104), half of it, over everything that the cursor is bound to
 *   from there      JSON [expiresAtMs, after]
 *
 * in Base64url. The version comes first, so that no cursor begins like a JWT, which has no place in a URL.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a cursor is good for, and nothing else. */
export interface CursorContext {
  readonly actor: string;
  readonly operation: string;
  /** The query without the cursor. The order of its names means nothing, and one that is undefined is not there. */
  readonly filter: Readonly<Record<string, string | undefined>>;
}

export interface CursorPosition {
  /** The sort key after which to go on. */
  readonly after: string;
  readonly expiresAtMs: number;
}

export type OpenedCursor = { readonly after: string } | 'malformed' | 'expired';

export interface Cursors {
  /** @throws RangeError when the sort key is so long that {@link open} would refuse the cursor. */
  sign(cursor: CursorContext & CursorPosition): string;
  /** Somebody else's cursor, or one of another filter, is malformed like any other text: nobody learns that it exists. */
  open(text: string, request: CursorContext & { readonly nowMs: number }): OpenedCursor;
}

const VERSION = 1;
const MAC_BYTES = 16;
const MAX_CHARACTERS = 512;
const MIN_KEY_BYTES = 32;

/** `key` must serve nothing but cursors (see pipeline/secrets.ts). @throws RangeError when it is too short. */
export function createCursors(key: Uint8Array): Cursors {
  if (key.length < MIN_KEY_BYTES) throw new RangeError(`the key of cursors needs at least ${MIN_KEY_BYTES} bytes`);

  function macOf({ actor, operation, filter }: CursorContext, payload: string): Buffer {
    const names = Object.keys(filter).filter((name) => filter[name] !== undefined);
    const filters = names.sort().map((name) => [name, filter[name]]);
    // An array of JSON, so that no two contexts are written alike.
    const bound = JSON.stringify([VERSION, actor, operation, filters, payload]);
    return createHmac('sha256', key).update(bound).digest().subarray(0, MAC_BYTES);
  }

  return {
    sign({ after, expiresAtMs, ...context }) {
      const payload = JSON.stringify([expiresAtMs, after]);
      const bytes = Buffer.concat([Buffer.of(VERSION), macOf(context, payload), Buffer.from(payload)]);
      const text = bytes.toString('base64url');
      if (text.length > MAX_CHARACTERS) throw new RangeError(`a cursor may have at most ${MAX_CHARACTERS} characters`);
      return text;
    },
    open(text, { nowMs, ...context }) {
      if (text.length > MAX_CHARACTERS) return 'malformed';
      const bytes = Buffer.from(text, 'base64url');
      // Decoding skips what it does not know: one cursor would have many spellings.
      if (bytes.length <= 1 + MAC_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== text) {
        return 'malformed';
      }
      const payload = bytes.toString('utf8', 1 + MAC_BYTES);
      if (!timingSafeEqual(bytes.subarray(1, 1 + MAC_BYTES), macOf(context, payload))) return 'malformed';
      // Authentic from here on.
      const [expiresAtMs, after] = JSON.parse(payload) as [number, string];
      return nowMs < expiresAtMs ? { after } : 'expired';
    },
  };
}
