/**
 * The folder of a mirror:
 *
 *     public/       the copy: plain files, which any web server can serve
 *     store/        their index (storage/directory/directory-objects.ts)
 *     mirror.json   the base URL of the service, and the state of the mirror
 *     fork-evidence.json   the proof that the service has signed two versions of its past: then the mirror copies nothing more
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { putFileSync } from '../../storage/directory/durable-files.ts';
import { PUBLIC_FOLDER, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { StartError } from '../service/start-error.ts';
import { lockTarget } from '../target/folder-lock.ts';
import type { UpstreamForked } from './mirror-log.ts';
import { STAGED_PREFIX } from './stage.ts';

const stateSchema = z.object({
  format: z.literal(1),
  /** The base URL of the service. */
  url: z.url(),
  /** The end of the last round with the result `current`; null: there was none. */
  lastSuccessAt: z.iso.datetime().nullable(),
  /** See `MirrorLogState`; null: no log has been read yet. */
  log: z.object({ vkeys: z.array(z.string()).min(1).readonly(), checkpoint: z.string().nullable() }).nullable(),
  /** The time of the first sweep that did not reach a key, in milliseconds since the epoch. */
  unreached: z.record(z.string(), z.int()).optional(),
});

export type MirrorState = Readonly<z.infer<typeof stateSchema>>;

export interface MirrorFolder {
  readonly path: string;
  readonly objects: ObjectStore;
  state: MirrorState;
  /** Writes the state. */
  save(): void;
  close(): void;
}

const STATE_FILE = 'mirror.json';

/**
 * Opens the folder. Makes it if it is missing.
 *
 * @throws StartError if it belongs to another service, is in use, holds other data, or cannot be written
 */
export async function openMirrorFolder(path: string, url: URL): Promise<MirrorFolder> {
  let unlock = () => {};
  try {
    mkdirSync(path, { recursive: true });
    unlock = lockTarget(path);
    return await openLocked(path, url, unlock);
  } catch (cause) {
    unlock();
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    throw new StartError(`The folder ${path} cannot be used: ${cause.message}`, { cause });
  }
}

async function openLocked(path: string, url: URL, unlock: () => void): Promise<MirrorFolder> {
  const known = readState(join(path, STATE_FILE));
  // A folder with other data could have subfolders of these names. The last two names belong to a target of published files.
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
  const folder = {
    path,
    state,
    save: () => writeJson(path, STATE_FILE, folder.state),
    close: unlock,
  };
  // Written first, because it names the service that the folder belongs to.
  folder.save();
  for (const name of readdirSync(path)) {
    if (name.startsWith(STAGED_PREFIX)) rmSync(join(path, name), { recursive: true, force: true });
  }
  return Object.assign(folder, { objects: await openDirectoryObjects(path) });
}

/** Null: the file does not exist. @throws StartError if it cannot be read */
function readState(path: string): MirrorState | null {
  if (!existsSync(path)) return null;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const hint = 'The copy is still there: name another folder, or move this one away.';
    throw new StartError(`${path} is damaged, or of a later version. ${hint}`, { cause });
  }
}

export const FORK_FILE = 'fork-evidence.json';

/** Whether an earlier round found a fork. Once the service goes on with the earlier log, a person may remove the file. */
export function hasForkEvidence({ path }: MirrorFolder): boolean {
  return existsSync(join(path, FORK_FILE));
}

/** Anybody can check the evidence: both texts are signed by the same key. Existing evidence is not replaced. */
export function keepForkEvidence(folder: MirrorFolder, { message, earlier, later }: UpstreamForked, at: string): void {
  if (hasForkEvidence(folder)) return;
  const checkpoints = { earlierCheckpoint: earlier, laterCheckpoint: later };
  writeJson(folder.path, FORK_FILE, { what: message, service: folder.state.url, foundAt: at, ...checkpoints });
}

/** The file holds no secret, so other users may read it. */
function writeJson(folder: string, name: string, value: unknown): void {
  putFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`, 0o644);
}
