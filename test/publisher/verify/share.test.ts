/** A large world is verified in shares: together they see everything, and each sees the whole list. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { historyUrl, marketUrl, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { isInShare, type Share } from '../../../publisher/verify/reading/share.ts';
import { askedOf, READS_PER_RUN, shareDue, sharesFor } from '../../../publisher/verify/reading/share-due.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from '../world.ts';
import { damagedReader, type Edit, withField, withHeader, withStatus, withText } from './damaged-reader.ts';
import { CLOSED_PAGE, historyOf, MARKETS, marketOf, reader, SECOND_LIST_PAGE, SNAPSHOT } from './verified-world.ts';

const sharesOf = (of: number): readonly Share[] => Array.from({ length: of }, (_, index) => ({ index, of }));
const ofShare = (damaged: PublicReader, share: Share) =>
  verify(damaged, { pageSizes: SMALL_PAGES, settled: true, share });

test('all shares together look at every market and every page of its history once, whatever its name', async () => {
  const slugs = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8})?$/), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(slugs, fc.integer({ min: 1, max: 6 }), async (names, of) => {
      const world = createWorld();
      await world.ingest(names.flatMap((slug) => [market(slug), ...[0, 1, 2, 3, 4].map((day) => price(slug, day, 1))]));
      await publish(world.dependencies);
      const gets = new Map<string, number>();
      const counting: PublicReader = (url, headers) => {
        // Conditional requests are for a few URLs only.
        if (headers === undefined) gets.set(url, (gets.get(url) ?? 0) + 1);
        return readerOf(world.objects)(url, headers);
      };
      for (const share of sharesOf(of)) {
        expect(await ofShare(counting, share)).toMatchObject({ findings: [], markets: names.length, generation: 1 });
      }
      for (const slug of names) {
        const pages = [...gets].filter(([url]) => url.startsWith(`${historyUrl(slug)}?`));
        expect([gets.get(marketUrl(slug)), gets.get(historyUrl(slug)), ...pages.map(([, times]) => times)]).toEqual([
          1, 1, 1,
        ]);
      }
      // Once before the list, to learn whether the list is behind, and once after it.
      expect(gets.get(SNAPSHOT_URL)).toBe(2 * of);
    }),
    { numRuns: 25 },
  );
});

describe('damage', () => {
  const OF = 4;
  /** The shares that find something. */
  const findersOf = async (url: string, edit: Edit): Promise<readonly number[]> => {
    const damaged = damagedReader(reader, { [url]: edit });
    const reports = await Promise.all(sharesOf(OF).map((share) => ofShare(damaged, share)));
    return reports.flatMap(({ findings }, index) => (findings.length > 0 ? [index] : []));
  };

  test.each<[string, string, Edit]>([
    ['a market that is missing', marketOf('a'), withStatus(404)],
    ['a history that is missing', historyOf('e'), withStatus(404)],
    ['a closed page with other bytes', CLOSED_PAGE, withText((text) => `${text} `)],
  ])('of %s is found by its share alone', async (_, url, edit) => {
    const slug = url.split('?')[0]?.split('/')[4] as string;
    expect(await findersOf(url, edit)).toEqual([sharesOf(OF).findIndex((share) => isInShare(slug, share))]);
  });

  test.each<[string, string, Edit]>([
    ['a page of the list', SECOND_LIST_PAGE, withText((text) => `${text} `)],
    ['the first page', MARKETS, withHeader('cache-control', 'no-store')],
    ['the snapshot', SNAPSHOT, withStatus(404)],
    ['the number of markets', SNAPSHOT, withField('counts.markets', 8)],
  ])('of %s is found by every share', async (_, url, edit) => {
    expect(await findersOf(url, edit)).toEqual([0, 1, 2, 3]);
  });

  test('of a number that no share can count is found only by the walk of everything', async () => {
    const edit = withField('counts.observations', 99);
    expect(await findersOf(SNAPSHOT, edit)).toEqual([]);
    const whole = await ofShare(damagedReader(reader, { [SNAPSHOT]: edit }), { index: 0, of: 1 });
    expect(whole.findings).toHaveLength(1);
  });
});

test('a run on a schedule takes the share that is due; an operator may name a share, or removed markets', () => {
  for (const event of [{ 'detail-type': 'Scheduled Event', source: 'aws.events' }, {}, null, undefined])
    expect(askedOf(event)).toEqual({ share: null, removed: [] });
  const share = { index: 3, of: 128 };
  expect(askedOf({ share })).toEqual({ share, removed: [] });
  expect(askedOf({ removed: ['gold-usd'] })).toEqual({ share: null, removed: ['gold-usd'] });
});

test.each([
  [{ share: { index: 4, of: 4 } }],
  [{ share: { index: -1, of: 2 } }],
  [{ share: { index: 0, of: 0 } }],
  [{ share: { index: 0, of: 1, from: 0 } }],
  [{ share: null }],
  [{ removed: ['../gold'] }],
  [{ shares: { index: 0, of: 1 } }],
  ['{"share":{"index":0,"of":1}}'],
])('a run is refused for %j', (event) => {
  expect(() => askedOf(event)).toThrow(/share/);
});

test.each([
  [0, 0, 1],
  [READS_PER_RUN / 2, 0, 1],
  [READS_PER_RUN / 2 + 1, 0, 2],
  [1_000, 64 * READS_PER_RUN, 2],
  [1_000_000, 1_000_000, 128],
])('%i markets with %i observations are verified in %i shares', (markets, observations, shares) => {
  expect(sharesFor({ counts: { markets, observations, unknownValues: 0 } })).toBe(shares);
});

test.each([1, 6])('the share that is due changes with each run, every %i hours', async (everyHours) => {
  const large = damagedReader(reader, { [SNAPSHOT]: withField('counts.markets', READS_PER_RUN * 3) });
  const due: Share[] = [];
  for (let run = 0; run < 8; run++) {
    const nowMs = Date.parse('2026-10-01T12:34:56Z') + run * everyHours * 3_600_000;
    due.push(await shareDue(large, nowMs, everyHours));
  }
  expect(due.toSorted((one, other) => one.index - other.index)).toEqual(sharesOf(8));
});

test.each<[string, Edit]>([
  ['missing', withStatus(404)],
  ['no JSON', withText(() => '{')],
  ['something else', withText(() => '{}')],
])('the share that is due is a small one if the snapshot is %s', async (_, edit) => {
  expect((await shareDue(damagedReader(reader, { [SNAPSHOT]: edit }), 0, 1)).of).toBeGreaterThan(1_000);
});
