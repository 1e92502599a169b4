/** The dependencies of a run: storage, network, clock and randomness, all passed in. */

import type { Runtime } from '../../../storage/aws/runtime.ts';
import type { Archive } from '../../../storage/ports/archive.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import type { UploadContent, UploadFiles } from '../../../storage/ports/upload-store.ts';
import type { RunValue } from '../../../storage/records/sources.ts';
import type { FetchAnswer, FetchRequest } from '../fetch/fetch-source.ts';

export interface SourceDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId' | 'newId' | 'random'> {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly uploads: RunUploads;
  /** Never rejects for a fault of the source or of the network. */
  readonly ask: AskSource;
  /** The name of this process. It is unique among the running processes. */
  readonly owner: string;
  /** Awaited between records, so that other tasks can run. */
  readonly yieldToEventLoop?: () => Promise<void>;
  /** Whether the disk has space for this many more bytes, besides everything else. Default: always true. */
  readonly hasRoom?: (bytes: number) => Promise<boolean>;
  /** Whether to run this source when it is due. Default: always true. */
  readonly wants?: (source: string) => boolean;
  /** Called before each run; false leaves the rest for the next round. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Receives each failure that is caused neither by the source nor by storage. */
  readonly failed: (run: string, error: unknown) => void;
  /** Receives each run that this process has ended. */
  readonly ended: (source: string, id: string, run: RunValue) => void;
}

export interface RunUploads extends Pick<UploadFiles, 'head'> {
  /**
   * Stores the file of an upload. Harmless if it is stored already. `bytes` may be called several times.
   *
   * @throws StorageUnavailable if it could not be stored
   */
  put(id: string, content: UploadContent, bytes: () => AsyncIterable<Uint8Array>): Promise<void>;
}

/** Makes one request to a source. */
export type AskSource = (request: FetchRequest) => Promise<FetchAnswer>;
