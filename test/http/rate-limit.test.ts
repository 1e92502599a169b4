/** The rate of a credential. test/write-api/pipeline.test.ts shows what a client sees of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';

function limiterWith({ limit = 3, windowSeconds = 60, maxCredentials = 10 } = {}) {
  const clock = { nowMs: 1_000_000 };
  const policy = { name: 'default', limit, windowSeconds };
  return { clock, limiter: createRateLimiter({ nowMs: () => clock.nowMs, policy, maxCredentials }) };
}

test('forgets the credential that was used least recently when there are too many', () => {
  const { limiter } = limiterWith({ limit: 1, maxCredentials: 2 });
  const allowed = ['a', 'b', 'a', 'c', 'a', 'b'].map((credential) => limiter.take(credential).allowed);
  expect(allowed).toEqual([true, true, false, true, false, true]);
});

test('does not change when the clock is set back', () => {
  const { clock, limiter } = limiterWith({ limit: 1 });
  limiter.take('a');
  clock.nowMs -= 1_000_000;
  expect(limiter.take('a')).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
  clock.nowMs += 60_000;
  expect(limiter.take('a').allowed).toBe(true);
});

test('never allows more than the limit plus the refill, and keeps its promises: that many now, one after Retry-After', () => {
  const pauses = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 100 });
  const some = (max: number) => fc.integer({ min: 1, max });
  fc.assert(
    fc.property(some(20), some(60), pauses, (limit, windowSeconds, gaps) => {
      const { clock, limiter } = limiterWith({ limit, windowSeconds });
      const allowedAtMs: number[] = [];
      let last = limiter.take('a', 0);
      for (const gapMs of gaps) {
        clock.nowMs += gapMs;
        last = limiter.take('a');
        if (last.allowed) allowedAtMs.push(clock.nowMs);
      }
      for (const [from, startMs] of allowedAtMs.entries()) {
        for (const [more, endMs] of allowedAtMs.slice(from).entries()) {
          const refilled = ((endMs - startMs) * limit) / (windowSeconds * 1000);
          expect(more + 1).toBeLessThanOrEqual(limit + refilled);
        }
      }
      for (let left = last.remaining; left > 0; left--) expect(limiter.take('a').allowed).toBe(true);
      const refused = limiter.take('a');
      expect(refused.allowed).toBe(false);
      clock.nowMs += refused.retryAfterSeconds * 1000 - 1000;
      expect(limiter.take('a').allowed).toBe(false);
      clock.nowMs += 1000;
      const next = limiter.take('a');
      expect(next.allowed).toBe(true);
      clock.nowMs += next.resetSeconds * 1000;
      expect(limiter.take('a').remaining).toBe(limit - 1);
    }),
  );
});
