/**
 * The format of an API key: `tdm_<env>_<key id>_<secret><checksum>`. Base62 has no underscore, so a double click
 * selects the whole key and its parts are never ambiguous. Secret scanners find published keys by the prefix. A wrong
 * checksum refuses a mistyped key without a look-up; it is no protection, because anyone can compute it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Runtime } from '../../storage/aws/runtime.ts';

/** The environment of a deployment. A key works only in deployments of its own environment. */
export type ApiKeyEnvironment = 'live' | 'test' | 'dev';

export interface ApiKeyParts {
  readonly env: ApiKeyEnvironment;
  /** 16 base62 characters; not secret. */
  readonly keyId: string;
  /** 33 base62 characters: 196 bits. */
  readonly secret: string;
}

/** The prefix of every API key. No JWT begins with it. */
export const API_KEY_PREFIX = 'tdm_';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 16;
const SECRET_LENGTH = 33;
/** Enough for CRC-32: 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6;

const API_KEY = new RegExp(
  `^${API_KEY_PREFIX}(live|test|dev)_([0-9A-Za-z]{${KEY_ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}})[0-9A-Za-z]{${CHECKSUM_LENGTH}}$`,
);

type RandomBytes = Runtime['randomBytes'];

export function newApiKey(env: ApiKeyEnvironment, randomBytes: RandomBytes): ApiKeyParts {
  return { env, keyId: randomBase62(KEY_ID_LENGTH, randomBytes), secret: newSecret(randomBytes) };
}

/** A secret for a key that is rotated and keeps its id. */
export function newSecret(randomBytes: RandomBytes): string {
  return randomBase62(SECRET_LENGTH, randomBytes);
}

/** The key as its owner sees it, once. */
export function formatApiKey({ env, keyId, secret }: ApiKeyParts): string {
  const unchecked = `${API_KEY_PREFIX}${env}_${keyId}_${secret}`;
  return unchecked + checksum(unchecked);
}

/** The parts of a key; null for text that is not a key or has a wrong checksum. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const match = API_KEY.exec(text);
  if (match === null || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return null;
  const [, env, keyId, secret] = match as unknown as [string, ApiKeyEnvironment, string, string];
  return { env, keyId, secret };
}

/** SHA-256 in hex. A plain digest is enough, because the secret cannot be guessed. */
export function hashSecret(secret: string): string {
  return digest(secret).toString('hex');
}

/** Compares in a time that does not depend on the number of right characters. */
export function secretMatches(secret: string, hash: string): boolean {
  const expected = Buffer.from(hash, 'hex');
  const actual = digest(secret);
  return expected.length === actual.length && timingSafeEqual(actual, expected);
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** CRC-32 as six base62 digits: any single changed character gives another checksum. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let count = 0; count < CHECKSUM_LENGTH; count++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/**
 * The largest multiple of 62 in the range of a byte. Bytes from here on would make the first characters more likely than
 * others.
 */
const UNBIASED_BELOW = 248;

function randomBase62(length: number, randomBytes: RandomBytes): string {
  let characters = '';
  while (characters.length < length) {
    for (const byte of randomBytes(length - characters.length)) {
      if (byte < UNBIASED_BELOW) characters += BASE62.charAt(byte % BASE62.length);
    }
  }
  return characters;
}
