/**
 * The rate limit of a credential: one token bucket each, in the memory of this process.
 *
 * The limit is per process: N instances of a function admit up to N times the limit, and a restart forgets. It protects an
 * instance from one busy client, and asks well-behaved clients to slow down. Exact limits (the quotas of entitlements) are
 * counted in the ledger, in the transaction of the write. Counting all requests there would cost a write for each request, even
 * for reads: more than most refused requests would have cost.
 */
import { LRUCache } from 'lru-cache';
import type { Runtime } from '../../storage/aws/runtime.ts';

/** `limit` requests per window, at once or spread over it. */
export interface RatePolicy {
  /** Lower-case letters and hyphens, because it is part of a header field. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface RateLimitResult {
  readonly policy: RatePolicy;
  readonly allowed: boolean;
  /** Requests that are allowed now. */
  readonly remaining: number;
  /** Seconds until the whole limit is available again, if no further requests come. */
  readonly resetSeconds: number;
  /** Seconds until one request is allowed; 0 if this one was allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  /**
   * Counts requests, by default one; 0 reads the state only. `credential` is an id and never a secret, because it stays in
   * memory.
   */
  take(credential: string, requests?: number): RateLimitResult;
}

export interface RateLimiterOptions extends Pick<Runtime, 'nowMs'> {
  /** Default: that of the write API. */
  readonly policy?: RatePolicy;
  /**
   * The number of buckets. The least recently used bucket is dropped first; its credential then begins with a full
   * limit.
   */
  readonly maxCredentials?: number;
}

/** For each credential, in each process. */
const DEFAULT_POLICY: RatePolicy = { name: 'default', limit: 600, windowSeconds: 60 };
const MAX_CREDENTIALS = 10_000;

/** Used units: one request is `windowMs` units, and `limit` units drain each millisecond. */
interface Bucket {
  readonly used: number;
  readonly atMs: number;
}

export function createRateLimiter({
  nowMs,
  policy = DEFAULT_POLICY,
  maxCredentials = MAX_CREDENTIALS,
}: RateLimiterOptions): RateLimiter {
  const { limit } = policy;
  const windowMs = policy.windowSeconds * 1000;
  const capacity = limit * windowMs;
  const buckets = new LRUCache<string, Bucket>({ max: maxCredentials });
  /** Rounded up, so that a client that waits this long is not too early. */
  const secondsToDrain = (units: number) => Math.ceil(Math.max(0, units) / limit / 1000);

  return {
    take(credential, requests = 1) {
      const taken = requests * windowMs;
      const atMs = nowMs();
      const before = buckets.get(credential) ?? { used: 0, atMs };
      // The machine's clock may be set back.
      const drained = Math.max(0, before.used - Math.max(0, atMs - before.atMs) * limit);
      const allowed = drained + taken <= capacity;
      const used = allowed ? drained + taken : drained;
      buckets.set(credential, { used, atMs });
      return {
        policy,
        allowed,
        remaining: Math.floor((capacity - used) / windowMs),
        resetSeconds: secondsToDrain(used),
        retryAfterSeconds: allowed ? 0 : secondsToDrain(drained + taken - capacity),
      };
    },
  };
}

/**
 * The fields for the client (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4). They are lists of strings with
 * parameters (RFC 9651): q is the quota, w its window, r the remaining requests, t the seconds until the quota is whole
 * again. A refusal also has `Retry-After`, which takes precedence.
 */
export function rateLimitFields(result: RateLimitResult): Record<string, string> {
  const { name, limit, windowSeconds } = result.policy;
  return {
    'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${result.remaining};t=${result.resetSeconds}`,
    ...(result.allowed ? {} : { 'retry-after': String(result.retryAfterSeconds) }),
  };
}
