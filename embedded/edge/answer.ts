/** Finds the answer to one request: from the router, an object, or a problem. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { problem } from '../../contract/problems.ts';
import type { Wanted } from './cache.ts';
import { originForm } from './framing.ts';
import type { ObjectReplies } from './object-replies.ts';
import type { ReadCounts } from './read-counts.ts';
import { sendProblem, sendReply } from './respond.ts';
import type { Route } from './router-sandbox.ts';

/** The answer to `GET /healthz`: `body`, with status 200 if healthy and 503 if not. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly body: Json;
}

export interface AnswerOptions {
  readonly route: Route;
  readonly replies: ObjectReplies;
  readonly health: () => HealthReport | Promise<HealthReport>;
  readonly isReady: () => boolean;
  /** Whether the request may, and does, ask for bytes that are not from the cache. */
  readonly wantsNewest: (request: IncomingMessage) => boolean;
  readonly counts: ReadCounts;
}

/**
 * Sends the answer at once and returns null, or returns a promise that settles when it is sent. May throw or reject.
 */
export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | null;

/** Answered without the cache, which would remember "not found" or a failure beyond the moment of readiness. */
const STARTING = problem('origin-unavailable', 'The service is starting: retry in 1 s.');

export function createAnswer(options: AnswerOptions): Answer {
  const { route, replies, health, isReady, wantsNewest, counts } = options;

  function answer(request: IncomingMessage, response: ServerResponse): Promise<void> | null {
    const target = originForm(request.url as string);
    if (target === '/healthz' && (request.method === 'GET' || request.method === 'HEAD')) {
      return sendHealth(request, response);
    }
    if (!isReady()) {
      sendProblem(request, response, STARTING, ['Retry-After', '1']);
      counts.add(STARTING.status, 'none');
      return null;
    }
    const routed = route(request.method as string, target);
    if (routed.kind === 'answer') {
      sendReply(request, response, { status: routed.status, fields: routed.headers, body: routed.body });
      counts.add(routed.status, 'none');
      return null;
    }
    const isPassedOver = wantsNewest(request);
    const hit = isPassedOver ? null : replies.ready(routed.key, request);
    if (hit === null) return sendRead(request, response, routed.key, isPassedOver ? 'newest' : 'fresh');
    sendReply(request, response, hit);
    return null;
  }

  async function sendRead(
    request: IncomingMessage,
    response: ServerResponse,
    key: string,
    wanted: Wanted,
  ): Promise<void> {
    sendReply(request, response, await replies.read(key, request, wanted));
  }

  /** Embedded only: a CDN has health checks of its own. */
  async function sendHealth(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { healthy, body } = await health();
    const bytes = Buffer.from(canonicalJson(body));
    const fields = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
    fields.push('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff');
    sendReply(request, response, { status: healthy ? 200 : 503, fields, body: bytes });
  }

  return answer;
}
