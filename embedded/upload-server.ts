/** Large files over the embedded server's port: what S3 does elsewhere, with presigned PUTs of its own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ProblemCode, problem } from '../contract/problems.ts';
import { problemResult, textResult } from '../lambdas/http/answer.ts';
import type { HttpResult } from '../lambdas/http/event.ts';
import { type DirectoryUploads, type Received, uploadPath } from '../storage/directory-uploads.ts';
import { StorageUnavailable } from '../storage/errors.ts';
import type { DivertedHandler } from './edge/divert.ts';
import { originForm } from './edge/framing.ts';

export interface UploadServerOptions {
  readonly uploads: DirectoryUploads;
  /** Called when a file is there. What it rejects with fails the request; another PUT, which is answered 412, calls it again. */
  readonly onStored: (id: string) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Told of what an operator should know: a full disk, say. Never of what a sender does. */
  readonly report: (what: string, cause: unknown) => void;
}

const PATH = new RegExp(`^${uploadPath('(upl_[0-9A-Z]{26})')}$`);

/**
 * A file may take as long as it needs, but not come slower than this on average, the first minute aside. With the edge's
 * limit on standstill no connection is held for nothing.
 */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const GRACE_MS = 60_000;

type Outcome = Received | 'no-length' | 'too-slow' | 'unavailable';

const REFUSALS: { readonly [Why in Exclude<Outcome, 'stored'>]: readonly [ProblemCode, string] } = {
  forbidden: ['forbidden', 'This is no target, or not any more: read the upload again for a new one.'],
  'stored-already': ['precondition-failed', 'The file is there already: read the upload for what has come of it.'],
  'content-differs': ['validation-failed', 'The file does not have the length and the SHA-256 that were announced.'],
  'no-length': ['invalid-request', 'Send the length of the file as Content-Length, and no Transfer-Encoding.'],
  'too-slow': ['request-timeout', `Send at least ${MIN_BYTES_PER_SECOND} bytes in a second: put the file again.`],
  unavailable: ['service-unavailable', 'The file could not be kept: put it again later.'],
};

/** Gives who takes in the file of a request that puts one; null for every other request. */
export function createUploadServer(options: UploadServerOptions): (request: IncomingMessage) => DivertedHandler | null {
  const { uploads, onStored, nowMs, report } = options;

  async function take(id: string, query: URLSearchParams, request: IncomingMessage): Promise<Outcome> {
    const length = request.headers['content-length'];
    // S3 takes none without (411): a client that works here would fail there.
    if (length === undefined) return 'no-length';
    // Another file, as its head says: nobody has to wait for its end.
    if (length !== query.get('bytes')) return 'content-differs';
    try {
      const received = await uploads.receive(id, query, atLeastSlowly(request, nowMs));
      // Told again of what is there: the first time may have failed.
      if (received === 'stored' || received === 'stored-already') await onStored(id);
      return received;
    } catch (error) {
      if (error instanceof TooSlow) return 'too-slow';
      if (!(error instanceof StorageUnavailable)) throw error;
      report(`the file of ${id} could not be kept`, error);
      return 'unavailable';
    }
  }

  return (request) => {
    if (request.method !== 'PUT') return null;
    const [path = '', search = ''] = originForm(request.url as string).split('?', 2);
    const id = PATH.exec(path)?.[1];
    if (id === undefined) return null;
    const query = new URLSearchParams(search);
    // Known before a byte of the body is: who has no target is not given the time either.
    if (!uploads.isTarget(id, query)) return async (_, response) => send(response, 'forbidden');
    const serve = async (_: IncomingMessage, response: ServerResponse) =>
      send(response, await take(id, query, request));
    return Object.assign(serve, { timesBody: true as const });
  };
}

class TooSlow extends Error {}

/** What comes, as it comes. @throws TooSlow */
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

function send(response: ServerResponse, outcome: Outcome): void {
  const { statusCode, headers, body = '' } = resultOf(outcome);
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(statusCode, { ...headers, ...length }).end(body);
}

function resultOf(outcome: Outcome): HttpResult {
  if (outcome === 'stored') return textResult(204, '');
  const retry = outcome === 'unavailable' ? { 'retry-after': '60' } : {};
  return problemResult(problem(...REFUSALS[outcome]), retry);
}
