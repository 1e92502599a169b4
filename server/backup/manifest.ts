/**
 * A folder of backups:
 *
 *     2026-11-22T11-51-50.000Z/   one backup: the ledger, the secrets, and manifest.json, written last
 *     uploads/ archive/           files that never change, shared by all backups
 *
 * A backup under way has a name that ends in `.partial`. It gets its real name in one step, when all of it is durable.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { LEDGER_FILE } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { readPrivateFile } from '../settings/private-files.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';

export const MANIFEST = 'manifest.json';
export const PARTIAL_SUFFIX = '.partial';
/** Folders of files that never change, in the data folder and in a folder of backups. */
export const SHARED_FOLDERS = ['uploads', 'archive'] as const;

/** Grows when an earlier version of Tidemark could misread a backup. */
export const MANIFEST_FORMAT = 1;

const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;
/**
 * The allowed names. With another name, such as `objects`, a restore could replace a file or folder that is not part of a
 * backup.
 */
const FILE_NAMES: readonly string[] = [LEDGER_FILE, ...SECRET_FILES];
/** An incomplete file has a suffix, such as `.part`, and does not match. */
export const SHARED_PATH = /^(uploads|archive)(\/[A-Za-z0-9_-]+)+$/;

const contentSchema = z.strictObject({
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifestSchema = z.object({
  format: z.literal(MANIFEST_FORMAT),
  /** The version of Tidemark that made it. */
  tidemark: z.string(),
  /** RFC 3339. */
  createdAt: z.string(),
  /** The format of the ledger's records; null: the ledger was empty. */
  ledgerFormat: z.int().positive().nullable(),
  /** The newest generation that the ledger knew; null: nothing was ever published. */
  generation: z.int().positive().nullable(),
  /** In the backup's own folder. */
  files: z.record(z.string(), contentSchema),
  /** In the shared folders, relative to the folder of backups. */
  shared: z.record(z.string().regex(SHARED_PATH), contentSchema),
});

export type Content = Readonly<z.infer<typeof contentSchema>>;
export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

export const isBackupName = (name: string): boolean => NAME.test(name);

/** The names of the complete backups, oldest first. Empty if the folder does not exist. */
export function backupNames(dir: string): readonly string[] {
  try {
    return readdirSync(dir).filter(isBackupName).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new StartError(`${dir} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws StartError if the manifest is missing, damaged, of a later version, or writable by other users */
export function readManifest(dir: string, name: string): Manifest {
  const path = join(dir, name, MANIFEST);
  let json: unknown;
  try {
    const text = readPrivateFile(path);
    if (text === null) throw new Error('it is missing');
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${path} cannot be read (${(error as Error).message}): use another backup.`, { cause: error });
  }
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) {
    const strange = Object.keys(parsed.data.files).find((file) => !FILE_NAMES.includes(file));
    if (strange === undefined) return parsed.data;
    throw new StartError(`${path} is damaged: it names ${JSON.stringify(strange)}, which no backup has. Use another.`);
  }
  const format = (json as { readonly format?: unknown } | null)?.format;
  throw new StartError(
    typeof format === 'number' && format > MANIFEST_FORMAT
      ? `${path} has format ${format}, and this version of Tidemark reads ${MANIFEST_FORMAT}: use the version that made it, or a later one.`
      : `${path} is damaged: use another backup.`,
  );
}

/** All files of a backup, by path relative to the folder of backups. */
export function filesOfBackup(name: string, { files, shared }: Manifest): ReadonlyMap<string, Content> {
  const own = Object.entries(files).map(([file, content]) => [join(name, file), content] as const);
  return new Map([...own, ...Object.entries(shared)]);
}
