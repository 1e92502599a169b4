/** `GET /api/v1/mirror`: the service that this mirror copies, and the age of the copy. Only mirrors have this document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { DivertedHandler } from '../edge/bodies.ts';
import { CORS_FIELDS } from '../edge/representation.ts';
import { jsonReply, sendReply } from '../edge/respond.ts';

const MIRROR_URL = '/api/v1/mirror';

export interface MirrorDocument {
  /** The base URL of the service. */
  readonly of: string;
  /** The generation of the copy; null: the first copy is not complete. */
  readonly generation: number | null;
  /** Seconds since the last round that was `current`; null: never. */
  readonly ageSeconds: number | null;
  /** The verified log; null: none has been read yet. */
  readonly log: { readonly origin: string; readonly size: number } | null;
  /** `current`, `behind`, `faulty`, `forked` or `unreachable`: the outcome of the last round. */
  readonly state: string;
}

/** Handles GET and HEAD of the document; the edge handles all other requests. */
export function divertMirror(document: () => MirrorDocument): (request: IncomingMessage) => DivertedHandler | null {
  const answer: DivertedHandler = async (request: IncomingMessage, response: ServerResponse) => {
    sendReply(request, response, jsonReply(200, document() as unknown as Json, CORS_FIELDS));
  };
  return ({ method, url }) => (url === MIRROR_URL && (method === 'GET' || method === 'HEAD') ? answer : null);
}
