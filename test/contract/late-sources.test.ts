/** The late sources of many markets, by the reader's clock. */
import { expect, test } from 'vitest';
import { cadenceSchema } from '../../contract/freshness/cadence.ts';
import { Expectations } from '../../contract/freshness/late-sources.ts';

const CADENCE = cadenceSchema.parse({ period: 'day', releaseTime: '15:00', graceSeconds: 3600 });

function waiting(label: string, expectedNextAt: string | null, graceSeconds = 3600) {
  const fields = { label, url: 'https://example.com', publisher: null, licence: null, attribution: null };
  const cadence = expectedNextAt === null ? null : { ...CADENCE, graceSeconds };
  return { sources: [{ ...fields, cadence, expectedNextAt, verification: null }] };
}

const at = (time: string) => Date.parse(`2026-10-${time}Z`);

test('a source is late once, with its latest market, and says how many markets wait', () => {
  const expectations = new Expectations([
    waiting('bank', '2026-10-02T15:00:00Z'),
    waiting('bank', '2026-10-02T15:00:00Z'),
    waiting('bank', '2026-10-01T15:00:00Z'),
    waiting('exchange', '2026-10-02T14:00:00Z', 0),
    waiting('exchange', '2026-10-03T15:00:00Z'),
    waiting('patient', '2026-10-01T15:00:00Z', 86_400 * 3),
    waiting('silent', null),
  ]);
  expect(expectations.late(at('02T17:00:00'))).toEqual([
    { label: 'bank', lateSeconds: 93_600, expectedNextAt: '2026-10-01T15:00:00Z', markets: 3 },
    { label: 'exchange', lateSeconds: 10_800, expectedNextAt: '2026-10-02T14:00:00Z', markets: 1 },
  ]);
  expect(expectations.late(at('01T15:30:00'))).toEqual([]);
  expect(expectations.oldest).toBe('2026-10-01T15:00:00.000Z');
});

test('sources that are equally late are in the order of their labels', () => {
  const expectations = new Expectations(['b', 'c', 'a'].map((label) => waiting(label, '2026-10-01T15:00:00Z')));
  expect(expectations.late(at('05T00:00:00')).map(({ label }) => label)).toEqual(['a', 'b', 'c']);
});

test('markets without a cadence expect nothing', () => {
  const expectations = new Expectations([waiting('silent', null), { sources: [] }]);
  expect([expectations.late(at('05T00:00:00')), expectations.oldest]).toEqual([[], null]);
});
