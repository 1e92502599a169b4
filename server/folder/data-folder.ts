/** The data folder of the embedded server: one ledger file, one directory of objects, one owner, one format. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { FormatTooNew, FormatTooOld, StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { migrateLedger } from '../../storage/ports/migrate-ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { CopyProgress } from '../../storage/sqlite/sqlite-copy.ts';
import { isBusy } from '../../storage/sqlite/sqlite-file.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { FolderInUse, StartError, unusable, withFolder } from '../service/start-error.ts';
import { checkFileIsPrivate, checkFolderIsPrivate } from '../settings/private-files.ts';
import { openTarget } from '../target/open-target.ts';
import type { PublicTarget } from '../target/target.ts';
import { checkFolderFormat, keepFolderFormat } from './folder-format.ts';

export const LEDGER_FILE = 'ledger.sqlite';
/** The name of a file in a folder that a restore has begun to change and has not finished. */
export const RESTORING_FILE = 'restoring';
/** The name of the folder in which a restore makes its files. */
export const RESTORE_STAGE = 'restore.partial';

export interface DataFolder {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** The place of the public files. Release it before you close the folder, if something was published. */
  readonly target: PublicTarget;
  /** Removes expired items of the ledger: see `SqliteLedger`. */
  removeExpired(beforeMs: number, limit: number): number;
  emptyLog(): void;
  /** See `SqliteLedger`. */
  discardChanges(): void;
  checkWritable(): void;
  copyLedger(path: string, progress: CopyProgress): Promise<void>;
  close(): void;
}

export interface OpenOptions {
  /** True for a restore that has put the files in place, and now opens the folder. */
  readonly isRestoring?: boolean;
  /** A new place for the public files, as for `openTarget`. Null: they stay in their place. */
  readonly target?: string | null;
}

/**
 * Opens the folder, creates missing parts, migrates a ledger of an earlier format, and keeps other processes out until this
 * one ends.
 *
 * @throws StartError if the folder cannot be written, belongs to another user or a running server, is damaged, or has a format
 *   that this version does not know
 */
export async function openDataFolder(
  folder: string,
  { isRestoring = false, target = null }: OpenOptions = {},
): Promise<DataFolder> {
  checkIsPrivate(folder);
  if (!isRestoring) checkNotHalf(folder);
  checkFolderFormat(folder);
  // Opened before anything is made: an unusable target must not leave a new ledger behind.
  const opened = await openTarget(folder, target);
  try {
    const ledger = openSqliteLedger(join(folder, LEDGER_FILE), { exclusive: true });
    try {
      await migrateLedger({ ...systemRuntime, ledger });
      keepFolderFormat(folder);
      leaveOwner(folder);
      // A restore that was killed here has changed nothing, and may have left a whole backup.
      for (const name of [RESTORE_STAGE, `${RESTORING_FILE}.partial`])
        rmSync(join(folder, name), { recursive: true, force: true });
      return {
        ledger,
        objects: await opened.open(),
        target: opened,
        removeExpired: (beforeMs, limit) => ledger.removeExpired(beforeMs, limit),
        emptyLog: () => ledger.emptyLog(),
        discardChanges: () => ledger.discardChanges(),
        checkWritable: () => ledger.checkWritable(),
        copyLedger: (path, progress) => ledger.copyTo(path, progress),
        close: () => ledger.close(),
      };
    } catch (error) {
      ledger.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof StorageUnavailable || error instanceof StorageCorrupt) throw refusalOf(folder, error);
    if (error instanceof FormatTooNew || error instanceof FormatTooOld) throw unusable(folder, error);
    throw error;
  }
}

/** Reads the ledger alone. @throws StartError as {@link openDataFolder} does */
export async function withLedger<Result>(folder: string, read: (ledger: Ledger) => Promise<Result>): Promise<Result> {
  checkIsPrivate(folder);
  try {
    const ledger = openSqliteLedger(join(folder, LEDGER_FILE), { exclusive: true });
    try {
      return await read(ledger);
    } finally {
      ledger.close();
    }
  } catch (error) {
    throw error instanceof StorageUnavailable || error instanceof StorageCorrupt ? refusalOf(folder, error) : error;
  }
}

/**
 * Checks a folder whose ledger will be moved away. A damaged ledger is not a fault.
 *
 * @throws StartError if another process has it open
 */
export function checkNotInUse(folder: string): void {
  try {
    openSqliteLedger(join(folder, LEDGER_FILE), { exclusive: true }).close();
  } catch (error) {
    if (error instanceof StorageUnavailable) throw refusalOf(folder, error);
    if (!(error instanceof StorageCorrupt)) throw error;
  }
}

function refusalOf(folder: string, cause: Error): StartError {
  if (!isBusy(cause.cause)) return unusable(folder, cause);
  const owner = lockOwner(folder);
  const who = owner === null ? 'another program that has its ledger open' : `process ${owner}`;
  const message = `The data folder ${folder} is in use by ${who}: stop it, or set TIDEMARK_DATA to another folder.`;
  return new FolderInUse(message, { cause });
}

/** Checks for commands that need a ledger. @throws StartError if the folder has no ledger, or a restore was interrupted */
export function checkHasLedger(folder: string): void {
  checkNotHalf(folder);
  if (existsSync(join(folder, LEDGER_FILE))) return;
  throw new StartError(`There is no ledger in ${folder}: set TIDEMARK_DATA to the data folder of the server.`);
}

/** @throws StartError if a restore was interrupted */
export function checkNotHalf(folder: string): void {
  if (!existsSync(join(folder, RESTORING_FILE))) return;
  throw new StartError(`A restore into ${folder} was interrupted: repeat \`tidemark restore\`.`);
}

/** Called before anything in the folder is read. */
function checkIsPrivate(folder: string): void {
  withFolder(folder, () => {
    checkFolderIsPrivate(folder);
    for (const name of [LEDGER_FILE, OWNER_FILE]) checkFileIsPrivate(join(folder, name));
  });
}

/**
 * The file with the id of the process that has the folder open. It serves messages only: the lock on the ledger excludes
 * others.
 */
const OWNER_FILE = 'process-id';

function leaveOwner(folder: string): void {
  try {
    writeFileSync(join(folder, OWNER_FILE), `${process.pid}\n`);
  } catch {
    // Ignored: only a message needs this file. If the folder cannot be written, opening the ledger fails with a clear message.
  }
}

/** The running process that has left its id. The file outlives its process, so another program may have the lock: null. */
function lockOwner(folder: string): number | null {
  try {
    const owner = Number(readFileSync(join(folder, OWNER_FILE), 'utf8'));
    return owner > 0 && isRunning(owner) ? owner : null;
  } catch {
    return null;
  }
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
