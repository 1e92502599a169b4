/**
 * Cursors of the authenticated collections. A cursor is opaque and authenticated: it is valid only for the actor, the
 * operation and the filter for which it was made. It is not encrypted: the holder can read the sort key of the last
 * item.
 *
 *   octet 0         the version
 *   octets 1 to 16  HMAC-SHA-256 (RFC 2104), half of it, over everything that the cursor is bound to
 *   the rest        JSON [expiresAtMs, after]
 *
 * in Base64url. The version comes first, so that no cursor begins like a JWT, which must not be in a URL.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The cursor is bound to all of these. */
interface CursorContext {
  readonly actor: string;
  readonly operation: string;
  /** Path and query without the cursor. The order of names does not matter; an undefined value counts as absent. */
  readonly filter: Readonly<Record<string, string | undefined>>;
}

export interface Cursors {
  /**
   * @param cursor `after`: the sort key after which the next page begins
   * @throws RangeError if the sort key is so long that {@link open} would refuse the cursor
   */
  sign(cursor: CursorContext & { readonly after: string; readonly expiresAtMs: number }): string;
  /** A cursor of another actor or filter is `malformed`, like any other text, so that its existence stays hidden. */
  open(
    text: string,
    request: CursorContext & { readonly nowMs: number },
  ): { readonly after: string } | 'malformed' | 'expired';
}

const VERSION = 1;
const MAC_BYTES = 16;
const MAX_CHARACTERS = 512;

/** `key` must be used for cursors only (see pipeline/secrets.ts). */
export function createCursors(key: Uint8Array): Cursors {
  function macOf({ actor, operation, filter }: CursorContext, payload: string): Buffer {
    const names = Object.keys(filter).filter((name) => filter[name] !== undefined);
    const filters = names.sort().map((name) => [name, filter[name]]);
    // A JSON array, so that two different contexts always have different texts.
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
      // Decoding skips invalid characters. Without this check, one cursor would have many spellings.
      if (bytes.length <= 1 + MAC_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== text) {
        return 'malformed';
      }
      const payload = bytes.toString('utf8', 1 + MAC_BYTES);
      if (!timingSafeEqual(bytes.subarray(1, 1 + MAC_BYTES), macOf(context, payload))) return 'malformed';
      // The cursor is authentic from here on.
      const [expiresAtMs, after] = JSON.parse(payload) as [number, string];
      return nowMs < expiresAtMs ? { after } : 'expired';
    },
  };
}
