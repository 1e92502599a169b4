/**
 * Files that no other user of this machine can have put there. A folder or file of another user, or one that other users can
 * write, is refused, because its keys could be theirs. Links are not followed, because they could lead to another file.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { StartError } from '../service/start-error.ts';

/** Write permission for the group or for all. */
const WRITABLE_BY_OTHERS = 0o022;
/** Any permission for the group or for all. */
const READABLE_BY_OTHERS = 0o077;

/**
 * @throws StartError unless the folder belongs to this user, and only this user may write. A folder that does not exist is
 *   allowed
 */
export function checkFolderIsPrivate(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats !== undefined) checkStats(folder, stats);
}

/** For a folder that the user has not chosen: it must not be a link either. @throws StartError as above, and for a file */
export function checkInnerFolderIsPrivate(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw linked(folder);
  if (!stats.isDirectory()) throw new StartError(`${folder} is not a folder: remove it.`);
  checkStats(folder, stats);
}

/** For a file that a library opens by itself. @throws StartError as {@link readPrivateFile} does */
export function checkFileIsPrivate(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw linked(path);
  checkStats(path, stats);
}

/**
 * The content; null if the file does not exist. The open file is checked, so nobody can replace it between check and read.
 *
 * @throws StartError as {@link openPrivateFile} does
 */
export function readPrivateFile(path: string): string | null {
  const file = openPrivateFile(path);
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * As {@link readPrivateFile}, for a file that other users must not be able to read.
 *
 * @throws StartError also if the mode lets other users read it
 */
export function readOwnersFile(path: string): string | null {
  const content = readPrivateFile(path);
  const stats = content === null ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || process.getuid === undefined || (stats.mode & READABLE_BY_OTHERS) === 0) return content;
  throw new StartError(
    `${path} can be read by other users: run chmod 600 on it. If somebody may have read it, replace the key: docs/operations.md.`,
  );
}

/**
 * A descriptor for reading, which the caller closes; null if the file does not exist.
 *
 * @throws StartError as {@link openRegularFile} does, and for a file that belongs to another user, or that other users may
 *   write
 */
export function openPrivateFile(path: string): number | null {
  return open(path, checkStats);
}

/** As {@link openPrivateFile}, for a file of any owner. @throws StartError for a link, a pipe, a device and a folder */
export function openRegularFile(path: string): number | null {
  return open(path, () => {});
}

function open(path: string, check: (path: string, stats: Stats) => void): number | null {
  let file: number;
  try {
    // Non-blocking, because a pipe may have no writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw linked(path);
    // The error of a socket.
    if (code === 'ENXIO') throw notRegular(path);
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw notRegular(path);
    check(path, stats);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function checkStats(path: string, { uid, mode }: Stats): void {
  // Windows has no user ids.
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user) {
    throw new StartError(`${path} belongs to another user (${uid}): check its content, then take it over with chown.`);
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new StartError(`${path} can be written by other users: check its content, then run chmod go-w on it.`);
  }
}

function linked(path: string): StartError {
  return new StartError(`${path} is a symbolic link, which is not followed: put the file itself there.`);
}

function notRegular(path: string): StartError {
  return new StartError(`${path} is not a regular file: remove it, and put the file itself there.`);
}
