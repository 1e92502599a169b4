/** The place of a data folder's public files. Ledger, index and bundles stay in the data folder. */
import { publicPath } from '../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { Conditions } from '../../storage/s3/s3-objects.ts';
import type { StateStore } from './state-store.ts';

/** The paths in a target of the first public files of any generation. The checkpoint is put first. */
export const CHECKPOINT = publicPath({ kind: 'log-checkpoint' }).slice(1);
export const SNAPSHOT = publicPath({ kind: 'snapshot' }).slice(1);

export interface PublicTarget {
  /** The folder, or `s3://bucket/prefix`, for messages. */
  readonly name: string;
  /** Whether each read is a request. Then a search for lost files lists names, and reads no contents. */
  readonly isRemote: boolean;
  /** The current file at a path such as `api/v1/snapshot.json`, by whatever program it was written. Null: it does not exist. */
  read(path: string): Promise<Uint8Array | null>;
  /**
   * Locks a folder against other processes. Call it before the log is read. A bucket is locked by its lease, at the first
   * write.
   *
   * @returns a function that ends the lock
   * @throws FolderInUse if another process has the folder
   */
  lock(): Promise<() => void>;
  /**
   * Makes this the target of the data folder, and opens all objects, with the public ones in the target. Call it with the lock
   * of the data folder.
   *
   * @throws StartError for a place that cannot be the target
   */
  open(): Promise<ObjectStore>;
  /** @param check called before the first write after another process may have written. It rejects if the log is not ours */
  onTaken(check: () => Promise<void>): void;
  /** The sealed copy of the ledger, if one is kept there. */
  readonly state: StateStore;
  /** The conditions that the store evaluates. Null: this is a folder, or the store was not probed yet. */
  conditions(): Conditions | null;
  /** Lets another process write there. Call it when nothing more will be written. */
  release(): Promise<void>;
}
