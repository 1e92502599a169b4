/** Large files over the embedded server's port: what S3 does elsewhere, with presigned PUTs of its own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ProblemCode, problem } from '../contract/problems.ts';
import { problemResult, textResult } from '../lambdas/http/answer.ts';
import type { HttpResult } from '../lambdas/http/event.ts';
import { type DirectoryUploads, type Received, uploadPath } from '../storage/directory-uploads.ts';
import type { DivertedHandler } from './edge/divert.ts';
import { originForm } from './edge/framing.ts';

export interface UploadServerOptions {
  readonly uploads: DirectoryUploads;
  /** Called when a file is there. What it rejects with fails the request; putting the file again calls it again. */
  readonly onStored: (id: string) => Promise<void>;
}

const PATH = new RegExp(`^${uploadPath('(upl_[0-9A-Z]{26})')}$`);

const REFUSALS: { readonly [Why in Exclude<Received, 'stored'>]: readonly [ProblemCode, string] } = {
  forbidden: ['forbidden', 'This is no target, or not any more: read the upload again for a new one.'],
  'content-differs': ['validation-failed', 'The file does not have the length and the SHA-256 that were announced.'],
};

/** Gives who takes in the file of a request that puts one; null for every other request. */
export function createUploadServer(options: UploadServerOptions): (request: IncomingMessage) => DivertedHandler | null {
  const { uploads, onStored } = options;
  return (request) => {
    const { pathname, searchParams } = new URL(originForm(request.url as string), 'http://localhost');
    const id = PATH.exec(pathname)?.[1];
    if (id === undefined || request.method !== 'PUT') return null;
    return async (_, response) => {
      const received = await uploads.receive(id, searchParams, request as AsyncIterable<Uint8Array>);
      if (received === 'stored') await onStored(id);
      const [code, detail] = received === 'stored' ? [] : REFUSALS[received];
      send(response, code === undefined ? textResult(204, '') : problemResult(problem(code, detail as string)));
    };
  };
}

function send(response: ServerResponse, { statusCode, headers, body = '' }: HttpResult): void {
  const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(statusCode, { ...headers, ...length }).end(body);
}
