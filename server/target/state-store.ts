/** The place of one file beside the public ones: the sealed copy of a ledger (server/state/target-state.ts). */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder, syncPath } from '../../storage/directory/durable-files.ts';
import { moveAcross } from '../../storage/directory/move-across.ts';
import { READABLE_FOLDER, translateErrors } from '../../storage/directory/object-places.ts';
import { MAX_OBJECT_BYTES } from '../../storage/ports/object-rules.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';
import { ifStill } from '../../storage/ports/objects.ts';
import { StartError } from '../service/start-error.ts';
import { notPublished } from './lease.ts';

/** Rejects with StorageUnavailable if the store does not answer. */
export interface StateStore {
  /** The place, for messages. */
  readonly place: string;
  /** Null: it does not exist. */
  find(): Promise<StoredState | null>;
  /**
   * Replaces the file if it has this version; null: if it does not exist. Durable on return.
   *
   * @returns the new version; null: the file has another version, and is unchanged
   */
  replace(version: string | null, path: string): Promise<string | null>;
}

export interface StoredState {
  /** Equal only for equal bytes. */
  readonly version: string;
  read(): AsyncIterable<Uint8Array>;
}

/** No public object has this name. Tools for static hosts leave out names that begin with a dot. */
export const STATE_NAME = '.state.tar.zst.age';
const STATE_KEY = '_tidemark-state.tar.zst.age';

/**
 * A folder has no compare and swap, so two runs could replace the file at the same moment. The lock of the data folder excludes
 * that for runs with one data folder, and the push excludes it for checkouts.
 */
export function stateInFolder(folder: string): StateStore {
  const place = join(folder, STATE_NAME);
  return {
    place,
    find: () =>
      translateErrors(place, async () => {
        const version = await digestOf(place);
        return version === null ? null : { version, read: () => createReadStream(place) };
      }),
    replace: (version, path) =>
      translateErrors(place, async () => {
        if ((await digestOf(place)) !== version) return null;
        const next = await digestOf(path);
        await makeFolder(folder, READABLE_FOLDER);
        await moveAcross(path, place);
        await syncPath(dirname(place));
        return next;
      }),
  };
}

async function digestOf(path: string): Promise<string | null> {
  if (!existsSync(path)) return null;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * The whole file is in memory, so it has at most {@link MAX_OBJECT_BYTES}: some 700,000 observations.
 *
 * @param hold resolves when this process may write
 */
export function stateInBucket(files: ObjectStore, name: string, hold: () => Promise<void>): StateStore {
  return {
    place: `${name}/${STATE_KEY}`,
    async find() {
      const found = await files.get(STATE_KEY);
      if (found.kind !== 'found') return null;
      const { etag: version, body } = found;
      return {
        version,
        async *read() {
          yield body;
        },
      };
    },
    async replace(version, path) {
      const { size } = await stat(path);
      if (size > MAX_OBJECT_BYTES) {
        const [found, most] = [size, MAX_OBJECT_BYTES].map((bytes) => Math.ceil(bytes / 1024 / 1024));
        throw new StartError(
          `The sealed ledger has ${found} MB, and ${name} takes ${most} MB: keep the data folder, or begin by --from-log.`,
        );
      }
      await hold();
      const condition = ifStill(version as ETag | null);
      const put = await files.put(STATE_KEY, await readFile(path), notPublished('application/octet-stream'), condition);
      return put.kind === 'stored' ? put.etag : null;
    },
  };
}
