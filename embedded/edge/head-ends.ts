/** The ends of heads that the fast lane sends: the fields that change with time, and those of the connection. */
import { FRESH_SECONDS } from '../../contract/limits.ts';
import type { Variant } from './representation.ts';

export interface HeadEnds {
  /** Of any answer. */
  at(nowMs: number): { readonly text: string };
  /** Of a hit. Every reader of one age within one second gets the same. */
  ofHit(nowMs: number, ageSeconds: number): HitEnd;
}

/** The end of the heads of hits, for one second and one age. */
export class HitEnd {
  readonly text: string;
  /** Whole answers, by status. Dropped with the second, so that hot answers take memory for a second. */
  readonly #answers = { 200: new Map<Variant, Buffer>(), 304: new Map<Variant, Buffer>() };
  readonly #number: number;

  constructor(text: string, number: number) {
    this.text = text;
    this.#number = number;
  }

  /**
   * The whole answer. Null: nobody else has asked for it within this second, or the body is large. To make the bytes pays
   * from the second asker on.
   */
  ready(variant: Variant, status: 200 | 304): Buffer | null {
    const { body } = variant;
    if (typeof body !== 'string') return null;
    if (variant.askedWith !== this.#number) {
      variant.askedWith = this.#number;
      return null;
    }
    const answers = this.#answers[status];
    const ready = answers.get(variant);
    if (ready !== undefined) return ready;
    const made = Buffer.from(variant.hitHead(status) + this.text + (status === 200 ? body : ''), 'latin1');
    answers.set(variant, made);
    return made;
  }
}

/** @param keepAliveTimeoutMs 0: connections are kept without a limit, and none is told */
export function createHeadEnds(keepAliveTimeoutMs: number): HeadEnds {
  const timeout = keepAliveTimeoutMs === 0 ? '' : `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`;
  const connection = `Connection: keep-alive\r\n${timeout}\r\n`;
  let second = Number.NaN;
  let newest = { text: '' };
  /** By age. */
  let hits: HitEnd[] = [];
  let made = 0;

  function at(nowMs: number): { readonly text: string } {
    const now = Math.floor(nowMs / 1000);
    if (now !== second) {
      second = now;
      newest = { text: `Date: ${new Date(now * 1000).toUTCString()}\r\n${connection}` };
      hits = [];
    }
    return newest;
  }

  function ofHit(nowMs: number, ageSeconds: number): HitEnd {
    const { text } = at(nowMs);
    const known = hits[ageSeconds];
    if (known !== undefined) return known;
    const cacheStatus = `Tidemark; hit; ttl=${FRESH_SECONDS - ageSeconds}`;
    const hit = new HitEnd(`Age: ${ageSeconds}\r\nCache-Status: ${cacheStatus}\r\n${text}`, ++made);
    hits[ageSeconds] = hit;
    return hit;
  }

  return { at, ofHit };
}
