/** A large world is verified in shares: together they see everything, and each sees the whole list. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { isInShare, type Share } from '../../../publisher/verify/reading/share.ts';
import { askedOf, READS_PER_RUN, shareDue, sharesFor } from '../../../publisher/verify/reading/share-due.ts';
import type { VerifyReport } from '../../../publisher/verify/report.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from '../world.ts';
import { damagedReader, type Edit, withField, withHeader, withStatus, withText } from './damaged-reader.ts';
import { CLOSED_PAGE, historyOf, MARKETS, marketOf, reader, SECOND_LIST_PAGE, SNAPSHOT } from './verified-world.ts';

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

const sharesOf = (of: number): readonly Share[] => Array.from({ length: of }, (_, index) => ({ index, of }));
const ofShare = (damaged: PublicReader, share: Share): Promise<VerifyReport> =>
  verify(damaged, { pageSizes: SMALL_PAGES, settled: true, share });

/** Counts the GETs of each URL. */
function countingReader(inner: PublicReader): { readonly counting: PublicReader; readonly gets: Map<string, number> } {
  const gets = new Map<string, number>();
  const counting: PublicReader = (url, headers) => {
    // Conditional requests are for a few URLs only.
    if (headers === undefined) gets.set(url, (gets.get(url) ?? 0) + 1);
    return inner(url, headers);
  };
  return { counting, gets };
}

describe('all shares together', () => {
  test.each([1, 2, 3, 8, 50])('of %i look at every market and every page of its history once', async (of) => {
    const whole = countingReader(reader);
    const { observations, pages } = await ofShare(whole.counting, { index: 0, of: 1 });
    const { counting, gets } = countingReader(reader);
    const reports: VerifyReport[] = [];
    for (const share of sharesOf(of)) reports.push(await ofShare(counting, share));
    const isOfMarket = ([url]: [string, number]) => url.startsWith(`${MARKETS_URL}/`);
    expect([...gets].filter(isOfMarket).sort()).toEqual([...whole.gets].filter(isOfMarket).sort());
    expect([...gets].filter(isOfMarket).every(([, times]) => times === 1)).toBe(true);
    const sum = (of: (report: VerifyReport) => number) => reports.reduce((total, report) => total + of(report), 0);
    expect(sum((report) => report.observations)).toBe(observations);
    // Three pages are of the list.
    expect(sum((report) => report.pages - 3)).toBe(pages - 3);
    for (const report of reports) expect(report).toMatchObject({ findings: [], markets: SLUGS.length, generation: 1 });
  });

  test('with any names and any number of markets', async () => {
    const slugs = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8})?$/), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(slugs, fc.integer({ min: 1, max: 6 }), async (names, of) => {
        const world = createWorld();
        await world.ingest(names.flatMap((slug) => [market(slug), price(slug, 0, 1)]));
        await publish(world.dependencies);
        const { counting, gets } = countingReader(readerOf(world.objects));
        for (const share of sharesOf(of)) expect((await ofShare(counting, share)).findings).toEqual([]);
        for (const slug of names) {
          expect([gets.get(marketUrl(slug)), gets.get(historyUrl(slug))]).toEqual([1, 1]);
        }
        // Once before the list, to learn whether the list is behind, and once after it.
        expect(gets.get(SNAPSHOT_URL)).toBe(2 * of);
      }),
      { numRuns: 25 },
    );
  });

  test('divide many markets evenly', () => {
    const of = 16;
    const sizes = Array.from({ length: of }, () => 0);
    for (let number = 0; number < 16_000; number++) {
      const index = sharesOf(of).findIndex((share) => isInShare(`market-${number}-usd`, share));
      sizes[index] = (sizes[index] ?? 0) + 1;
    }
    expect(Math.min(...sizes)).toBeGreaterThan(850);
    expect(Math.max(...sizes)).toBeLessThan(1_150);
  });

  test('keep a market in its share when others join before it', async () => {
    const world = createWorld();
    await world.ingest(['b', 'c'].map((slug) => market(slug)));
    const seenBy = async () => {
      await publish(world.dependencies);
      const seen: string[][] = [];
      for (const share of sharesOf(4)) {
        const { counting, gets } = countingReader(readerOf(world.objects));
        await ofShare(counting, share);
        seen.push([marketOf('b'), marketOf('c')].filter((url) => gets.has(url)));
      }
      return seen;
    };
    const before = await seenBy();
    await world.ingest([market('a')]);
    expect(await seenBy()).toEqual(before);
  });
});

describe('damage', () => {
  const OF = 4;
  /** The shares that find something. */
  const findersOf = async (edits: { readonly [url: string]: Edit }): Promise<number[]> => {
    const reports = await Promise.all(sharesOf(OF).map((share) => ofShare(damagedReader(reader, edits), share)));
    return reports.flatMap(({ findings }, index) => (findings.length > 0 ? [index] : []));
  };
  const shareWith = (slug: string) => sharesOf(OF).findIndex((share) => isInShare(slug, share));

  test.each<[string, string, Edit]>([
    ['a market that is missing', marketOf('a'), withStatus(404)],
    ['a market that differs from its list item', marketOf('d'), withField('name', 'Other')],
    ['a history that is missing', historyOf('e'), withStatus(404)],
    ['a closed page with other bytes', CLOSED_PAGE, withText((text) => `${text} `)],
  ])('of %s is found by its share alone', async (_, url, edit) => {
    const slug = url.split('?')[0]?.split('/')[4] as string;
    expect(await findersOf({ [url]: edit })).toEqual([shareWith(slug)]);
  });

  test.each<[string, string, Edit]>([
    ['a page of the list', SECOND_LIST_PAGE, withText((text) => `${text} `)],
    ['the end of the list', SECOND_LIST_PAGE, withStatus(404)],
    ['the first page', MARKETS, withHeader('cache-control', 'no-store')],
    ['the snapshot', SNAPSHOT, withStatus(404)],
    ['the number of markets', SNAPSHOT, withField('counts.markets', SLUGS.length + 1)],
  ])('of %s is found by every share', async (_, url, edit) => {
    expect(await findersOf({ [url]: edit })).toEqual([0, 1, 2, 3]);
  });

  test('of a number that no share can count is found only by the walk of everything', async () => {
    const edits = { [SNAPSHOT]: withField('counts.observations', 99) };
    expect(await findersOf(edits)).toEqual([]);
    expect((await ofShare(damagedReader(reader, edits), { index: 0, of: 1 })).findings).toHaveLength(1);
  });
});

describe('an impossible share', () => {
  test.each([
    [{ index: 1, of: 1 }],
    [{ index: -1, of: 2 }],
    [{ index: 0.5, of: 2 }],
    [{ index: 0, of: 0 }],
    [{ index: 0, of: Number.NaN }],
    [{ index: 0, of: Number.POSITIVE_INFINITY }],
  ])('is refused: %j', async (share) => {
    await expect(verify(reader, { share })).rejects.toThrow(RangeError);
  });
});

describe('an invocation', () => {
  test.each<[string, unknown]>([
    ['a schedule', { 'detail-type': 'Scheduled Event', source: 'aws.events', detail: {} }],
    ['nothing', {}],
    ['no payload', null],
    ['no event', undefined],
  ])('by %s asks for no share', (_, event) => {
    expect(askedOf(event)).toEqual({ share: null, removed: [] });
  });

  test('by an operator may ask for one', () => {
    const share = { index: 3, of: 128 };
    expect(askedOf({ share })).toEqual({ share, removed: [] });
  });

  test('by an operator may name removed markets', () => {
    expect(askedOf({ removed: ['gold-usd'] })).toEqual({ share: null, removed: ['gold-usd'] });
  });

  test.each([
    [{ share: { index: 4, of: 4 } }],
    [{ share: { index: '0', of: 1 } }],
    [{ share: { index: 0 } }],
    [{ share: { index: 0, of: 1, from: 0 } }],
    [{ share: null }],
    [{ removed: 'gold-usd' }],
    [{ removed: ['../gold'] }],
    [{ shares: { index: 0, of: 1 } }],
    ['{"share":{"index":0,"of":1}}'],
    [[]],
  ])('is refused for %j', (event) => {
    expect(() => askedOf(event)).toThrow(/share/);
  });
});

describe('the number of shares', () => {
  test.each([
    [0, 0, 1],
    [READS_PER_RUN / 2, 0, 1],
    [READS_PER_RUN / 2 + 1, 0, 2],
    [READS_PER_RUN, 0, 2],
    [READS_PER_RUN * 1.5, 0, 4],
    [1_000, 64 * READS_PER_RUN, 2],
    [1_000_000, 1_000_000, 128],
  ])('%i markets with %i observations: %i', (markets, observations, shares) => {
    expect(sharesFor({ counts: { markets, observations, unknownValues: 0 } })).toBe(shares);
  });
});

describe('the share that is due', () => {
  const HOUR_MS = 3_600_000;
  const withMarkets = (markets: number) => damagedReader(reader, { [SNAPSHOT]: withField('counts.markets', markets) });

  test.each([1, 2, 5, 6, 24])('changes with each run, every %i hours', async (everyHours) => {
    const startMs = Date.parse('2026-10-01T12:34:56Z');
    const due: Share[] = [];
    for (let run = 0; run < 8; run++) {
      due.push(await shareDue(withMarkets(READS_PER_RUN * 3), startMs + run * everyHours * HOUR_MS, everyHours));
    }
    expect(due.every(({ of }) => of === 8)).toBe(true);
    expect(due.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('is everything in a small world', async () => {
    expect(await shareDue(reader, Date.parse('2026-10-01T12:34:56Z'), 1)).toEqual({ index: 0, of: 1 });
  });

  test.each<[string, Edit]>([
    ['missing', withStatus(404)],
    ['no JSON', withText(() => '{')],
    ['something else', withText(() => '{}')],
  ])('is a small one if the snapshot is %s', async (_, edit) => {
    expect((await shareDue(damagedReader(reader, { [SNAPSHOT]: edit }), 0, 1)).of).toBeGreaterThan(1_000);
  });
});
