/** Large files through the embedded server's port, by signed PUTs in the form of S3. */
import type { IncomingMessage } from 'node:http';
import { type ProblemCode, problem } from '../../contract/problems/problems.ts';
import { problemResult, textResult } from '../../lambdas/http/answer.ts';
import type { HttpResult } from '../../lambdas/http/event.ts';
import { type DirectoryUploads, type Received, uploadPath } from '../../storage/directory/directory-uploads.ts';
import { diskFault } from '../../storage/ports/disk-fault.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { DivertedHandler } from '../edge/bodies.ts';
import { originForm } from '../edge/framing.ts';
import { sendResult } from './write-server.ts';

export interface UploadServerOptions {
  readonly uploads: DirectoryUploads;
  /** Whether the sender of the upload may still write. Asked before the first byte of the body. */
  readonly mayReceive: (id: string) => Promise<boolean>;
  /** Called when a file is stored. If it rejects, the request fails. A repeated PUT then gets 412, and calls it again. */
  readonly onStored: (id: string) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Receives faults for operators, such as a full disk. Faults of senders are not reported. */
  readonly report: (what: string, cause: unknown) => void;
}

const PATH = new RegExp(`^${uploadPath('(upl_[0-9A-Z]{26})')}$`);

/**
 * The minimum average speed of a file, except in its first minute. There is no other limit of its time. With the edge's limit
 * on idle connections, every open connection makes progress.
 */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const GRACE_MS = 60_000;

type Outcome = Received | 'credential-ended' | 'no-length' | 'too-slow' | 'unavailable' | 'disk-fails';

const REFUSALS: { readonly [Why in Exclude<Outcome, 'stored'>]: readonly [ProblemCode, string] } = {
  forbidden: ['forbidden', 'This is not a valid target, or it has expired: read the upload again for a new one.'],
  'stored-already': ['precondition-failed', 'The file is there already: read the upload for its state.'],
  'content-differs': ['validation-failed', 'The file does not have the length and the SHA-256 that were announced.'],
  'being-received': ['conflict', 'This file is being received already: wait for that, then read the upload.'],
  'credential-ended': ['forbidden', 'The credential that announced this file has ended: announce it with another one.'],
  'no-length': ['invalid-request', 'Send the length of the file as Content-Length, and no Transfer-Encoding.'],
  'too-slow': ['request-timeout', `Send at least ${MIN_BYTES_PER_SECOND} bytes in a second: put the file again.`],
  unavailable: ['service-unavailable', 'The file could not be stored: put it again later.'],
  'disk-fails': [
    'service-unavailable',
    'The disk of the service is full, read-only or broken: put the file again later.',
  ],
};

/** In seconds. */
const RETRY_AFTER: { readonly [Why in Outcome]?: string } = {
  unavailable: '60',
  'disk-fails': '60',
  'being-received': '30',
};

/** Returns the handler of a request that puts a file; null for every other request. */
export function createUploadServer(options: UploadServerOptions): (request: IncomingMessage) => DivertedHandler | null {
  const { uploads, mayReceive, onStored, nowMs, report } = options;

  async function take(id: string, query: URLSearchParams, request: IncomingMessage): Promise<Outcome> {
    const length = request.headers['content-length'];
    // S3 requires a length (411). Without this check, a client could work here and fail there.
    if (length === undefined) return 'no-length';
    // The announced length differs, so the body need not be read.
    if (length !== query.get('bytes')) return 'content-differs';
    try {
      if (!(await mayReceive(id))) return 'credential-ended';
      const received = await uploads.receive(id, query, atLeastSlowly(request, nowMs));
      // Called for a file that was stored before, too, because the first call may have failed.
      if (received === 'stored' || received === 'stored-already') await onStored(id);
      return received;
    } catch (error) {
      if (error instanceof TooSlow) return 'too-slow';
      if (!(error instanceof StorageUnavailable)) throw error;
      report(`the file of ${id} could not be stored`, error);
      return diskFault(error) === null ? 'unavailable' : 'disk-fails';
    }
  }

  return (request) => {
    if (request.method !== 'PUT') return null;
    const [path = '', search = ''] = originForm(request.url as string).split('?', 2);
    const id = PATH.exec(path)?.[1];
    if (id === undefined) return null;
    const query = new URLSearchParams(search);
    // Checked before the first byte of the body: a sender without a valid target must not occupy a connection.
    if (!uploads.isTarget(id, query))
      return async (_, response) => sendResult(request, response, resultOf('forbidden'));
    return async (_, response) => sendResult(request, response, resultOf(await take(id, query, request)));
  };
}

class TooSlow extends Error {}

/** Passes the body on unchanged. @throws TooSlow */
async function* atLeastSlowly(body: AsyncIterable<Uint8Array>, nowMs: () => number): AsyncGenerator<Uint8Array> {
  const startMs = nowMs();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    const elapsedMs = nowMs() - startMs;
    if (elapsedMs > GRACE_MS && bytes * 1000 < elapsedMs * MIN_BYTES_PER_SECOND) throw new TooSlow();
    yield chunk;
  }
}

function resultOf(outcome: Outcome): HttpResult {
  if (outcome === 'stored') return textResult(204, '');
  const retry = outcome in RETRY_AFTER ? { 'retry-after': RETRY_AFTER[outcome] as string } : {};
  return problemResult(problem(...REFUSALS[outcome]), retry);
}
