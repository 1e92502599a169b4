import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { redact } from '../../contract/values/redact.ts';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';

describe('redact', () => {
  it.each([
    ['', ''],
    ['GET /api/v1/watchlists 200', 'GET /api/v1/watchlists 200'],
    ['key tdm_live_01jd_c2VjcmV0 refused', 'key [redacted] refused'],
    ['TDM_LIVE_01JD', '[redacted]'],
    ['watchlists/user:jo@example.org is too long', 'watchlists/user:[redacted] is too long'],
    [`token ${JWT}, expired`, 'token [redacted], expired'],
    ['eyJhbGciOiJSUzI1NiJ9', '[redacted]'],
    [`${JWT}.a.b`, '[redacted]'],
    // Headers of JWTs that begin with a brace and a space, and with a brace and a line feed.
    ['eyAiYWxnIjogIm5vbmUiIH0.e30.', '[redacted]'],
    ['ewogImFsZyI6ICJub25lIn0.e30.', '[redacted]'],
    ['authorization: Bearer opaque+token/==', 'authorization: Bearer [redacted]'],
    ['{"authorization":"bearer abc","a":1}', '{"authorization":"bearer [redacted]","a":1}'],
    ['Bearer%20abc&x=1', 'Bearer%20[redacted]'],
    ['Bearer Bearer abc', 'Bearer [redacted]'],
    ['two: tdm_a tdm_b', 'two: [redacted] [redacted]'],
  ])('makes of %j: %j', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  const around = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      ' ',
      '"',
      '=',
      'ey',
      'e',
      '.',
      '_',
      'tdm',
      'tdm_',
      'Bearer ',
      'bearer',
      '%20',
      '\n',
      '[redacted]',
    ),
  );
  const letters = (min: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9_-]{${min},40}$`));
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  /** Credentials, each with its secret parts. */
  const credential = fc.oneof(
    fc
      .tuple(fc.constantFrom('live', 'test', 'local'), letters(8), letters(32))
      .map(([env, id, secret]) => ({ text: `tdm_${env}_${id}_${secret}`, secrets: [secret] })),
    fc.tuple(fc.constantFrom('RS256', 'none'), letters(8), letters(32)).map(([alg, sub, signature]) => ({
      text: `${encoded({ alg })}.${encoded({ sub })}.${signature}`,
      secrets: [encoded({ sub }), signature],
    })),
    letters(24).map((token) => ({ text: `Bearer ${token}`, secrets: [token] })),
  );

  test('leaves nothing of a credential in any text', () => {
    fc.assert(
      fc.property(around, credential, around, credential, (before, first, between, second) => {
        const result = redact(`${before}${first.text}${between} ${second.text}`);
        const parts = [...first.secrets, ...second.secrets].flatMap((secret) => [
          secret.slice(0, 12),
          secret.slice(-12),
        ]);
        for (const part of parts) expect(result).not.toContain(part);
      }),
      { numRuns: 500 },
    );
  });

  test('does not change redacted text again', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            around,
            credential.map(({ text }) => text),
          ),
        ),
        (parts) => {
          const once = redact(parts.join(''));
          expect(redact(once)).toBe(once);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes linear time for a long text', () => {
    for (const piece of ['bearer ', 'ey', 'eyJ.', 'tdm_', 'bearer+%20', 'ewaaaaaaaa', ' ']) {
      expect(redact(piece.repeat(50_000)).length).toBeLessThanOrEqual(50_000 * piece.length + 10);
    }
  });
});
