/**
 * Uploads at an edge. It writes the bytes to the folder by itself. The core says who may send them, and sees to it that no
 * two edges receive the same file.
 */
import { randomUUID } from 'node:crypto';
import { openDirectoryUploads } from '../../storage/directory-uploads.ts';
import { StorageUnavailable } from '../../storage/errors.ts';
import { systemRuntime } from '../../storage/runtime.ts';
import type { Divert } from '../edge/divert.ts';
import { createUploadServer } from '../upload-server.ts';
import type { CoreCalls } from './calls.ts';
import { type Link, LinkGone } from './link.ts';

export interface ReceiveUploadsOptions {
  readonly folder: string;
  /** The beginning of the names of files that are not complete. */
  readonly name: string;
  /** Verifies the targets of uploads. */
  readonly key: Uint8Array;
  readonly report: (what: string, cause: unknown) => void;
}

export function receiveUploads(link: Link<CoreCalls>, { folder, name, key, report }: ReceiveUploadsOptions): Divert {
  const { nowMs } = systemRuntime;
  const uploads = openDirectoryUploads({
    folder,
    key,
    nowMs,
    newName: () => `${name}-${randomUUID()}`,
    reception: {
      begin: (id, bytes) => orUnavailable(link.ask('beginReceiving', id, bytes)),
      end: (id) => link.tell('endReceiving', id),
    },
  });
  return createUploadServer({
    uploads,
    mayReceive: (id) => orUnavailable(link.ask('mayReceive', id)),
    onStored: (id) => orUnavailable(link.ask('onStored', id)),
    nowMs,
    report,
  });
}

/** The sender is told to put the file again later. */
async function orUnavailable<Result>(asked: Promise<Result>): Promise<Result> {
  return await asked.catch((cause: unknown) => {
    if (!(cause instanceof LinkGone)) throw cause;
    throw new StorageUnavailable('the process of ledger and writes has ended', { cause });
  });
}
