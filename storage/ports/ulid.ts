import { hash } from 'node:crypto';
import { encodeTime, ulid } from 'ulid';

const ULID_TIME_CHARACTERS = 10;
const ULID_RANDOM_CHARACTERS = 16;

/** A ULID: 48 bits of time and 80 random bits. Sorts by time. */
export function newUlid(nowMs: number, randomBytes: (count: number) => Uint8Array): string {
  const bytes = randomBytes(ULID_RANDOM_CHARACTERS);
  let next = 0;
  // Five bits for each character.
  return ulid(nowMs, () => ((bytes[next++] as number) & 31) / 32);
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The form of a ULID with a digest of the content instead of random bits. The same content gives the same id. */
export function digestedUlid(timeMs: number, content: string): string {
  let id = encodeTime(Math.floor(timeMs), ULID_TIME_CHARACTERS);
  const digest = hash('sha256', content, 'buffer').subarray(0, ULID_RANDOM_CHARACTERS);
  for (const byte of digest) id += CROCKFORD.charAt(byte & 31);
  return id;
}
