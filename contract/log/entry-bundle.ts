/** Up to 256 entries as one file: C2SP's entry bundle, and the same entries as lines. */

import { LogFaultError } from './log-fault-error.ts';
import { leafHash } from './merkle.ts';

/** The greatest length of an entry in bytes: a bundle gives lengths as uint16. */
export const ENTRY_BYTES_MAX = 0xffff;

const LENGTH_BYTES = 2;

/**
 * Encodes entries: each follows its length as a big-endian uint16 (C2SP tlog-tiles, "Log entries").
 *
 * @throws RangeError for an entry over 65,535 bytes
 */
export function encodeEntryBundle(entries: readonly (string | Uint8Array)[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    const bytes = typeof entry === 'string' ? Buffer.from(entry) : entry;
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(bytes.length);
    parts.push(length, bytes);
  }
  return Buffer.concat(parts);
}

/** @throws LogFaultError if the bundle ends within an entry */
export function decodeEntryBundle(bundle: Buffer): readonly Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; ) {
    const start = at + LENGTH_BYTES;
    const end = start > bundle.length ? start : start + bundle.readUInt16BE(at);
    if (end > bundle.length) throw new LogFaultError(`entry ${entries.length} of a bundle is cut off`);
    entries.push(bundle.subarray(start, end));
    at = end;
  }
  return entries;
}

/** The entries as NDJSON: line i is entry i, byte for byte. Canonical JSON has no line breaks. */
export function ndjsonTile(entries: readonly string[]): string {
  return entries.map((entry) => `${entry}\n`).join('');
}

/** The line that replaces an entry that was taken down: it keeps the hash, so the tree can still be verified. */
export function takenDownLine(leaf: Buffer): string {
  return `{"takenDown":"${leaf.toString('base64')}"}`;
}

/** The leaf hash in a {@link takenDownLine}; null for an entry. */
export function takenDownHash(line: string): Buffer | null {
  const text = /^\{"takenDown":"([A-Za-z0-9+/]{43}=)"\}$/.exec(line)?.[1];
  return text === undefined ? null : Buffer.from(text, 'base64');
}

/** The leaf hash of an entry, or of one that was taken down. */
export function leafOf(line: string): Buffer {
  return takenDownHash(line) ?? leafHash(line);
}
