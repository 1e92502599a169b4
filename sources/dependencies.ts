/** The surroundings of a run: storage, the network, clock and chance, all passed in. */
import type { Archive } from '../storage/archive.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { Runtime } from '../storage/runtime.ts';
import type { UploadContent, UploadFiles } from '../storage/upload-store.ts';

export interface SourceDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId' | 'newId' | 'random'> {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly uploads: RunUploads;
  readonly fetchSource: FetchSource;
  /** The name of this process. No other process that may be running has the same name. */
  readonly owner: string;
  /** Awaited between records, so that other tasks get their turn. */
  readonly breathe?: () => Promise<void>;
  /** Asked before each run; false leaves the rest for the next round. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Receives each failure that is not one of the source or of storage. */
  readonly failed: (run: string, error: unknown) => void;
}

export interface RunUploads extends Pick<UploadFiles, 'head'> {
  /**
   * Stores the file of an upload. Harmless if it is stored already. `bytes` may be called again.
   *
   * @throws StorageUnavailable if it could not be stored
   */
  put(id: string, content: UploadContent, bytes: () => AsyncIterable<Uint8Array>): Promise<void>;
}

export interface SourceRequest {
  readonly url: string;
  /** The only hosts that may be asked, also after redirects. */
  readonly hosts: readonly string[];
  readonly maxBytes: number;
  readonly timeoutSeconds: number;
  /** Of the answer that was taken in last; null: ask without conditions. */
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export type SourceAnswer =
  | {
      readonly kind: 'answer';
      readonly bytes: Uint8Array;
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  /** 304: as it was. */
  | { readonly kind: 'not-modified' }
  | {
      readonly kind: 'failed';
      /** Stable, such as `http-503`. */
      readonly code: string;
      /** Without content of the answer. */
      readonly detail: string;
      /** Retry-After; null without it. */
      readonly retryAfterSeconds: number | null;
    };

/** Asks a source once. Never rejects for a fault of the source or of the network. */
export type FetchSource = (request: SourceRequest) => Promise<SourceAnswer>;
