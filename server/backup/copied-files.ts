/** Copies files durably, with their digest. A copy gets its name only when all of it is on the disk. */
import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { lstat, open, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder, syncPath } from '../../storage/directory/durable-files.ts';
import { StartError } from '../service/start-error.ts';
import { openPrivateFile, openRegularFile } from '../settings/private-files.ts';
import { type Content, PARTIAL_SUFFIX } from './manifest.ts';

/** Called after each step of a backup or a restore, with the finished part and the whole. */
export type CopyStep = (step: string, done: number, of: number) => void;

/**
 * Null if the file does not exist.
 *
 * @param announced the length in the manifest of a backup. Such a file must not be writable by other users; reading stops one
 *   byte after that length. Null: a file of this service, of any length
 * @throws StartError if the file cannot be read, is not a regular file, or is writable by other users
 */
export async function digestOf(path: string, announced: number | null = null): Promise<Content | null> {
  const source = readingOf(path, announced);
  if (source === null) return null;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(source, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    });
  } catch (error) {
    throw unusableFile(path, error);
  }
  return { bytes, sha256: hash.digest('hex') };
}

function readingOf(path: string, announced: number | null): ReadStream | null {
  try {
    const fd = announced === null ? openRegularFile(path) : openPrivateFile(path);
    return fd === null ? null : createReadStream(path, { fd, end: announced ?? Number.POSITIVE_INFINITY });
  } catch (error) {
    throw error instanceof StartError ? error : unusableFile(path, error);
  }
}

/**
 * Copies a file to a new name, with mode 600. The copy is read back and compared. Null if there is no such file.
 *
 * @param announced as for {@link digestOf}
 * @throws StartError if the copy cannot be written, or does not have the bytes of the file; and as {@link digestOf} does
 */
export async function copyDurably(from: string, to: string, announced: number | null = null): Promise<Content | null> {
  await makeFolder(dirname(to)).catch((error: unknown) => {
    throw unusableFile(dirname(to), error);
  });
  const unnamed = to + PARTIAL_SUFFIX;
  const source = readingOf(from, announced);
  if (source === null) return null;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await rm(unnamed, { force: true });
    const target = await open(unnamed, 'wx', 0o600);
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
        await target.writeFile(chunk);
      }
      await target.sync();
    } finally {
      await target.close();
    }
    const content = { bytes, sha256: hash.digest('hex') };
    if (!isSame(await digestOf(unnamed), content)) {
      throw new StartError(`${unnamed} does not hold what was written to it: check that disk.`);
    }
    await rename(unnamed, to);
    await syncPath(dirname(to));
    return content;
  } catch (error) {
    await rm(unnamed, { force: true }).catch(() => undefined);
    throw error instanceof StartError ? error : unusableFile(to, error);
  } finally {
    source.destroy();
  }
}

/** Writes a small file. @throws StartError if it cannot be written */
export async function writeDurably(path: string, text: string): Promise<void> {
  try {
    await writeFile(path + PARTIAL_SUFFIX, text, { mode: 0o600, flush: true });
    await rename(path + PARTIAL_SUFFIX, path);
    await syncPath(dirname(path));
  } catch (error) {
    throw unusableFile(path, error);
  }
}

export function isSame(left: Content | null, right: Content): boolean {
  return left?.bytes === right.bytes && left.sha256 === right.sha256;
}

/** @throws StartError if the disk has less free space. No check on file systems that do not report their free space. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  if (blocks === 0 || bavail * bsize >= bytes) return;
  const megabytes = (count: number) => `${Math.ceil(count / 1_000_000)} MB`;
  throw new StartError(`${folder} needs ${megabytes(bytes)} and has ${megabytes(bavail * bsize)} free: make room.`);
}

/** In bytes; null if the file does not exist. A link is not followed. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusableFile(path, error);
  }
}

/** The damaged and missing files of a list, by path relative to the folder; in words. */
export async function findDamagedFiles(
  folder: string,
  files: ReadonlyMap<string, Content>,
  progress: (done: number, of: number) => void,
): Promise<readonly string[]> {
  const findings: string[] = [];
  let done = 0;
  for (const [path, content] of files) {
    const found = await digestOf(join(folder, path), content.bytes);
    if (found === null) findings.push(`${path} is missing`);
    else if (!isSame(found, content)) findings.push(`${path} has other bytes than the manifest says`);
    progress(++done, files.size);
  }
  return findings;
}

function unusableFile(path: string, error: unknown): StartError {
  return new StartError(
    `${path} cannot be used (${(error as Error).message}): check that its folder exists, may be written and has free space.`,
    { cause: error },
  );
}
