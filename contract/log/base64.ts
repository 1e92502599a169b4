/** Base64 that can be written in one way only (RFC 4648, sections 3.5 and 4). Node's own reader takes nearly anything. */

/** Null for a text that is not what encoding its bytes gives. */
export function strictBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
