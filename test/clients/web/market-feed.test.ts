/** How the explorer reads the parts of the newest prices, from caches that may give an older part than the index names. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MarketFeed } from '../../../clients/web/browser/explorer/market-feed.ts';

/** The parts by name: the generation of the file that the cache gives, or none. */
type Parts = Readonly<Record<string, number | null>>;

const asked: string[] = [];
let index: Readonly<Record<string, number>>;
let parts: Parts;

async function answer(url: URL): Promise<Response> {
  const file = url.pathname.slice(url.pathname.lastIndexOf('/api/v1/') + '/api/v1/'.length);
  const json = (body: object) => new Response(JSON.stringify(body));
  if (file === 'snapshot.json') return json({ projections: ['latest'], counts: { markets: 2 } });
  if (file === 'latest.json') {
    const data = Object.entries(index).map(([part, generation]) => {
      return {
        part,
        markets: 1,
        ndjson: { digest: `${part}-${generation}`, generation, path: `latest/${part}.ndjson` },
      };
    });
    return json({ data });
  }
  asked.push(file);
  const part = file.slice('latest/'.length, -'.ndjson'.length);
  const generation = parts[part] ?? null;
  if (generation === null) return new Response('', { status: 503 });
  return new Response(`${JSON.stringify({ slug: part, decimal: String(generation), generation })}\n`);
}

beforeEach(() => {
  asked.length = 0;
  vi.stubGlobal('fetch', async (url: URL | string) => await answer(new URL(url)));
});
afterEach(() => void vi.unstubAllGlobals());

const shown = ({ entries }: MarketFeed) => entries.map(({ slug, decimal }) => `${slug} ${decimal}`);

test('a part that is older than the index is shown, and read again until it is the named one', async () => {
  const feed = new MarketFeed();
  [index, parts] = [
    { a: 1, b: 1 },
    { a: 1, b: 1 },
  ];
  await feed.refresh(false);
  [index, parts] = [
    { a: 2, b: 1 },
    { a: 1, b: 1 },
  ];
  await feed.refresh(false);
  expect(shown(feed)).toEqual(['a 1', 'b 1']);
  parts = { a: 2, b: 1 };
  await feed.refresh(false);
  expect(shown(feed)).toEqual(['a 2', 'b 1']);
  await feed.refresh(false);
  expect(asked).toEqual(['a', 'b', 'a', 'a'].map((part) => `latest/${part}.ndjson`));
});

test('after a failure, the parts that were read are not read again', async () => {
  const feed = new MarketFeed();
  [index, parts] = [
    { a: 1, b: 1 },
    { a: 1, b: null },
  ];
  await expect(feed.refresh(false)).rejects.toThrow();
  expect(shown(feed)).toEqual([]);
  parts = { a: 1, b: 1 };
  await feed.refresh(false);
  expect(shown(feed)).toEqual(['a 1', 'b 1']);
  expect(asked).toEqual(['a', 'b', 'b'].map((part) => `latest/${part}.ndjson`));
});
