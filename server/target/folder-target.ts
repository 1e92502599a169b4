/**
 * Another folder for the public files, such as the checkout of a static host. `public` of the data folder becomes a link to it,
 * so everything that reads or writes public files finds them there; ledger, index and bundles stay in the data folder
 * (docs/decisions/084-a-target-is-a-link.md).
 */
import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { publicKey } from '../../contract/files/public-objects.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { makeFolder, syncFolderSync } from '../../storage/directory/durable-files.ts';
import { ObjectIndex } from '../../storage/directory/object-index.ts';
import { ignoreMissing, indexPath, PUBLIC_FOLDER, READABLE_FOLDER } from '../../storage/directory/object-places.ts';
import { StartError } from '../service/start-error.ts';
import { lockTarget } from './folder-lock.ts';
import { stateInFolder } from './state-store.ts';
import type { PublicTarget } from './target.ts';

const SNAPSHOT = publicKey({ kind: 'snapshot' });
/** A page of this name exists on most sites, ours or not. */
export const INDEX_PAGE = 'index.html';

/**
 * @param named another folder for the public files from now on. Null: they stay in their place
 * @throws StartError for a folder that cannot be the target, before anything is made
 */
export function folderTarget(dataFolder: string, named: string | null): PublicTarget {
  const link = join(dataFolder, PUBLIC_FOLDER);
  if (named !== null) checkTarget(dataFolder, link, named);
  const folder = named ?? link;
  return {
    name: folder,
    isRemote: false,
    state: stateInFolder(folder),
    read: async (path) => (await readFile(join(folder, path)).catch(ignoreMissing)) ?? null,
    async lock() {
      if (named !== null) await makeTarget(named);
      // The lock of the ledger already protects a `public` folder inside the data folder.
      const isOwn = named === null && !(existsSync(link) && lstatSync(link).isSymbolicLink());
      return isOwn ? () => {} : lockTarget(realpathSync(folder));
    },
    async open() {
      if (named !== null) await attach(dataFolder, link, named);
      return await openDirectoryObjects(dataFolder);
    },
    onTaken: () => {},
    conditions: () => null,
    release: async () => {},
  };
}

function checkTarget(dataFolder: string, link: string, target: string): void {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) {
    throw new StartError(
      `${target} is neither a folder nor s3://BUCKET/PREFIX: name a folder, and copy it to the host with the host's own tool.`,
    );
  }
  checkNotNested(target);
  const path = realPlace(target);
  checkApart(realPlace(dataFolder), path);
  const isForeign = existsSync(join(path, INDEX_PAGE)) && !existsSync(fileIn(path, SNAPSHOT));
  if (isForeign && !isLinked(link, path)) throw foreignPage(path);
}

function isLinked(link: string, path: string): boolean {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(link) === path;
}

async function makeTarget(target: string): Promise<void> {
  await makeFolder(target, READABLE_FOLDER).catch((cause: Error) => {
    throw new StartError(`The target ${target} cannot be used: ${cause.message}`, { cause });
  });
}

/** @throws StartError if the folder cannot be made, or if the data folder itself has public files */
async function attach(dataFolder: string, link: string, target: string): Promise<void> {
  await makeTarget(target);
  const path = realpathSync(target);
  if (isLinked(link, path)) {
    if (isLaterThanIndex(dataFolder)) forgetIndex(dataFolder);
    return;
  }
  // The index describes the files of another place.
  forgetIndex(dataFolder);
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) removeEmptyFolder(link, path);
  const unnamed = `${link}.new`;
  rmSync(unnamed, { force: true });
  symlinkSync(path, unnamed, 'junction');
  renameSync(unnamed, link);
  syncFolderSync(dataFolder);
}

/**
 * Call it before the public files move to another place. Removes the link, and the index, which describes the old files.
 *
 * @throws StartError if the data folder itself has public files
 */
export function detachFolder(dataFolder: string, next: string): void {
  const link = join(dataFolder, PUBLIC_FOLDER);
  const before = lstatSync(link, { throwIfNoEntry: false });
  forgetIndex(dataFolder);
  if (before?.isSymbolicLink()) rmSync(link);
  else if (before?.isDirectory()) removeEmptyFolder(link, next);
}

/** The error for a new target with pages of another origin. */
export function foreignPage(target: string): StartError {
  return new StartError(
    `${target} has an ${INDEX_PAGE} that Tidemark has not written, and its pages would replace it: name another place, or move that file away.`,
  );
}

/**
 * Refuses a target that contains the data folder, or lies in it: keys and ledger would be public, or mixed with the public
 * files.
 */
function checkApart(dataFolder: string, target: string): void {
  const isIn = (inner: string, outer: string) => inner === outer || inner.startsWith(outer.replace(/\/?$/, sep));
  if (!isIn(dataFolder, target) && !isIn(target, dataFolder)) return;
  throw new StartError(
    `The data folder ${dataFolder} and the target ${target} must be separate folders: the data folder holds keys, and the target is public. Name another data folder with --data.`,
  );
}

/** @throws StartError for a new folder among the public files of a target, this one or another. An existing target is allowed */
function checkNotNested(target: string): void {
  if (existsSync(fileIn(target, SNAPSHOT))) return;
  for (let folder = resolve(target); folder !== dirname(folder); ) {
    folder = dirname(folder);
    if (!existsSync(fileIn(folder, SNAPSHOT))) continue;
    throw new StartError(`The target ${target} lies in ${folder}, which is a target already: name a folder beside it.`);
  }
}

/** The real path of the folder; if it does not exist, the path that it will have. */
function realPlace(folder: string): string {
  if (existsSync(folder)) return realpathSync(folder);
  const path = resolve(folder);
  return join(realPlace(dirname(path)), basename(path));
}

function removeEmptyFolder(folder: string, target: string): void {
  try {
    rmdirSync(folder);
  } catch (cause) {
    throw new StartError(
      `${resolve(folder)} holds what was published until now: delete it, or move its files to ${target}. Then run this again. Everything can be published again from the ledger.`,
      { cause },
    );
  }
}

/** Whether another copy of this data folder has published there later. Then the index is rebuilt from the files. */
function isLaterThanIndex(dataFolder: string): boolean {
  if (!existsSync(indexPath(dataFolder))) return false;
  const index = new ObjectIndex(indexPath(dataFolder), { isReadOnly: true });
  const { current, next } = index.get(SNAPSHOT) ?? { current: null, next: null };
  void index.close();
  const known = Math.max(0, ...[current, next].map((object) => object?.metadata.generation ?? 0));
  return shownGenerationIn(dataFolder) > known;
}

function shownGenerationIn(dataFolder: string): number {
  try {
    const { generation } = JSON.parse(readFileSync(join(dataFolder, SNAPSHOT), 'utf8')) as { generation?: unknown };
    return Number.isSafeInteger(generation) ? (generation as number) : 0;
  } catch {
    // The snapshot is absent or damaged, and will be published again.
    return 0;
  }
}

/** Removes the index, which is rebuilt from the files. Call it while no process has the folder open. */
export function forgetIndex(dataFolder: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(indexPath(dataFolder) + suffix, { force: true });
}

function fileIn(target: string, key: string): string {
  return join(target, key.slice(PUBLIC_FOLDER.length + 1));
}
