/** Finds the answer to one request: from the router, an object, or a problem. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem } from '../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { forBrowsers, isForPeople, readWithFallback } from './absent-page.ts';
import type { ObjectCache } from './cache.ts';
import { type Coding, chooseCoding } from './encoding.ts';
import { originForm } from './framing.ts';
import { wantedRange } from './range.ts';
import { COUNTED_STATUS, type ReadCounts } from './read-counts.ts';
import type { Representation } from './representation.ts';
import { absentReply, type EdgeReply, objectReply, sendProblem, sendReply, unavailableReply } from './respond.ts';
import type { Route } from './router-sandbox.ts';

/** The answer to `GET /healthz`: `body`, with status 200 if healthy and 503 if not. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly body: Json;
}

export interface AnswerOptions {
  readonly route: Route;
  readonly cache: ObjectCache<Representation>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
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
  const { route, cache, nowMs, health, isReady, wantsNewest, counts } = options;

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
      const reply = { status: routed.status, fields: routed.headers, body: routed.body };
      counts.add(reply.status, 'none');
      if (reply.status === 404 && isForPeople(target)) return sendForBrowsers(request, response, reply);
      sendReply(request, response, reply);
      return null;
    }
    const { key } = routed;
    const isPassedOver = wantsNewest(request);
    const entry = isPassedOver ? undefined : cache.fresh(key);
    const variant = entry?.view.ready(codingFor(request, entry.view));
    if (entry === undefined || variant === undefined || (entry.view.status === 410 && isForPeople(target)))
      return sendRead(request, response, { key, isPassedOver, isForPeople: isForPeople(target) });
    const reply = objectReply(request, entry.view, variant, ageSeconds(entry), 'hit');
    counts.add(reply.status, 'hit');
    sendReply(request, response, reply);
    return null;
  }

  /** An object that must first be fetched, revalidated or compressed, or a problem. */
  async function sendRead(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { readonly key: string; readonly isPassedOver: boolean; readonly isForPeople: boolean },
  ): Promise<void> {
    const { key, found } = await readWithFallback(cache, asked.key, asked.isPassedOver ? 'newest' : 'fresh');
    let reply: EdgeReply;
    if (found.kind === 'absent') reply = absentReply(key, ageSeconds(found), found.provenance);
    else if (found.kind === 'unavailable') {
      reply = unavailableReply(Math.max(1, Math.ceil((found.retryAtMs - nowMs()) / 1000)));
    } else {
      const { view } = found.entry;
      const variant = await view.variant(codingFor(request, view), () => cache.resized(key));
      reply = objectReply(request, view, variant, ageSeconds(found.entry), found.provenance);
    }
    counts.add(reply.status, found.kind === 'unavailable' ? 'none' : COUNTED_STATUS[found.provenance]);
    const removal = found.kind === 'found' && reply.status === 410 ? found.entry.view.identity.body : null;
    if (asked.isForPeople) await sendForBrowsers(request, response, reply, removal);
    else sendReply(request, response, reply);
  }

  async function sendForBrowsers(
    request: IncomingMessage,
    response: ServerResponse,
    reply: EdgeReply,
    removal: Uint8Array | null = null,
  ): Promise<void> {
    sendReply(request, response, await forBrowsers(cache, request, reply, removal));
  }

  function ageSeconds({ validatedAtMs }: { readonly validatedAtMs: number }): number {
    return Math.max(0, Math.floor((nowMs() - validatedAtMs) / 1000));
  }

  /** Embedded only: a CDN has its own health checks. */
  async function sendHealth(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { healthy, body } = await health();
    const bytes = Buffer.from(canonicalJson(body));
    const fields = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
    fields.push('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff');
    sendReply(request, response, { status: healthy ? 200 : 503, fields, body: bytes });
  }

  return answer;
}

function codingFor(request: IncomingMessage, representation: Representation): Coding {
  if (wantedRange(request, representation) !== null) return 'identity';
  const acceptEncoding = request.headers['accept-encoding'] as string | undefined;
  return chooseCoding(acceptEncoding, representation.identity.body.length, representation.isText);
}
