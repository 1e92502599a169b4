/**
 * `tidemark log`: the keys of the log of a stopped server. Each command changes files only. From its next start on, the server
 * signs with the keys in these files, and announces a new key in the log.
 */
import { join } from 'node:path';
import { ed25519Signer } from '../../contract/log/notes.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { StartError } from '../service/start-error.ts';
import { type Environment, readConfig } from '../settings/config.ts';
import {
  keepLogKeys,
  type LogKeys,
  logKeyInPlaceOf,
  newLogKey,
  newLogOrigin,
  type PublishedLog,
  publishedLog,
  readLogCheckpoint,
  readLogKeys,
} from '../settings/log-key.ts';
import { keepSecretFile, removeSecretFile, replaceSecretFile } from '../settings/secret-files.ts';
import { useDataFolder } from './stopped-server.ts';
import type { Terminal } from './terminal.ts';

const { randomBytes } = systemRuntime;

interface LogFolder {
  readonly folder: string;
  readonly origin: string | null;
  /** Null: nothing has been signed yet. */
  readonly checkpoint: string | null;
  readonly published: PublishedLog | null;
  readonly terminal: Terminal;
}

/** Makes a key for a new log, and writes it nowhere. @param origin null: a random name */
export function makeLogKey(origin: string | null): { readonly key: string; readonly vkey: string } {
  const key = newLogKey(origin ?? newLogOrigin(randomBytes), randomBytes);
  return { key, vkey: ed25519Signer(key).vkey };
}

/** Prints the name of the log and its keys. @throws StartError as {@link useDataFolder} does */
export async function showLogKeys(environment: Environment): Promise<void> {
  await useLog(environment, (log) => printKeys(log.terminal, keysOf(log)));
}

/** Makes the next key. Both sign from the next start on, until {@link endLogRotation}. @throws as above */
export async function rotateLogKey(environment: Environment): Promise<void> {
  await useLog(environment, (log) => {
    const { origin, signers } = keysOf(log);
    if (signers.length > 1) {
      throw new StartError('A rotation is under way: end it with `tidemark log end-rotation`, then repeat this.');
    }
    replaceSecretFile(log.folder, 'log-key', newLogKey(origin, randomBytes), 'log-key-previous');
    log.terminal.done(`Made the next key of ${origin}`);
    printKeys(log.terminal, keysOf(log));
    log.terminal.say(
      '  The next start announces it in the log, and signs with both. Make a backup now: it holds the keys.',
    );
  });
}

/** Removes the previous key, once the published log is signed with the new one. @throws as above */
export async function endLogRotation(environment: Environment): Promise<void> {
  await useLog(environment, (log) => {
    const { origin, signers } = keysOf(log);
    if (signers.length === 1) throw new StartError('No rotation is under way: nothing was changed.');
    const isPublished = log.published?.keyIds.includes(signers[0].keyId) === true;
    if (!isPublished) {
      throw new StartError(
        `The log ${origin} is not signed with the new key yet: start the server, give readers time to take the new key over, then repeat this.`,
      );
    }
    removeSecretFile(log.folder, 'log-key-previous');
    log.terminal.done(`The previous key of ${origin} does not sign any more`);
    printKeys(log.terminal, keysOf(log));
  });
}

/** Makes a new key for a log whose key is permanently lost. @throws as above */
export async function replaceLostLogKey(environment: Environment): Promise<void> {
  await useLog(environment, ({ folder, published, terminal }) => {
    if (published === null) throw new StartError('Nothing was signed yet: the next start makes a key.');
    const file = join(folder, 'log-key');
    if (readLogKeys(folder) !== null)
      throw new StartError(`${file} is there: move it away first, if it is not the key.`);
    const { origin, keyIds } = published;
    keepSecretFile(
      folder,
      'log-key',
      () => logKeyInPlaceOf(newLogKey(origin, randomBytes), keyIds),
      () => true,
    );
    terminal.done(`Made another key for ${origin}, which the lost one has not signed`);
    printKeys(terminal, { origin, signers: readLogKeys(folder) as LogKeys['signers'] });
    terminal.say('  Tell your readers through another channel, and say why: docs/operations.md, "The key of the log".');
  });
}

async function useLog(environment: Environment, use: (log: LogFolder) => void): Promise<void> {
  await useDataFolder(environment, async ({ objects }, terminal) => {
    const { dataFolder: folder, logOrigin: origin } = readConfig(environment);
    const checkpoint = await readLogCheckpoint(objects);
    use({ folder, origin, checkpoint, published: publishedLog(checkpoint), terminal });
  });
}

function keysOf({ folder, origin, checkpoint }: LogFolder): LogKeys {
  if (checkpoint === null && readLogKeys(folder) === null) {
    throw new StartError('There is no log yet: the first start makes its key.');
  }
  return keepLogKeys({ folder, origin, checkpoint, randomBytes });
}

function printKeys(terminal: Terminal, { origin, signers }: Pick<LogKeys, 'origin' | 'signers'>): void {
  terminal.say(`  log        ${origin}`);
  for (const [index, { vkey }] of signers.entries())
    terminal.say(`  ${index === 0 ? 'signs    ' : 'signs too'}  ${vkey}`);
}
