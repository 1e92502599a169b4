/**
 * Limits the failed authentications of one network. A failure costs its sender nothing, and costs us the check of a signature
 * or a read of the ledger. Above the limit, credentials from that network are not checked, except those that were valid before:
 * so other clients behind the same proxy keep their access.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { networkOf } from '../http/network.ts';
import { createRateLimiter } from '../http/rate-limit.ts';

export const FAILURES_A_MINUTE = 60;

const MAX_CREDENTIALS = 10_000;

export interface FailureLimit {
  /** Seconds until the next try; 0: try now. */
  waitSeconds(authorization: string, address: string): number;
  failed(address: string): void;
  succeeded(authorization: string): void;
}

export function createFailureLimit({ nowMs }: Pick<Runtime, 'nowMs'>): FailureLimit {
  const policy = { name: 'failures', limit: FAILURES_A_MINUTE, windowSeconds: 60 };
  const limiter = createRateLimiter({ nowMs, policy });
  // Digests, because the cache must not hold secrets.
  const good = new LRUCache<string, true>({ max: MAX_CREDENTIALS });
  const nameOf = (authorization: string) => hash('sha256', authorization);

  return {
    waitSeconds(authorization, address) {
      const { remaining } = limiter.take(networkOf(address), 0);
      return remaining > 0 || good.has(nameOf(authorization)) ? 0 : 1;
    },
    failed: (address) => void limiter.take(networkOf(address)),
    succeeded: (authorization) => void good.set(nameOf(authorization), true),
  };
}
