/** The list: walked by cursor, before markets change and after. */
import assert from 'node:assert/strict';
import { MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import type { Market } from '../../contract/values/market.ts';
import { type Answer, fieldOf, succeeded } from './answers.ts';
import { FIRST_MARKETS } from './records.ts';
import type { Session, Step, Walk } from './session.ts';
import { uploadedSlugs } from './upload-steps.ts';

/** Walks from a first page to the last one. */
async function walkFrom(session: Session, first: Answer): Promise<Walk> {
  const { data, page } = succeeded('listMarkets', first);
  assert.ok(page.nextCursor !== null, 'the list has a single page');
  const rest = await walkOn(session, page.nextCursor);
  const markets = [...data, ...rest.markets];
  return { etag: fieldOf(first, 'etag'), cursor: page.nextCursor, laterPages: rest.pages, markets };
}

async function walkOn(session: Session, from: string): Promise<{ pages: string[]; markets: Market[] }> {
  const pages: string[] = [];
  const markets: Market[] = [];
  for (let cursor: string | null = from; cursor !== null; ) {
    const answer: Answer = await session.read(`${MARKETS_URL}?cursor=${cursor}`);
    const { data, page } = succeeded('listMarkets', answer);
    pages.push(answer.text);
    markets.push(...data);
    cursor = page.nextCursor;
  }
  return { pages, markets };
}

function slugsOf(session: Session): readonly string[] {
  const named = [...Object.keys(FIRST_MARKETS), 'copper', 'tin'].map((name) => session.slug(name));
  return [...named, ...uploadedSlugs(session)].sort();
}

const before: readonly Step[] = [
  {
    says: 'a reader who walks the list finds every market exactly once, in order of the slugs, as it is at its own URL',
    async run(session) {
      const ours = session.slug('');
      const walk = await session.readUntil(MARKETS_URL, async (answer) => {
        const walked = await walkFrom(session, answer);
        const slugs = walked.markets.map(({ slug }) => slug);
        assert.deepEqual(slugs, [...new Set(slugs)].sort());
        assert.deepEqual(
          slugs.filter((slug) => slug.startsWith(ours)),
          slugsOf(session),
        );
        return walked;
      });
      session.note('listBefore', walk);
      const quiet = session.slug('quiet');
      const listed = walk.markets.find(({ slug }) => slug === quiet);
      assert.deepEqual(listed, JSON.parse(session.noted('untouched').text));
    },
  },
];

const after: readonly Step[] = [
  {
    says: 'a cursor from before the changes still leads through its own generation to the end',
    async run(session) {
      const { cursor, laterPages } = session.noted('listBefore');
      // The last of more markets than one page holds, and one of those that have changed.
      assert.ok(laterPages.some((page) => page.includes(session.slug('yen'))));
      assert.deepEqual((await walkOn(session, cursor)).pages, laterPages);
    },
  },
  {
    says: 'the list has changed, and with it its ETag; an unchanged market keeps its bytes',
    async run(session) {
      const { etag } = session.noted('listBefore');
      const { etag: untouched } = session.noted('untouched');
      const changedAtMs = Date.now();
      await session.readUntil(MARKETS_URL, async (answer) => {
        const walk = await walkFrom(session, answer);
        assert.notEqual(walk.etag, etag);
        for (const name of ['yen', 'gold', 'dinar', 'copper', 'tin']) {
          const slug = session.slug(name);
          const market = succeeded('getMarket', await session.read(marketUrl(slug)));
          const listed = walk.markets.find((item) => item.slug === slug);
          assert.deepEqual(listed, market);
        }
      });
      const quiet = marketUrl(session.slug('quiet'));
      const answer = await session.readSince(quiet, changedAtMs, { 'if-none-match': untouched });
      assert.equal(answer.status, 304);
    },
  },
];

export const listSteps = { before, after } as const;
