/** What `tidemark ingest` waits for when a file defines many markets: counted in requests, and not in time. */
import { expect, test } from 'vitest';
import { json, type Reply, stubServer } from './stub-server.ts';
import { tidemark } from './tidemark.ts';

const MARKETS = 4_000;
const PARTS = 8;
const GENERATION = 7;

const records = Array.from({ length: MARKETS }, (_, index) => [
  { type: 'market', slug: `m-${index}` },
  { type: 'observation', market: `m-${index}` },
]).flat();
const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');

test('many new markets without --partial: two requests a part, and no wait for a generation before the last part', async () => {
  const sent: string[] = [];
  // Every report is finished at its first reading. Nothing is published before the reports of all parts were read.
  const reports = new Set<string>();
  const service: Reply = ({ method, url, body }, response) => {
    if (method === 'POST') sent.push(body);
    const id = method === 'POST' ? `b-${sent.length}` : (url.split('/').at(-1) ?? '');
    const generation = reports.has(`b-${PARTS}`) ? GENERATION : null;
    if (method === 'GET') reports.add(id);
    const counts = { accepted: 1_000, unchanged: 0, refused: 0 };
    const report = { id, state: 'applied', records: 1_000, counts, errors: [], finishedAt: 'now', generation };
    json(report)({ method, url, body, headers: {} }, response);
  };
  const { url: stub, seen } = await stubServer(service);
  const run = await tidemark(['ingest', '-', '--json', '--url', stub], { environment: { TIDEMARK_KEY: 'k' }, input });
  expect(run).toMatchObject({ code: 0 });
  expect(JSON.parse(run.output)).toMatchObject([{ accepted: 2 * MARKETS, refused: 0, generation: GENERATION }]);
  expect(sent.join('')).toBe(input);
  const steps = seen.map(({ method, url }) => (method === 'POST' ? 'send' : `read ${url.split('/').at(-1)}`));
  const eachPart = Array.from({ length: PARTS }, (_, part) => ['send', `read b-${part + 1}`]).flat();
  expect(steps).toEqual([...eachPart, `read b-${PARTS}`]);
});
