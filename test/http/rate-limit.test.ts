import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createRateLimiter, rateLimitFields } from '../../lambdas/http/rate-limit.ts';

function limiterWith({ limit = 3, windowSeconds = 60, maxCredentials = 10 } = {}) {
  const clock = { nowMs: 1_000_000 };
  const policy = { name: 'default', limit, windowSeconds };
  return { clock, limiter: createRateLimiter({ nowMs: () => clock.nowMs, policy, maxCredentials }) };
}

describe('the rate limiter', () => {
  it('allows the limit at once, and then one request for each share of the window', () => {
    const { clock, limiter } = limiterWith();
    const taken = [1, 2, 3, 4].map(() => limiter.take('key:a'));
    expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(taken[3]).toMatchObject({ retryAfterSeconds: 20, resetSeconds: 60 });
    clock.nowMs += 19_999;
    expect(limiter.take('key:a')).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    clock.nowMs += 1;
    expect(limiter.take('key:a')).toMatchObject({ allowed: true, remaining: 0, retryAfterSeconds: 0 });
  });

  it('keeps credentials apart', () => {
    const { limiter } = limiterWith({ limit: 1 });
    expect(['key:a', 'key:b', 'key:a'].map((credential) => limiter.take(credential).allowed)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('forgets the credential that was used least recently when there are too many', () => {
    const { limiter } = limiterWith({ limit: 1, maxCredentials: 2 });
    const allowed = ['a', 'b', 'a', 'c', 'a', 'b'].map((credential) => limiter.take(credential).allowed);
    expect(allowed).toEqual([true, true, false, true, false, true]);
  });

  it('does not change when the clock is set back', () => {
    const { clock, limiter } = limiterWith({ limit: 1 });
    limiter.take('a');
    clock.nowMs -= 1_000_000;
    expect(limiter.take('a')).toMatchObject({ allowed: false, retryAfterSeconds: 60 });
    clock.nowMs += 60_000;
    expect(limiter.take('a').allowed).toBe(true);
  });

  const pauses = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 100 });

  test('never allows more than the limit plus the refill, in any stretch of time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        pauses,
        (limit, windowSeconds, gaps) => {
          const { clock, limiter } = limiterWith({ limit, windowSeconds });
          const allowedAtMs: number[] = [];
          for (const gapMs of gaps) {
            clock.nowMs += gapMs;
            if (limiter.take('a').allowed) allowedAtMs.push(clock.nowMs);
          }
          for (const [from, startMs] of allowedAtMs.entries()) {
            for (const [more, endMs] of allowedAtMs.slice(from).entries()) {
              const refilled = ((endMs - startMs) * limit) / (windowSeconds * 1000);
              expect(more + 1).toBeLessThanOrEqual(limit + refilled);
            }
          }
        },
      ),
    );
  });

  test('keeps its promises: that many now, one after Retry-After, all after the reset', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        pauses,
        (limit, windowSeconds, gaps) => {
          const { clock, limiter } = limiterWith({ limit, windowSeconds });
          let last = limiter.take('a');
          for (const gapMs of gaps) {
            clock.nowMs += gapMs;
            last = limiter.take('a');
          }
          for (let left = last.remaining; left > 0; left--) expect(limiter.take('a').allowed).toBe(true);
          const refused = limiter.take('a');
          expect(refused.allowed).toBe(false);
          clock.nowMs += refused.retryAfterSeconds * 1000;
          const next = limiter.take('a');
          expect(next.allowed).toBe(true);
          clock.nowMs += next.resetSeconds * 1000;
          expect(limiter.take('a').remaining).toBe(limit - 1);
        },
      ),
    );
  });
});

describe('rateLimitFields', () => {
  const policy = { name: 'default', limit: 100, windowSeconds: 60 };

  it('gives policy and state as structured fields', () => {
    expect(rateLimitFields({ policy, allowed: true, remaining: 50, resetSeconds: 30, retryAfterSeconds: 0 })).toEqual({
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=50;t=30',
    });
  });

  it('adds Retry-After to a refusal', () => {
    expect(rateLimitFields({ policy, allowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 1 })).toEqual({
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=0;t=60',
      'retry-after': '1',
    });
  });
});
