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
/** Of our pages, and of everybody else's. */
export const INDEX_PAGE = 'index.html';

/**
 * @param named another folder for the public files, from now on. Null: where they are
 * @throws StartError for a folder that cannot be the target: before anything is made
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
      // The ledger's lock keeps others out of the data folder itself.
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
      `${target} is neither a folder nor s3://BUCKET/PREFIX: name a folder, and copy it to its host with the tool of that host.`,
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

/** @throws StartError for a folder that cannot be made, and if the data folder itself has public files */
async function attach(dataFolder: string, link: string, target: string): Promise<void> {
  await makeTarget(target);
  const path = realpathSync(target);
  if (isLinked(link, path)) {
    if (isLaterThanIndex(dataFolder)) forgetIndex(dataFolder);
    return;
  }
  // The index is of other files.
  forgetIndex(dataFolder);
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) removeEmptyFolder(link, path);
  const unnamed = `${link}.new`;
  rmSync(unnamed, { force: true });
  symlinkSync(path, unnamed, 'junction');
  renameSync(unnamed, link);
  syncFolderSync(dataFolder);
}

/**
 * Before the public files go elsewhere: the link goes, and the index, which is of other files.
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

/** The error for a new target whose pages somebody else has written. */
export function foreignPage(target: string): StartError {
  return new StartError(
    `${target} has an ${INDEX_PAGE} of somebody else, which the pages of Tidemark would replace: name another place, or move that file away.`,
  );
}

/** Keys and ledger would be public, or the public files would lie among them. */
function checkApart(dataFolder: string, target: string): void {
  const isIn = (inner: string, outer: string) => inner === outer || inner.startsWith(outer.replace(/\/?$/, sep));
  if (!isIn(dataFolder, target) && !isIn(target, dataFolder)) return;
  throw new StartError(
    `The data folder ${dataFolder} and the target ${target} must lie apart: the data folder holds keys, and the target is public. Name another data folder with --data.`,
  );
}

/** Not one that is there already. @throws StartError for a folder among the public files of a target, this one or another */
function checkNotNested(target: string): void {
  if (existsSync(fileIn(target, SNAPSHOT))) return;
  for (let folder = resolve(target); folder !== dirname(folder); ) {
    folder = dirname(folder);
    if (!existsSync(fileIn(folder, SNAPSHOT))) continue;
    throw new StartError(`The target ${target} lies in ${folder}, which is a target already: name a folder beside it.`);
  }
}

/** Where the folder is, or will be when it is made. */
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

/** Another copy of this data folder has published there since. The index that is made again from the files shows it. */
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
    // It is absent or damaged: it is published again.
    return 0;
  }
}

/** It is made again from the files. To be called while no process has the folder open. */
export function forgetIndex(dataFolder: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(indexPath(dataFolder) + suffix, { force: true });
}

function fileIn(target: string, key: string): string {
  return join(target, key.slice(PUBLIC_FOLDER.length + 1));
}
