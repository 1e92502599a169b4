import { ulid } from 'ulid';

const ULID_RANDOM_CHARACTERS = 16;

/** A ULID: 48 bits of time and 80 random bits. Sorts by time. */
export function newUlid(nowMs: number, randomBytes: (count: number) => Uint8Array): string {
  const bytes = randomBytes(ULID_RANDOM_CHARACTERS);
  let next = 0;
  // Five bits for each character.
  return ulid(nowMs, () => ((bytes[next++] as number) & 31) / 32);
}
