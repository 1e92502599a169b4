/**
 * The folder of a mirror:
 *
 *     public/       the copy: plain files, which any web server can serve
 *     store/        their index (storage/directory/directory-objects.ts)
 *     mirror.json   what it mirrors, and what it knows of it
 *     unreached     pages that wait for their removal
 *     lock          keeps other processes out
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { syncFolderSync } from '../../storage/directory/durable-files.ts';
import { PUBLIC_FOLDER, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { StartError } from '../service/start-error.ts';
import { STAGED_PREFIX } from './stage.ts';
import type { Unreached } from './sweep-copy.ts';

const stateSchema = z.strictObject({
  format: z.literal(1),
  /** The base URL of the service. */
  url: z.url(),
  /** The end of the last round that ended with `current`; null: none has. */
  lastSuccessAt: z.iso.datetime().nullable(),
  /** Of `MirrorLogState`; null: none was read yet. */
  log: z
    .strictObject({
      vkeys: z.array(z.string()).min(1).readonly(),
      checkpoint: z.string().nullable(),
      /** Of an earlier version. */
      bodiesAt: z.int().min(0).optional(),
    })
    .nullable(),
});

export type MirrorState = Readonly<z.infer<typeof stateSchema>>;

const unreachedSchema = z.record(z.string(), z.int());

export interface MirrorFolder {
  readonly path: string;
  readonly objects: ObjectStore;
  state: MirrorState;
  unreached: Unreached;
  /** Writes state and unreached pages. */
  save(): void;
  close(): void;
}

const STATE_FILE = 'mirror.json';
const UNREACHED_FILE = 'unreached';

/**
 * Opens the folder, and makes it if it is missing.
 *
 * @throws StartError if it belongs to another service, is in use, holds something else, or cannot be written
 */
export async function openMirrorFolder(path: string, url: URL): Promise<MirrorFolder> {
  let lock: DatabaseSync | null = null;
  try {
    mkdirSync(path, { recursive: true });
    lock = lockFolder(path);
    return await openLocked(path, url, lock);
  } catch (cause) {
    lock?.close();
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    throw new StartError(`The folder ${path} cannot be used: ${cause.message}`, { cause });
  }
}

async function openLocked(path: string, url: URL, lock: DatabaseSync): Promise<MirrorFolder> {
  const known = readJson(join(path, STATE_FILE), stateSchema);
  // A folder of other data could hold folders with these names of its own. The last two are of a target of published files.
  if (
    known === null &&
    [PUBLIC_FOLDER, STORE_FOLDER, 'objects', 'api', 'index.html'].some((name) => existsSync(join(path, name)))
  ) {
    throw new StartError(`${path} holds files, and is not the folder of a mirror: name another one.`);
  }
  const state = known ?? { format: 1, url: url.href, lastSuccessAt: null, log: null };
  if (state.url !== url.href) {
    throw new StartError(`${path} is a mirror of ${state.url}: name another folder for ${url.href}.`);
  }
  // The state comes first: it says whose folder it is.
  writeJson(path, STATE_FILE, state);
  for (const name of readdirSync(path)) {
    if (name.startsWith(STAGED_PREFIX)) rmSync(join(path, name), { recursive: true, force: true });
  }
  const folder: MirrorFolder = {
    path,
    state,
    unreached: readJson(join(path, UNREACHED_FILE), unreachedSchema) ?? {},
    objects: await openDirectoryObjects(path),
    save: () => {
      writeJson(path, STATE_FILE, folder.state);
      writeJson(path, UNREACHED_FILE, folder.unreached);
    },
    close: () => lock.close(),
  };
  return folder;
}

/** A lock of SQLite's: it ends with its process, however that ends. */
function lockFolder(path: string): DatabaseSync {
  const database = new DatabaseSync(join(path, 'lock'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return database;
  } catch (cause) {
    database.close();
    throw new StartError(`${path} is in use by another process: stop it, or name another folder.`, { cause });
  }
}

/** Null if there is no such file. @throws StartError for one that cannot be read */
function readJson<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  if (!existsSync(path)) return null;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const hint = 'The copy is still there: name another folder, or move this one away.';
    throw new StartError(`${path} is damaged, or of a later version. ${hint}`, { cause });
  }
}

function writeJson(folder: string, name: string, value: unknown): void {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
  renameSync(`${path}.new`, path);
  syncFolderSync(folder);
}
