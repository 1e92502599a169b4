/** Base64 with only one accepted spelling (RFC 4648, sections 3.5 and 4). Node's own decoder accepts nearly any text. */

/** The bytes. Null unless encoding them gives exactly this text. */
export function strictBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
