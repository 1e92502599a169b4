/** Tables show prices for the quantity of the pages, and a market without a price by the value that it has. */
import { expect, test } from 'vitest';
import { tidemarkHere } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';

const observedAt = '2026-11-01T00:00:00Z';
const observed = { observedAt, status: 'final', confidence: 'high', sourceLabel: 'A list' };
const money = (decimal: string | null) => ({ ...observed, kind: 'money', currency: 'USD', decimal });
const known = { ...money('15.00'), unknownReason: null };
const gone = { ...observed, kind: 'scalar', value: null, unit: 'token', unknownReason: 'no-longer-listed' };

const model = {
  ...{ slug: 'model', name: 'A model', kind: 'language-model', status: 'active', nativeCurrency: 'USD' },
  ...{ unit: { quantity: 100_000_000, of: 'token' }, disputed: false, revision: 1 },
  metrics: { price: null, outputPrice: { ...known, decimal: '60.00' }, inputPrice: known, contextWindow: gone },
  history: { count: 3, firstObservedAt: observedAt, lastObservedAt: observedAt },
  sources: [],
};
const page = { nextCursor: null, next: null };
const version = { ...known, metric: 'inputPrice', id: 'obs_1', supersededBy: null, retraction: null, announced: false };

async function printed(...words: string[]): Promise<readonly string[]> {
  const { url } = await stubServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/api/v1/markets.json') json({ data: [model], page })(request, response);
    else if (pathname === '/api/v1/markets/model.json') json(model)(request, response);
    else if (pathname === '/api/v1/markets/model/history.json') json({ data: [version], page })(request, response);
    else json({}, 404)(request, response);
  });
  const { code, output, errors } = await tidemarkHere(['markets', ...words, '--url', url]);
  expect([code, errors]).toEqual([0, '']);
  return output.trimEnd().split('\n');
}

test('list, show and history', async () => {
  expect(await printed('list')).toEqual([`model\tA model\t0.15\tUSD per 1M tokens\tinputPrice\t${observedAt}\tA list`]);
  const lines = await printed('show', 'model');
  const shown = (await printed('show', 'model')).filter((line) => line.includes('A list'));
  expect(lines.some((line) => line.startsWith('price\t'))).toBe(false);
  expect(shown.map((line) => line.split(',')[0])).toEqual([
    'outputPrice\t0.60 USD per 1M tokens',
    'inputPrice\t0.15 USD per 1M tokens',
    'contextWindow\tunknown: the source does not list it any more',
  ]);
  const [row = ''] = await printed('history', 'model');
  expect(row.split('\t').slice(0, 4)).toEqual([observedAt, 'inputPrice', '0.15', 'USD per 1M tokens']);
  const [exact] = JSON.parse((await printed('history', 'model', '--json')).join('')) as [{ decimal: string }];
  expect(exact.decimal).toBe('15.00');
});

test('a run of a source names the first price that its market is too small for', async () => {
  const counts = { accepted: 2, unchanged: 0, refused: 0, withheld: 2 };
  const run = {
    id: 'run_1',
    source: 'list',
    state: 'ended',
    outcome: 'taken-in',
    reason: null,
    upload: 'upl_1',
    counts,
  };
  const firstWithheld = { market: 'model', metric: 'inputPrice', observedAt, sourceValue: '1e-12' };
  const { url } = await stubServer((request, response) => {
    const isUpload = request.url === '/api/v1/ingest/uploads/upl_1';
    json(isUpload ? { firstWithheld } : { ...run, faults: [], refusedRows: 0, replayOf: null })(request, response);
  });
  const { errors } = await tidemarkHere(['sources', 'run', 'list', '--url', url], {
    environment: { TIDEMARK_KEY: 'a' },
  });
  expect(errors).toMatch(/^list: 2 prices round to zero.*: model inputPrice 2026-11-01T00:00:00Z, 1e-12\.$/m);
});
