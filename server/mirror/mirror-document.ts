/** `GET /api/v1/mirror`: which service a mirror shows, and how old its copy is. Only mirrors answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import type { DivertedHandler } from '../edge/bodies.ts';
import { CORS_FIELDS } from '../edge/representation.ts';
import { sendReply } from '../edge/respond.ts';

const MIRROR_URL = '/api/v1/mirror';

export interface MirrorDocument {
  /** The base URL of the service. */
  readonly of: string;
  /** Of the copy; null: the first copy is not complete. */
  readonly generation: number | null;
  /** Seconds since the copy was last known to be that of the service; null: never. */
  readonly ageSeconds: number | null;
  /** The log that is verified; null: none was read yet. */
  readonly log: { readonly origin: string; readonly size: number } | null;
  /** `current`, `behind`, `faulty`, `forked` or `unreachable`: the outcome of the last round. */
  readonly state: string;
}

/** Takes GET and HEAD of the document; everything else is the edge's. */
export function divertMirror(document: () => MirrorDocument): (request: IncomingMessage) => DivertedHandler | null {
  const answer: DivertedHandler = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.from(canonicalJson(document() as unknown as Json));
    const fields = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
    fields.push('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff', ...CORS_FIELDS);
    sendReply(request, response, { status: 200, fields, body });
  };
  return ({ method, url }) => (url === MIRROR_URL && (method === 'GET' || method === 'HEAD') ? answer : null);
}
