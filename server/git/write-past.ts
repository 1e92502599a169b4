/** Writes the records of all versions of a list in a git repository to a file, as the lines of an upload. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Chunk } from '../../lambdas/sources/past/chunk.ts';
import { listRecipe, NotTakenIn, type PastRead, VersionReader } from '../../lambdas/sources/past/version-reader.ts';
import { SettingError } from '../service/start-error.ts';
import { type GitFile, openGitVersions } from './git-versions.ts';

export interface WrittenPast {
  /** A file of NDJSON that only its owner can read. Each market has one definition, before its records. */
  readonly path: string;
  readonly past: PastRead;
}

const HELD_CHARACTERS = 4 * 1024 * 1024;

/**
 * @param options.folder an empty folder for the records and for git's files
 * @throws SettingError for a recipe without a list, and for an invalid repository or path; StartError if git fails
 */
export async function writePast(
  recipe: unknown,
  file: GitFile,
  {
    folder,
    nowMs,
    progress,
  }: {
    readonly folder: string;
    readonly nowMs: number;
    readonly progress: (done: number, of: number) => void;
  },
): Promise<WrittenPast> {
  const list = checkedList(recipe);
  const past = await openGitVersions(file, { folder, nowMs });
  const path = join(folder, 'records.ndjson');
  const valuesPath = join(folder, 'values.ndjson');
  const reader = new VersionReader(list, past);
  // Definitions are complete only at the end, but must come first. The records go to a file, because they may exceed the
  // memory.
  const chunk = new Chunk();
  await writing(valuesPath, async (values) => {
    for (const [index, version] of past.versions.entries()) {
      progress(index, past.versions.length);
      for await (const record of reader.news(version)) chunk.add(record);
      if (chunk.characters > HELD_CHARACTERS) await append(values, chunk.takeValues());
    }
    await append(values, chunk.takeValues());
  });
  await writing(path, async (records) => {
    await append(records, chunk.definitions);
    for await (const bytes of createReadStream(valuesPath)) await records.appendFile(bytes as Buffer);
  });
  return { path, past: reader.summary };
}

function checkedList(recipe: unknown): ReturnType<typeof listRecipe> {
  try {
    return listRecipe(recipe);
  } catch (error) {
    throw error instanceof NotTakenIn ? new SettingError(error.message, { cause: error }) : error;
  }
}

async function writing(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

async function append(file: FileHandle, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await file.appendFile(`${lines.join('\n')}\n`);
}
