/** The answers about one object of the cache, whoever sends them: node:http or the fast lane. */
import { HIT, type ObjectCache, type Wanted } from './cache.ts';
import { type Coding, chooseCoding } from './encoding.ts';
import { type ObjectRequest, wantedRange } from './range.ts';
import { countedStatus, type ReadCounts } from './read-counts.ts';
import type { Representation } from './representation.ts';
import { absentReply, type EdgeReply, objectReply, unavailableReply } from './respond.ts';

export interface ObjectReplies {
  /** The answer that needs nothing but memory; null: {@link ObjectReplies.read}. Counted. */
  ready(key: string, asked: ObjectRequest): EdgeReply | null;
  /** The answer with an object that must first be fetched, revalidated or compressed, or a problem. Counted. */
  read(key: string, asked: ObjectRequest, wanted: Wanted): Promise<EdgeReply>;
}

export interface ObjectRepliesOptions {
  readonly cache: ObjectCache<Representation>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly counts: ReadCounts;
}

export function createObjectReplies({ cache, nowMs, counts }: ObjectRepliesOptions): ObjectReplies {
  function ready(key: string, asked: ObjectRequest): EdgeReply | null {
    const entry = cache.fresh(key);
    const variant = entry?.view.ready(codingFor(asked, entry.view));
    if (entry === undefined || variant === undefined) return null;
    const reply = objectReply(asked, entry.view, variant, ageSeconds(entry), HIT);
    counts.add(reply.status, 'hit');
    return reply;
  }

  async function read(key: string, asked: ObjectRequest, wanted: Wanted): Promise<EdgeReply> {
    const found = await cache.read(key, wanted);
    const counted = found.kind === 'unavailable' ? 'none' : countedStatus(found.provenance);
    let reply: EdgeReply;
    if (found.kind === 'absent') reply = absentReply(ageSeconds(found), found.provenance);
    else if (found.kind === 'unavailable') {
      const retrySeconds = Math.max(1, Math.ceil((found.retryAtMs - nowMs()) / 1000));
      reply = unavailableReply(retrySeconds, found.provenance);
    } else {
      const { entry } = found;
      const variant = await entry.view.variant(codingFor(asked, entry.view), () => cache.resized(key));
      reply = objectReply(asked, entry.view, variant, ageSeconds(entry), found.provenance);
    }
    counts.add(reply.status, counted);
    return reply;
  }

  function ageSeconds({ validatedAtMs }: { readonly validatedAtMs: number }): number {
    return Math.max(0, Math.floor((nowMs() - validatedAtMs) / 1000));
  }

  return { ready, read };
}

function codingFor(asked: ObjectRequest, representation: Representation): Coding {
  if (asked.headers.range !== undefined && wantedRange(asked, representation) !== null) return 'identity';
  const acceptEncoding = asked.headers['accept-encoding'] as string | undefined;
  return chooseCoding(acceptEncoding, representation.identity.sizeBytes, representation.isText);
}
