/** Finds the answer to one request: from the router, an object, or a problem. */
import type { IncomingMessage } from 'node:http';
import { problem } from '../../contract/problems/problems.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import { forBrowsers, isForPeople, readWithFallback } from './absent-page.ts';
import type { ObjectCache } from './cache.ts';
import { originForm } from './framing.ts';
import type { ReadCounts } from './read-counts.ts';
import type { Representation } from './representation.ts';
import { absentReply, type EdgeReply, jsonReply, objectReply, problemReply, unavailableReply } from './respond.ts';
import { routeRead } from './route.ts';

/** The answer to `GET /healthz`: `body`, with status 200 if healthy and 503 if not. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly body: Json;
}

export interface AnswerOptions {
  readonly cache: ObjectCache<Representation>;
  /** The clock of the cache. */
  readonly nowMs: () => number;
  readonly health: () => HealthReport | Promise<HealthReport>;
  readonly isReady: () => boolean;
  /** Whether the request asks for bytes that are not from the cache, and may do so. */
  readonly wantsNewest: (request: IncomingMessage) => boolean;
  readonly counts: ReadCounts;
}

const START_SECONDS = 2;
/** Answered without the cache: a cache would remember "not found" or a failure even after the service is ready. */
const STARTING = problem('origin-unavailable', `The service is starting: retry in ${START_SECONDS} s.`);

export function createAnswer(options: AnswerOptions): (request: IncomingMessage) => Promise<EdgeReply> {
  const { cache, nowMs, health, isReady, wantsNewest, counts } = options;

  async function objectOrProblem(request: IncomingMessage, asked: string): Promise<EdgeReply> {
    const { key, found } = await readWithFallback(cache, asked, wantsNewest(request));
    const counted = (reply: EdgeReply): EdgeReply => {
      counts.add(reply.status, found.kind === 'unavailable' ? null : found.provenance);
      return reply;
    };
    if (found.kind === 'unavailable')
      return counted(unavailableReply(Math.max(1, Math.ceil((found.retryAtMs - nowMs()) / 1000))));
    const ageSeconds = Math.max(0, Math.floor((nowMs() - found.validatedAtMs) / 1000));
    if (found.kind === 'absent') return counted(absentReply(key, ageSeconds, found.provenance));
    return counted(await objectReply(request, found.view, ageSeconds, found.provenance));
  }

  return async (request) => {
    const target = originForm(request.url as string);
    if (target === '/healthz' && (request.method === 'GET' || request.method === 'HEAD')) {
      const { healthy, body } = await health();
      return jsonReply(healthy ? 200 : 503, body);
    }
    const routed = isReady() ? routeRead(request.method as string, target) : null;
    if (routed?.kind === 'object') {
      const reply = await objectOrProblem(request, routed.key);
      return isForPeople(target) ? await forBrowsers(cache, request, reply) : reply;
    }
    const reply = routed ?? problemReply(STARTING, ['Retry-After', String(START_SECONDS)]);
    counts.add(reply.status, null);
    return reply.status >= 404 && isForPeople(target) ? await forBrowsers(cache, request, reply) : reply;
  };
}
