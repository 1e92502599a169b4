/** `tidemark doctor`, the part about this machine: settings, data folder, ledger, backups. Changes nothing. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopback } from '../../lambdas/http/network.ts';
import { findDamagedObjects } from '../../storage/directory/damaged-files.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { examineLedgerFile } from '../../storage/sqlite/sqlite-copy.ts';
import { serverOf, socketOf } from '../backup/control-socket.ts';
import { sizeOf } from '../backup/copied-files.ts';
import { readLastBackup } from '../backup/last-backup.ts';
import { checkLedgerCopy, takeSnapshot } from '../backup/snapshot.ts';
import { checkHasLedger, LEDGER_FILE } from '../folder/data-folder.ts';
import { checkFolderFormat, readFolderFormat } from '../folder/folder-format.ts';
import { StartError } from '../service/start-error.ts';
import { checkClock, type EmbeddedConfig, type Environment, readConfig } from '../settings/config.ts';
import { readLogKeys } from '../settings/log-key.ts';
import { checkFileIsPrivate, checkFolderIsPrivate } from '../settings/private-files.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';
import { nameOfBucket, readBucketMemory } from '../target/bucket-memory.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import { type Diagnosis, diagnose, fault, ok, warning } from './diagnosis.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Nightly backups are up to 24 hours old. Twice that, and a margin. */
const OLD_BACKUP_HOURS = 50;
const RESTORE = 'Restore the newest backup: docs/operations.md, "Restore the ledger".';

export interface FolderQuestion {
  /** Whether to read the whole ledger; of a running server, through a snapshot. */
  readonly readsLedger: boolean;
  readonly nowMs: number;
  readonly progress?: ProgressLine;
}

export interface FolderReport {
  /** Empty if there is no data folder, and the environment names none. */
  readonly found: readonly Diagnosis[];
  /** The base URL of the server that runs there. */
  readonly server: string | null;
}

export async function examineFolder(environment: Environment, question: FolderQuestion): Promise<FolderReport> {
  const describe = (running: string | null) =>
    diagnose('configuration', 'Correct it in the environment of the server.', async () =>
      describeConfig(readConfig(environment), running),
    );
  const settings = await describe(null);
  if (settings.some(isFault)) return { found: settings, server: null };
  const { dataFolder } = readConfig(environment);
  if (!existsSync(dataFolder) && !environment.TIDEMARK_DATA) return { found: [], server: null };
  const node = ok('node', `${process.versions.node}, SQLite ${process.versions.sqlite}`);
  const hasLedger = await diagnose('data folder', 'Name it with --data, or restore a backup.', async () => {
    checkHasLedger(dataFolder);
    return ok('data folder', dataFolder);
  });
  if (hasLedger.some(isFault)) return { found: [...settings, node, ...hasLedger], server: null };
  let server: string | null = null;
  const running = await diagnose('server', 'Remove that file, and start the server again.', async () => {
    server = await serverOf(dataFolder);
    const socket = socketOf(dataFolder);
    // A server that stops normally removes its socket.
    if (server !== null || !existsSync(socket)) return ok('server', server ?? 'does not run');
    const detail = `${socket} was left, and nothing answers: the server was killed or crashed`;
    return warning(
      'server',
      detail,
      `Start it again: tidemark start --data ${dataFolder}, or systemctl start tidemark.`,
    );
  });
  // The running server may have other settings than this shell.
  const actual = server === null ? settings : await describe(server);
  const files = await examineFiles(dataFolder, question, server !== null);
  const found = [...actual, node, ...hasLedger, ...running, ...files];
  return { found, server };
}

async function examineFiles(
  folder: string,
  { readsLedger, nowMs, progress }: FolderQuestion,
  isRunning: boolean,
): Promise<readonly Diagnosis[]> {
  const checks = [
    diagnose('clock', 'Run a time service, such as chrony.', async () => {
      checkClock(nowMs);
      return ok('clock', new Date(nowMs).toISOString());
    }),
    diagnose('permissions', 'Run this command as the user of the server.', () => examinePermissions(folder)),
    diagnose('disk space', 'Mount the disk of the data folder.', () => examineSpace(folder)),
    diagnose('format', 'Run the version that wrote the folder, or a later one.', async () => examineFormat(folder)),
    diagnose('ledger', RESTORE, async () =>
      isRunning ? await examineRunning(folder, readsLedger) : examineStopped(join(folder, LEDGER_FILE)),
    ),
    diagnose('objects', 'Mount the disk of the data folder, or start the server.', () =>
      examineObjects(folder, progress),
    ),
    diagnose('log key', 'See docs/operations.md, "The key of the log".', async () => examineLogKey(folder)),
    diagnose('backup', 'Run `tidemark backup` anew.', async () => examineBackups(folder, nowMs)),
  ];
  return (await Promise.all(checks)).flat();
}

const isFault = ({ state }: Diagnosis) => state === 'fault';

/** @param running the base URL of the server that runs */
function describeConfig(
  { host, port, issuer, isLocalIssuerAllowed }: EmbeddedConfig,
  running: string | null,
): Diagnosis {
  const users = issuer !== null ? issuer.issuer : isLocalIssuerAllowed ? 'tokens of this machine' : 'nobody';
  const place =
    running === null ? `listens on ${host}, port ${port};` : `the server runs on ${running}; in this shell,`;
  const detail = `${place} users sign in by ${users}`;
  if (isLoopback(host)) return ok('configuration', detail);
  const hint = 'Put a proxy with TLS before it, or listen on 127.0.0.1: docs/self-hosting.md.';
  return warning('configuration', `${detail}: keys travel in clear text to that address`, hint);
}

function examineFormat(folder: string): Diagnosis {
  checkFolderFormat(folder);
  return ok('format', String(readFolderFormat(folder) ?? 'none yet'));
}

function examineLogKey(folder: string): Diagnosis {
  const keys = readLogKeys(folder);
  if (keys === null) return ok('log key', 'none in the folder: TIDEMARK_LOG_KEY gives it, or the first start makes it');
  const [{ name, keyId }] = keys;
  const detail = `${name}, key ${keyId.toString(16).padStart(8, '0')}`;
  if (keys.length === 1) return ok('log key', detail);
  const hint = 'Once readers have taken the new key over: `tidemark log end-rotation`.';
  return warning('log key', `${detail}; a rotation is under way`, hint);
}

async function examineRunning(folder: string, readsLedger: boolean): Promise<Diagnosis> {
  if (!readsLedger) return ok('ledger', 'in use by the server; --ledger and each backup check all of it');
  const snapshot = await takeSnapshot(folder, () => {});
  try {
    const { generation } = await checkLedgerCopy(snapshot.path);
    return ok('ledger', `undamaged, at generation ${generation ?? 0}`);
  } finally {
    await snapshot.release();
  }
}

function examineStopped(file: string): Diagnosis {
  try {
    const damage = examineLedgerFile(file);
    return damage.length === 0 ? ok('ledger', 'undamaged') : fault('ledger', damage.join('; '), RESTORE);
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const hint = 'If a server is starting, wait for it. Otherwise look for the process that uses the folder.';
    return warning('ledger', error.message, hint);
  }
}

async function examineObjects(folder: string, progress: ProgressLine | undefined): Promise<Diagnosis> {
  const bucket = readBucketMemory(folder);
  const elsewhere = bucket === null ? '' : `; the public ones are in ${nameOfBucket(bucket)}, which was not read`;
  const { read, damaged } = await findDamagedObjects(folder, true, (count, of) =>
    progress?.at('Reading the objects', { share: count / of, count, unit: 'file' }),
  );
  if (damaged.length === 0) return ok('objects', `${read} files, all undamaged${elsewhere}`);
  const some = damaged.slice(0, 3).join(', ');
  const hint =
    'A server publishes them again within a minute of its start, and of the first read. If one stays, delete its file, and see to the disk.';
  return fault('objects', `${damaged.length} of ${read} files are damaged: ${some}`, hint);
}

function examineBackups(folder: string, nowMs: number): Diagnosis {
  const last = readLastBackup(folder);
  const nightly = 'Run `tidemark backup FOLDER` every night, to another disk.';
  if (last === null) return warning('backup', 'none is known', nightly);
  const hours = Math.floor((nowMs - Date.parse(last.at)) / HOUR_MS);
  const detail = `${last.backup}, ${hours} h ago`;
  if (hours > OLD_BACKUP_HOURS) return warning('backup', detail, nightly);
  if (existsSync(last.backup)) return ok('backup', detail);
  return warning('backup', `${detail}: it is missing now`, 'Mount its disk, and check that the backup is still on it.');
}

const MEGABYTE = 1_000_000;
/** Enough for the write-ahead log, which may grow to 64 MB, and more. */
const NEEDED_BYTES = 200 * MEGABYTE;
const FEW_INODES = 0.05;

const MAKE_ROOM = 'Make room, or move the folder to a larger disk: with a full disk, writes are refused.';

const MAKE_WRITABLE =
  'Mount it writable. A disk that has failed is often mounted read-only: see the log of the system.';

async function examineSpace(folder: string): Promise<readonly Diagnosis[]> {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    // Other errors are those of permissions.
    if ((error as NodeJS.ErrnoException).code === 'EROFS')
      return [fault('disk space', `${folder} is on a read-only disk`, MAKE_WRITABLE)];
  }
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder);
  const found: Diagnosis[] = [];
  // Some file systems report no number of blocks.
  if (blocks > 0) {
    const free = bavail * bsize;
    const ledger = (await sizeOf(join(folder, LEDGER_FILE))) ?? 0;
    const detail = `${Math.floor(free / MEGABYTE)} MB free`;
    if (free < NEEDED_BYTES) found.push(fault('disk space', detail, MAKE_ROOM));
    else if (free < 2 * ledger) {
      const backup = `${detail}, and the ledger has ${Math.ceil(ledger / MEGABYTE)} MB`;
      found.push(warning('disk space', backup, 'Make room: a backup needs as much space as the ledger.'));
    } else found.push(ok('disk space', detail));
  }
  if (files > 0) {
    const detail = `${Math.floor((100 * ffree) / files)} % of inodes are free`;
    found.push(
      ffree < FEW_INODES * files
        ? fault('inodes', detail, 'Remove small files, or move the folder: each published object is a file.')
        : ok('inodes', detail),
    );
  }
  return found;
}

async function examinePermissions(folder: string): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [];
  try {
    checkFolderIsPrivate(folder);
    for (const name of readdirSync(folder)) {
      if (lstatSync(join(folder, name)).isFile()) checkFileIsPrivate(join(folder, name));
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    found.push(fault('permissions', error.message, 'Run this command as the user of the server. See chown, chmod.'));
  }
  const isReadable = (path: string) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
  const readable = SECRET_FILES.map((name) => join(folder, name)).filter(isReadable);
  if (readable.length > 0) {
    const detail = `other users can read ${readable.join(', ')}`;
    found.push(fault('secrets', detail, `chmod 600 ${readable.join(' ')}; then rotate the operator's key.`));
  } else if (found.length === 0 && isReadable(folder)) {
    found.push(warning('permissions', `other users can list ${folder}`, `chmod 700 ${folder}`));
  }
  return found.length > 0 ? found : [ok('permissions', 'only the owner can read the folder and its secrets')];
}
