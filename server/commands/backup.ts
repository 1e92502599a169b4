/**
 * `tidemark backup`: copies all data that cannot be rebuilt, from a running or a stopped server
 * (docs/decisions/034-backups.md).
 */
import { readFileSync, realpathSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { makeFolder, syncPath } from '../../storage/directory/durable-files.ts';
import {
  type CopyStep,
  checkRoom,
  copyDurably,
  digestOf,
  findDamagedFiles,
  sizeOf,
  writeDurably,
} from '../backup/copied-files.ts';
import { leaveLastBackup } from '../backup/last-backup.ts';
import {
  backupNames,
  type Content,
  filesOfBackup,
  MANIFEST,
  MANIFEST_FORMAT,
  type Manifest,
  PARTIAL_SUFFIX,
  readManifest,
} from '../backup/manifest.ts';
import { copyShared, listShared } from '../backup/shared-files.ts';
import { checkLedgerCopy, takeSnapshot } from '../backup/snapshot.ts';
import { checkHasLedger, LEDGER_FILE } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { checkFolderIsPrivate } from '../settings/private-files.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';

export interface BackupCommand {
  readonly dir: string;
  /** Backups to keep, with this one. */
  readonly keep: number;
  /** Whether to read the copies of earlier backups again, too. */
  readonly verify: boolean;
  readonly progress: CopyStep;
}

export interface BackupReport {
  readonly backup: string;
  readonly generation: number | null;
  readonly ledgerBytes: number;
  /** The number of uploads and archived answers in this backup; and the number that this run has copied. */
  readonly sharedFiles: number;
  readonly copiedFiles: number;
  /** The names of the backups that are kept, oldest first. */
  readonly kept: readonly string[];
}

/**
 * Backs up everything that was acknowledged before the call. If it fails, the earlier backups stay unchanged.
 *
 * @throws StartError for a fault that an operator can correct
 */
export async function backUp(environment: Environment, command: BackupCommand): Promise<BackupReport> {
  process.umask(0o077);
  const nowMs = Date.now();
  checkClock(nowMs);
  const { dataFolder } = readConfig(environment);
  const { keep, verify, progress } = command;
  checkHasLedger(dataFolder);
  const dir = await openBackups(command.dir, dataFolder);
  const name = new Date(nowMs).toISOString().replaceAll(':', '-');
  const before = await newestManifest(dir, dataFolder, name);
  // Held until the end: it prevents a second backup of this folder at the same time.
  const snapshot = await takeSnapshot(dataFolder, (done, of) => progress('Taking a snapshot of the ledger', done, of));
  try {
    await removePartial(dir);
    await checkRoom(dir, await bytesToCopy(dataFolder, dir, snapshot.path));
    const partial = join(dir, name + PARTIAL_SUFFIX);
    const files = await copyOwn(dataFolder, snapshot.path, partial, progress);
    const known = await checkLedgerCopy(join(partial, LEDGER_FILE));
    // Copied after the snapshot, so every file that the snapshot names is complete.
    const { shared, copied } = await copyShared(dataFolder, dir, before, progress);
    const createdAt = new Date(nowMs).toISOString();
    const manifest = {
      format: MANIFEST_FORMAT,
      tidemark: readOwnVersion(),
      createdAt,
      ...known,
      files,
      shared,
    } as const;
    await writeDurably(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`);
    if (verify) await checkWhole(dir, name, manifest, progress);
    await rename(partial, join(dir, name));
    await syncPath(dir);
    leaveLastBackup(dataFolder, { at: createdAt, backup: join(dir, name) });
    return {
      backup: join(dir, name),
      generation: known.generation,
      ledgerBytes: files[LEDGER_FILE]?.bytes ?? 0,
      sharedFiles: Object.keys(shared).length,
      copiedFiles: copied,
      kept: await removeOldBackups(dir, keep),
    };
  } finally {
    await snapshot.release();
  }
}

function readOwnVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

/** Makes and checks the folder of backups. Returns its absolute path. */
async function openBackups(dir: string, dataFolder: string): Promise<string> {
  const absolute = resolve(dir);
  try {
    await makeFolder(absolute);
    checkFolderIsPrivate(absolute);
    const inside = relative(realpathSync(dataFolder), realpathSync(absolute));
    if (inside !== '..' && !inside.startsWith(`..${sep}`)) {
      throw new StartError(`${absolute} is in the data folder itself: choose a folder on another disk.`);
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${absolute} cannot be used for backups: ${(error as Error).message}`, { cause: error });
  }
  return absolute;
}

/** Null before the first backup. @throws StartError if the folder has later backups, or backups of another service */
async function newestManifest(dir: string, dataFolder: string, name: string): Promise<Manifest | null> {
  const newest = backupNames(dir).at(-1);
  if (newest === undefined) return null;
  // An earlier name would sort before the existing backups, and the new backup would be removed as the oldest.
  if (newest >= name) {
    throw new StartError(
      `${dir} holds a backup of a later time than this machine's clock: ${newest}. Set the clock; or if it is right, choose another folder.`,
    );
  }
  const manifest = readManifest(dir, newest);
  const secret = await digestOf(join(dataFolder, 'secret'));
  if (secret === null || manifest.files.secret === undefined || manifest.files.secret.sha256 === secret.sha256) {
    return manifest;
  }
  throw new StartError(`${dir} holds backups of another service (another secret): choose another folder.`);
}

/** Copies the ledger and the secrets. */
async function copyOwn(
  dataFolder: string,
  snapshot: string,
  partial: string,
  progress: CopyStep,
): Promise<Record<string, Content>> {
  progress('Copying the ledger', 0, 1);
  const ledger = await copyDurably(snapshot, join(partial, LEDGER_FILE));
  if (ledger === null) throw new StartError(`The snapshot ${snapshot} is gone: was the server restarted? Try again.`);
  const files: Record<string, Content> = { [LEDGER_FILE]: ledger };
  for (const name of SECRET_FILES) {
    const content = await copyDurably(join(dataFolder, name), join(partial, name));
    if (content !== null) files[name] = content;
  }
  return files;
}

/** The folder of an interrupted backup. Backups run one at a time, so no other process writes to it. */
async function removePartial(dir: string): Promise<void> {
  for (const name of await readdir(dir)) {
    if (name.endsWith(PARTIAL_SUFFIX)) await rm(join(dir, name), { recursive: true, force: true });
  }
}

/** The size of the ledger, and of the shared files that the folder of backups does not have yet. */
async function bytesToCopy(dataFolder: string, dir: string, snapshot: string): Promise<number> {
  let bytes = (await sizeOf(snapshot)) ?? 0;
  for (const path of await listShared(dataFolder)) {
    const [file, copy] = [await sizeOf(join(dataFolder, path)), await sizeOf(join(dir, path))];
    bytes += Math.max(0, (file ?? 0) - (copy ?? 0));
  }
  return bytes;
}

async function checkWhole(dir: string, name: string, manifest: Manifest, progress: CopyStep): Promise<void> {
  const files = filesOfBackup(name + PARTIAL_SUFFIX, manifest);
  const damaged = await findDamagedFiles(dir, files, (done, of) => progress('Reading the backup again', done, of));
  if (damaged.length === 0) return;
  throw new StartError(
    `In ${dir}, ${damaged.slice(0, 5).join('; ')}. Check that disk, delete the damaged files, and repeat the backup.`,
  );
}

/** Returns the names of the backups that are kept, oldest first. */
async function removeOldBackups(dir: string, keep: number): Promise<readonly string[]> {
  const names = backupNames(dir);
  const kept = names.slice(-keep);
  for (const name of names.slice(0, -keep)) {
    // Renamed first, so that a partly removed backup never looks complete.
    await rename(join(dir, name), join(dir, name + PARTIAL_SUFFIX));
    await syncPath(dir);
    await rm(join(dir, name + PARTIAL_SUFFIX), { recursive: true });
  }
  // If one manifest cannot be read, the files that it uses are unknown. Then all files stay, and the error is reported.
  const used = new Set(kept.flatMap((name) => Object.keys(readManifest(dir, name).shared)));
  for (const path of await listShared(dir)) {
    if (!used.has(path)) await rm(join(dir, path), { force: true });
  }
  return kept;
}
