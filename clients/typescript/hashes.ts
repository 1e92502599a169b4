/** The hashes of the log (RFC 6962, section 2.1) with WebCrypto, and their text forms. */
import { HASH_LENGTH } from '../../contract/log/ranges.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

export const encodedText = (text: string): Bytes => new TextEncoder().encode(text);

export const sha256Of = async (...parts: readonly Uint8Array[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', joinedBytes(parts)));

export const leafHashOf = async (entry: Bytes): Promise<Bytes> => await sha256Of(new Uint8Array([0]), entry);

export const nodeHashOf = async (left: Bytes, right: Bytes): Promise<Bytes> =>
  await sha256Of(new Uint8Array([1]), left, right);

/** The root over a power of two of hashes, from 1 to 256. */
export async function perfectRootOf(hashes: Bytes): Promise<Bytes> {
  if (hashes.length === HASH_LENGTH) return hashes;
  const half = hashes.length / 2;
  return await nodeHashOf(await perfectRootOf(hashes.subarray(0, half)), await perfectRootOf(hashes.subarray(half)));
}

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const isSameHash = (one: Bytes, other: Bytes): boolean => hexOf(one) === hexOf(other);

export function joinedBytes(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Null for text that differs from the encoding of its bytes: `atob` decodes several texts to the same bytes. */
export function fromBase64(text: string): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
