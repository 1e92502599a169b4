/**
 * The private keys of the log: `log-key`, and during a rotation `log-key-previous`. Then both sign. Readers remember the public
 * keys. So a missing key, or a key of another log, is an error, and no new key replaces it: docs/operations.md, "The key of the
 * log".
 */
import { join } from 'node:path';
import { publicKey } from '../../contract/files/public-objects.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { ed25519Signer, type NoteSigner, parseNote, privateNoteKey } from '../../contract/log/notes.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import type { GivenSecret } from './given-secret.ts';
import { keepSecretFile, readSecretFile, type SecretFile } from './secret-files.ts';

const SEED_BYTES = 32;
const SEE = 'See docs/operations.md, "The key of the log".';

/** A text without a key. */
interface NoKey {
  readonly Fault: typeof StartError;
  readonly remedy: string;
}
const IN_FOLDER: NoKey = { Fault: StartError, remedy: 'put it back from a backup' };
const GIVEN: NoKey = {
  Fault: SettingError,
  remedy: 'it must hold what a file log-key holds, as `tidemark log keys new` prints it',
};

export interface LogKeys {
  readonly origin: string;
  /** The signers, newest first. */
  readonly signers: readonly [NoteSigner, ...NoteSigner[]];
  /** Whether this call has made the key. */
  readonly isNew: boolean;
  /** The newest key that signed the published log is not here, e.g. after a restore from before a rotation. */
  readonly warning: string | null;
}

export interface LogKeysOptions {
  readonly folder: string;
  /**
   * A key from the environment, used instead of the folder's keys and never written there. It has the form of `log-key`; during
   * a rotation, the content of `log-key-previous` follows. Default: none.
   */
  readonly given?: GivenSecret | null;
  /** The configured name of the log; null: the name of its key, or a random one for a new log. */
  readonly origin: string | null;
  /** The published checkpoint; null: the log has none yet. */
  readonly checkpoint: string | null;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Reads the keys. Makes the first key if nothing was ever signed.
 *
 * @throws StartError if a key is missing, damaged, readable for other users, or belongs to another log
 */
export function keepLogKeys(options: LogKeysOptions): LogKeys {
  const { folder, given = null, origin, checkpoint, randomBytes } = options;
  const place = given?.place ?? join(folder, 'log-key');
  const found = signingKeys(folder, given);
  const published = publishedLog(checkpoint);
  if (found === null) {
    if (published !== null) {
      throw new StartError(
        `${join(folder, 'log-key')} is missing, and the log ${published.origin} was signed with it: put it back from a backup, or from the folder replaced-… that a restore has left, or set TIDEMARK_LOG_KEY to it. ${SEE}`,
      );
    }
    const name = origin ?? newLogOrigin(randomBytes);
    const text = keepSecretFile(
      folder,
      'log-key',
      () => newLogKey(name, randomBytes),
      () => true,
    );
    return { origin: name, signers: [logKeyOf(place, text)], isNew: true, warning: null };
  }
  const [{ name }] = found;
  if (origin !== null && origin !== name) {
    throw new StartError(
      `TIDEMARK_LOG_ORIGIN is ${origin}, and ${place} is the key of ${name}: the name of a log never changes. Unset it.`,
    );
  }
  const isNewest = published === null || signsLikeNewest(place, found, published);
  const warning = `The newest key that signed the log ${name} is missing, so only the key in ${place} signs from now on. If a restore has taken the newest key away: stop, copy log-key* out of the folder replaced-… that the restore has left, and start again. ${SEE}`;
  return { origin: name, signers: found, isNew: false, warning: isNewest ? null : warning };
}

/**
 * Returns the signing keys, newest first: the given keys, or else the folder's keys. Null: there is no key.
 *
 * @throws StartError as {@link readLogKeys} does, and if the given text is malformed
 */
export function signingKeys(folder: string, given: GivenSecret | null): readonly [LogKey, ...LogKey[]] | null {
  return given === null ? readLogKeys(folder) : givenKeys(given);
}

/** The given keys, newest first. Each starts a line; during a rotation, the previous key follows. */
function givenKeys({ place, text }: GivenSecret): readonly [LogKey, ...LogKey[]] {
  const [newest, ...older] = text.split(/\n(?=PRIVATE\+KEY\+)/).map((key) => logKeyOf(place, key.trim(), GIVEN));
  const other = older.find(({ name }) => name !== newest?.name);
  if (other === undefined) return [newest as LogKey, ...older];
  throw new SettingError(
    `${place} has keys of two logs, ${newest?.name} and ${other.name}: delete the one that is not of this log.`,
  );
}

/** A key of the log. `replaces`: the ids of lost keys whose log this key continues; usually empty. */
export interface LogKey extends NoteSigner {
  readonly replaces: readonly number[];
}

/** A random name, for a log without one. */
export function newLogOrigin(randomBytes: LogKeysOptions['randomBytes']): string {
  return `tidemark.local/${Buffer.from(randomBytes(4)).toString('hex')}`;
}

/** A new private key as one line. */
export function newLogKey(origin: string, randomBytes: LogKeysOptions['randomBytes']): string {
  return privateNoteKey(origin, randomBytes(SEED_BYTES));
}

/**
 * The keys in the folder, newest first; null if there is no key.
 *
 * @throws StartError if a key is damaged or readable for other users, or if the keys belong to two logs
 */
export function readLogKeys(folder: string): readonly [LogKey, ...LogKey[]] | null {
  const current = readLogKey(folder, 'log-key');
  if (current === null) return null;
  const previous = readLogKey(folder, 'log-key-previous');
  // An interrupted rotation may have left the same key in both files.
  if (previous === null || previous.vkey === current.vkey) return [current];
  if (previous.name === current.name) return [current, previous];
  throw new StartError(
    `${join(folder, 'log-key-previous')} is the key of ${previous.name}, and log-key is that of ${current.name}: delete the one that is not of this log.`,
  );
}

function readLogKey(folder: string, file: SecretFile): LogKey | null {
  const text = readSecretFile(folder, file);
  return text === null ? null : logKeyOf(join(folder, file), text);
}

/** The prefix of a second line, in a key that was made to replace lost ones. */
const REPLACES = 'replaces ';

/** The text of `log-key` for a key that continues the log of lost keys. */
export function logKeyInPlaceOf(key: string, lost: readonly number[]): string {
  return `${key}\n${REPLACES}${lost.join(' ')}`;
}

function logKeyOf(place: string, text: string, { Fault, remedy } = IN_FOLDER): LogKey {
  try {
    const [key = '', second = '', ...more] = text.split('\n');
    const isWhole = more.length === 0 && (second === '' || /^replaces \d{1,10}( \d{1,10})*$/.test(second));
    if (!isWhole) throw new LogFaultError('it has other lines than its key');
    const replaces = second === '' ? [] : second.slice(REPLACES.length).split(' ').map(Number);
    return { ...ed25519Signer(key), replaces };
  } catch (error) {
    if (!(error instanceof LogFaultError)) throw error;
    throw new Fault(`${place} is damaged: ${remedy}. ${SEE}`, { cause: error });
  }
}

/** The name of the log in a text of `log-key`. Null: the text holds no key. */
export function originOfLogKey(text: string | null): string | null {
  try {
    return text === null ? null : ed25519Signer(text.trim().split('\n')[0] ?? '').name;
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}

export interface PublishedLog {
  readonly origin: string;
  /** The ids of the keys that have signed the checkpoint. */
  readonly keyIds: readonly number[];
}

/** The log of a published checkpoint. Null if it cannot be read: the publisher then restores it from the ledger. */
export function publishedLog(checkpoint: string | null): PublishedLog | null {
  if (checkpoint === null) return null;
  try {
    const { text, signatures } = parseNote(checkpoint);
    const [origin = ''] = text.split('\n');
    return { origin, keyIds: signatures.filter(({ name }) => name === origin).map(({ keyId }) => keyId) };
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}

/** The published checkpoint. Null: the store has no checkpoint. */
export async function readLogCheckpoint(objects: Pick<ObjectStore, 'get'>): Promise<string | null> {
  const found = await objects.get(publicKey({ kind: 'log-checkpoint' }));
  return found.kind === 'found' ? Buffer.from(found.body).toString('utf8') : null;
}

/**
 * Whether the newest key that signed the published log is one of ours.
 *
 * @throws StartError if none is: a key in the folder by mistake would otherwise continue the log of another key, and readers
 *   would refuse that log
 */
function signsLikeNewest(file: string, signers: readonly [LogKey, ...LogKey[]], published: PublishedLog): boolean {
  const [{ name }] = signers;
  if (published.origin !== name) {
    throw new StartError(
      `${file} is the key of ${name}, and the published log is ${published.origin}: put its own key back from a backup. ${SEE}`,
    );
  }
  const ours = signers.flatMap(({ keyId, replaces }) => [keyId, ...replaces]);
  // The newest key signs first.
  if (ours.some((keyId) => published.keyIds.includes(keyId)))
    return ours.some((keyId) => keyId === published.keyIds[0]);
  throw new StartError(
    `${file} has not signed the published log ${name}, another key has: put that one back from a backup, or from the folder replaced-… that a restore has left. ${SEE}`,
  );
}
