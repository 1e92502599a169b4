/** The sources of a market, and which of several values at one moment it shows. */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { market, price } from '../publisher/world.ts';
import { openDesk } from './desk.ts';

const named = (fields: object): unknown => ({ ...market('a'), ...fields });

describe('the sources of a market', () => {
  const bank = { label: 'A bank', url: 'https://bank.example', publisher: null, licence: null, attribution: null };
  const cadence = { graceSeconds: 0, holidays: [], minutes: 5, period: 'minutes', weekdays: ['mon'] };
  const timed = { ...bank, cadence };

  test.each<[string, readonly object[], readonly object[]]>([
    ['stay if a later definition leaves them out', [{ sources: [bank] }, { name: 'Other' }], [bank]],
    ['keep their cadence', [{ sources: [timed] }, { name: 'Other' }], [timed]],
    ['lose their cadence with it', [{ sources: [timed] }, { sources: [bank] }], [bank]],
    ['without a cadence have none', [{ sources: [{ ...bank, cadence: null }] }], [bank]],
  ])('%s', async (_, definitions, sources) => {
    const desk = openDesk();
    for (const fields of definitions) await desk.send([named(fields)]);
    expect((await desk.record()).sources).toEqual(sources);
  });
});

test('of several sources at one moment, the one with the greatest digest of its URL is shown, in any order of arrival', async () => {
  const urls = ['one', 'two', 'three', 'four'].map((name) => `https://example.com/${name}`);
  const greatest = urls.toSorted((left, right) => (sha256Hex(left) < sha256Hex(right) ? 1 : -1))[0];
  for (const arrival of [urls, urls.toReversed()]) {
    const desk = openDesk();
    await desk.send([market('a')]);
    for (const sourceUrl of arrival) await desk.send([{ ...price('a', 0, 5000), sourceUrl }]);
    expect((await desk.record()).latest.price?.metric.sourceUrl).toBe(greatest);
  }
});
