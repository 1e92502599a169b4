/** The place of a data folder's public files. Ledger, index and bundles stay in the data folder. */
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { Conditions } from '../../storage/s3/s3-objects.ts';
import type { StateStore } from './state-store.ts';

export interface PublicTarget {
  /** For messages: the folder, or `s3://bucket/prefix`. */
  readonly name: string;
  /** Whether each read is a request. Then lost files are searched for by their names, and not read. */
  readonly isRemote: boolean;
  /** A file as it lies there, by any writer, by its path such as `api/v1/snapshot.json`. Null: it does not exist. */
  read(path: string): Promise<Uint8Array | null>;
  /**
   * Keeps other processes out of a folder, to be called before its log is read. The lease of a bucket does it at the first write.
   *
   * @returns lets them in again
   * @throws FolderInUse if another process has it
   */
  lock(): Promise<() => void>;
  /**
   * Makes it the target of the data folder, and opens all objects: the public ones are there. To be called with the lock of
   * the data folder.
   *
   * @throws StartError for a place that cannot be the target
   */
  open(): Promise<ObjectStore>;
  /** @param check is called before the first write after another process may have written. It rejects for a log that is not ours */
  onTaken(check: () => Promise<void>): void;
  /** The sealed copy of the ledger, if one is kept there. */
  readonly state: StateStore;
  /** The conditions that the store evaluates. Null: it is a folder, or was not probed yet. */
  conditions(): Conditions | null;
  /** Lets another process write there. To be called when nothing is written any more. */
  release(): Promise<void>;
}
