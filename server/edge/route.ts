/** Routes readers as CloudFront does: by the same router, with the same events. */
import { LRUCache } from 'lru-cache';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { handler, URL_MAX_LENGTH } from '../../infra/edge/router.ts';
import { viewerEvent } from '../../infra/edge/viewer-event.ts';

/** The router's result: the key of a stored object, or an answer that is ready to send. */
export type EdgeRouted =
  | { readonly kind: 'object'; readonly key: string }
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Names and values in turn, with `content-length` if the answer has a body. */
      readonly fields: readonly string[];
      readonly body: Buffer;
    };

const remembered = new LRUCache<string, EdgeRouted>({ max: 10_000 });

/** @param target path and query. The router depends on nothing else, so results are remembered */
export function routeRead(method: string, target: string): EdgeRouted {
  // A URL has no space, so a GET's key is never that of another method. The bare URL saves a new string on the hot path.
  const request = method === 'GET' ? target : `${method} ${target}`;
  const known = remembered.get(request);
  if (known !== undefined) return known;
  const routed = outcome(handler(viewerEvent(method, target)));
  if (target.length <= URL_MAX_LENGTH) remembered.set(request, routed);
  return routed;
}

function outcome(result: ReturnType<typeof handler>): EdgeRouted {
  if (!('statusCode' in result)) return { kind: 'object', key: PUBLIC_PREFIX + result.uri };
  const body = Buffer.from(result.body?.data ?? '');
  const fields = Object.entries(result.headers).flatMap(([name, { value }]) => [name, value]);
  if (result.body !== undefined) fields.push('content-length', String(body.length));
  return { kind: 'answer', status: result.statusCode, fields, body };
}
