/**
 * Puts the files of a backup into a data folder. The published objects stay: readers are served from them until the
 * ledger has published everything again. All other files are moved aside, and none is deleted.
 *
 * Crash safety: first everything is copied beside the old files, which stay in use. Then the folder is marked, so that no
 * server starts on a partly restored folder, and files are only renamed. After an interruption the next attempt starts again,
 * and moves aside all files that it finds.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, syncPath } from '../../storage/directory/durable-files.ts';
import { PUBLIC_FOLDER, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import { openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { checkNotInUse, LEDGER_FILE, RESTORE_STAGE, RESTORING_FILE } from '../folder/data-folder.ts';
import { StartError, unusable, withFolder } from '../service/start-error.ts';
import { checkFolderIsPrivate } from '../settings/private-files.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';
import { type CopyStep, checkRoom, copyDurably, isSame, writeDurably } from './copied-files.ts';
import { filesOfBackup } from './manifest.ts';
import type { ChosenBackup } from './read-backup.ts';

/** The prefix of the folders that keep the replaced files. */
export const ASIDE = 'replaced-';
/** The folders of published objects; the last one is from versions before plain files. */
const OBJECTS: readonly string[] = [PUBLIC_FOLDER, STORE_FOLDER, 'objects'];

export interface ReplaceOptions {
  readonly dataFolder: string;
  readonly nowMs: number;
  /** The name of the restored backup or log, which the mark states. */
  readonly name: string;
  /** More files that stay in place, besides the published objects. */
  readonly stay?: readonly string[];
  /** Makes the new files in this folder. If it rejects, nothing has changed. */
  readonly stage: (folder: string) => Promise<void>;
}

/**
 * Changes nothing.
 *
 * @param replace whether an existing ledger may be moved aside
 * @throws StartError if the folder is in use, or, without `replace`, holds a ledger or files of others
 */
export function checkMayBeReplaced(dataFolder: string, replace: boolean): void {
  withFolder(dataFolder, () => {
    if (!existsSync(dataFolder)) return;
    checkFolderIsPrivate(dataFolder);
    if (!existsSync(join(dataFolder, LEDGER_FILE))) {
      if (replace || isKnownOrEmpty(readdirSync(dataFolder))) return;
      throw new StartError(
        `${dataFolder} holds files that are not of Tidemark: choose an empty folder by --data, or repeat with --replace, which moves them aside.`,
      );
    }
    if (!replace && !existsSync(join(dataFolder, RESTORING_FILE))) {
      throw new StartError(
        `${dataFolder} holds a ledger: repeat with --replace, which moves it aside, or choose another folder by --data.`,
      );
    }
    checkNotInUse(dataFolder);
  });
}

function isKnownOrEmpty(names: readonly string[]): boolean {
  const known: readonly string[] = [...OBJECTS, ...SECRET_FILES, RESTORE_STAGE, RESTORING_FILE];
  return names.every((name) => name === 'lost+found') || names.some((name) => known.includes(name));
}

/**
 * Returns the path of the folder that holds the replaced files; null: nothing was replaced. On return the folder is still
 * marked: see {@link finishRestore}.
 *
 * @throws StartError if the folder is in use, cannot be written, or `stage` rejects
 */
export async function replaceFiles({ dataFolder, nowMs, name, stay, stage }: ReplaceOptions): Promise<string | null> {
  try {
    await makeFolder(dataFolder);
    // A process may have begun to use the folder while the person answered a question.
    checkMayBeReplaced(dataFolder, true);
    const staged = join(dataFolder, RESTORE_STAGE);
    await rm(staged, { recursive: true, force: true });
    await mkdir(staged);
    try {
      await stage(staged);
      // Checked again, because staging may have taken minutes.
      checkMayBeReplaced(dataFolder, true);
      await writeDurably(join(dataFolder, RESTORING_FILE), `${name}\n`);
    } catch (error) {
      // An earlier attempt may have left this folder. Its files may have filled the disk.
      await rm(staged, { recursive: true, force: true });
      throw error;
    }
    const aside = await moveAside(dataFolder, nowMs, stay);
    for (const file of await readdir(staged)) await rename(join(staged, file), join(dataFolder, file));
    await rm(staged, { recursive: true });
    await syncPath(dataFolder);
    return aside;
  } catch (error) {
    throw error instanceof StartError ? error : unusable(dataFolder, error as Error);
  }
}

/** Call it when the ledger is ready for publishing. */
export async function finishRestore(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, RESTORING_FILE));
  await syncPath(dataFolder);
}

/** Copies the files of a backup into the folder of {@link ReplaceOptions.stage}. */
export async function copyBackup(
  staged: string,
  { dir, name, manifest }: ChosenBackup,
  progress: CopyStep,
): Promise<void> {
  const files = filesOfBackup(name, manifest);
  const sizes = [...files.values()].map(({ bytes }) => bytes);
  await checkRoom(
    staged,
    sizes.reduce((sum, bytes) => sum + bytes, 0),
  );
  let done = 0;
  for (const [path, content] of files) {
    progress('Copying the backup', done++, files.size);
    const target = path.startsWith(`${name}/`) ? path.slice(name.length + 1) : path;
    const copied = await copyDurably(join(dir, path), join(staged, target), content.bytes);
    if (!isSame(copied, content)) throw new StartError(`${join(dir, path)} has changed while it was read: try again.`);
  }
  // Checked before any file is moved, because a later version may have written the ledger.
  openLedgerCopy(join(staged, LEDGER_FILE)).close();
}

/** Moves everything aside except the objects and the folders of earlier restores. */
async function moveAside(dataFolder: string, nowMs: number, stay: readonly string[] = []): Promise<string | null> {
  const stays = (name: string) =>
    [...OBJECTS, ...stay].includes(name) || name === RESTORE_STAGE || name === RESTORING_FILE || name.startsWith(ASIDE);
  const names = (await readdir(dataFolder)).filter((name) => !stays(name));
  if (names.length === 0) return null;
  const aside = join(dataFolder, ASIDE + new Date(nowMs).toISOString().replaceAll(':', '-'));
  await mkdir(aside);
  for (const name of names) await rename(join(dataFolder, name), join(aside, name));
  await syncPath(aside);
  await syncPath(dataFolder);
  return aside;
}
