/**
 * How many requests a credential may make: a token bucket each, in the memory of this process.
 *
 * Per process, so N instances of a function admit up to N times the limit, and a restart forgets. It protects an instance
 * from one busy client, and tells well-behaved clients when to slow down; what must hold exactly (the quotas of
 * entitlements) is counted in the ledger, in the transaction of the write. To count requests there as well would cost a
 * ledger write for each of them, reads included: more than most of the requests that it would hold back.
 */
import { LRUCache } from 'lru-cache';

/** `limit` requests per window, at once or spread over it. */
export interface RatePolicy {
  /** Lower-case letters and hyphens: stands in a header field. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface RateLimitResult {
  readonly policy: RatePolicy;
  readonly allowed: boolean;
  /** Requests that would be allowed now. */
  readonly remaining: number;
  /** Until the whole limit is there again, if nothing more comes. */
  readonly resetSeconds: number;
  /** Until one request is allowed; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  /** Counts a request. `credential` is the id of one, never its secret: it is kept in memory. */
  take(credential: string): RateLimitResult;
}

export interface RateLimiterOptions {
  readonly nowMs: () => number;
  readonly policy: RatePolicy;
  /** Buckets kept. The one that was used least recently goes first; its credential begins again with a full one. */
  readonly maxCredentials: number;
}

/** What has been used, in units of which one request has `windowMs`, and of which `limit` drain each millisecond. */
interface Bucket {
  readonly used: number;
  readonly atMs: number;
}

export function createRateLimiter({ nowMs, policy, maxCredentials }: RateLimiterOptions): RateLimiter {
  const { limit } = policy;
  const windowMs = policy.windowSeconds * 1000;
  const capacity = limit * windowMs;
  const buckets = new LRUCache<string, Bucket>({ max: maxCredentials });
  /** Rounded up, so that whoever waits as long as told is never too early. */
  const secondsToDrain = (units: number) => Math.ceil(Math.max(0, units) / limit / 1000);

  return {
    take(credential) {
      const atMs = nowMs();
      const before = buckets.get(credential) ?? { used: 0, atMs };
      // The clock of a machine may be set back.
      const drained = Math.max(0, before.used - Math.max(0, atMs - before.atMs) * limit);
      const allowed = drained + windowMs <= capacity;
      const used = allowed ? drained + windowMs : drained;
      buckets.set(credential, { used, atMs });
      return {
        policy,
        allowed,
        remaining: Math.floor((capacity - used) / windowMs),
        resetSeconds: secondsToDrain(used),
        retryAfterSeconds: allowed ? 0 : secondsToDrain(drained + windowMs - capacity),
      };
    },
  };
}

/**
 * The fields that tell the client (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4): lists of strings with
 * parameters (RFC 9651), q for the quota, w for its window, r for what remains, t for when it is whole again. A refusal
 * has `Retry-After` too, which comes first for those who understand both.
 */
export function rateLimitFields(result: RateLimitResult): Record<string, string> {
  const { name, limit, windowSeconds } = result.policy;
  return {
    'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${name}";r=${result.remaining};t=${result.resetSeconds}`,
    ...(result.allowed ? {} : { 'retry-after': String(result.retryAfterSeconds) }),
  };
}
