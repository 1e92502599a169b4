/** `tidemark undo`: what a feed has sent by mistake is undone in the open. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { serveFiles } from '../run/run-world.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';

const served = serverForAll();
/** The ids of the wrong batch, of the one of two sources, and of one that says again what is known. */
let wrong: string;
let mixed: string;
let known: string;
let mixedAt: string;
let mixedUntil: string;

const DAY_1 = '2025-01-01T00:00:00Z';
const DAY_2 = '2025-01-02T00:00:00Z';
const sourceUrl = 'https://source.example/prices';

const market = (slug: string) => ({
  ...{ type: 'market', slug, name: slug, kind: 'metal', nativeCurrency: 'USD', unit: { quantity: 1, of: 'kilogram' } },
});
const price = (slug: string, observedAt: string, amountMinor: number | null, more: object = {}) => ({
  ...{ type: 'observation', market: slug, metric: 'price', amountMinor, currency: 'USD', observedAt, sourceUrl },
  ...{ sourceLabel: 'A source', confidence: 'high', status: 'final', outlierConfirmed: true },
  ...more,
});
/** For 10,000 yen, of a source that quotes 100. */
const yen = (value: string) => {
  const { amountMinor: _, ...record } = price('yen', DAY_1, 0);
  return { ...record, value, quotedQuantity: 100 };
};
const share = (slug: string, value: string) => ({
  ...{ type: 'observation', market: slug, metric: 'share', value, unit: 'percent', observedAt: DAY_1, sourceUrl },
  ...{ sourceLabel: 'A source', confidence: 'low', status: 'provisional', sourceValue: value },
});
const retraction = (slug: string, observedAt: string) => ({
  ...{ type: 'retraction', market: slug, metric: 'price', observedAt, sourceUrl, kind: 'withdrawn', reason: 'Gone.' },
});

async function send(records: readonly object[]): Promise<string> {
  const path = join(served.folder, 'records.json');
  await writeFile(path, JSON.stringify(records));
  const sent = await tidemark(['ingest', path, '--mode', 'correct', '--json', '--data', served.data]);
  const [{ sentAs, generation, refused }] = JSON.parse(sent.output);
  expect({ errors: sent.code, refused, batches: sentAs.length }).toEqual({ errors: 0, refused: 0, batches: 1 });
  expect(generation).not.toBeNull();
  return sentAs[0];
}

const undo = (...words: string[]) => tidemark(['undo', ...words, '--data', served.data, '--json']);
const countsOf = (output: string) => {
  const [{ dryRun, accepted, unchanged, refused }] = JSON.parse(output);
  return { dryRun, accepted, unchanged, refused };
};

async function standing(slug: string): Promise<readonly (readonly unknown[])[]> {
  const { output } = await tidemark(['markets', 'history', slug, '--json', '--data', served.data]);
  return (JSON.parse(output) as PublicObservation[])
    .filter(({ supersededBy }) => supersededBy === null)
    .sort((one, other) => one.metric.localeCompare(other.metric))
    .map(({ metric, observedAt, retraction, ...value }) => {
      return [metric, observedAt.slice(0, 10), value.kind === 'money' ? value.amountMinor : value.value, retraction];
    });
}

const SLUGS = ['changed', 'withdrawn', 'replaced', 'new', 'scalar', 'yen', 'shared'];
const everything = async () =>
  Object.fromEntries(await Promise.all(SLUGS.map(async (slug) => [slug, await standing(slug)])));

beforeAll(async () => {
  await send([
    ...SLUGS.filter((slug) => !['new', 'yen'].includes(slug)).flatMap((slug) => [
      market(slug),
      price(slug, DAY_1, 100),
    ]),
    ...[
      price('withdrawn', DAY_2, 200),
      price('shared', DAY_2, null, { unknownReason: 'withheld' }),
      share('scalar', '1.50'),
      ...[{ ...market('yen'), unit: { quantity: 10_000, of: 'JPY' } }, yen('0.5160')],
    ],
  ]);
  wrong = await send([
    ...[market('new'), price('new', DAY_1, 9)],
    ...[price('changed', DAY_1, 1, { status: 'estimated' }), price('changed', DAY_2, 2)],
    ...[retraction('withdrawn', DAY_2), price('replaced', DAY_1, 3), yen('0.6160')],
    { ...share('scalar', '1515'), outlierConfirmed: true },
  ]);
  await send([price('replaced', DAY_1, 110)]);
  known = await send([price('replaced', DAY_1, 110)]);
  mixedAt = new Date().toISOString();
  const other = { sourceLabel: 'Another source', sourceUrl: 'https://other.example/prices' };
  mixed = await send([price('shared', DAY_1, 4), price('shared', DAY_2, 5), price('shared', DAY_1, 6, other)]);
  mixedUntil = new Date().toISOString();
});

test('without --apply, each record is examined, and nothing changes', async () => {
  const before = await everything();
  const run = await undo(wrong);
  expect(countsOf(run.output)).toEqual({ dryRun: true, accepted: 6, unchanged: 0, refused: 0 });
  expect(run.code).toBe(0);
  for (const slug of ['changed', 'withdrawn', 'replaced', 'new', 'scalar']) expect(run.errors).toContain(slug);
  expect(run.errors).toContain(`changed price ${DAY_1}: 0.01 USD per kilogram → 1.00 USD per kilogram\n`);
  expect(run.errors).toContain(`yen price ${DAY_1}: 0.00616 USD per JPY → 0.00516 USD per JPY\n`);
  expect(run.errors).toContain(`changed price ${DAY_2}: 0.02 USD per kilogram → retracted as a mistake\n`);
  expect(await everything()).toEqual(before);
});

describe('with --apply', () => {
  test('added values are mistakes, changed and withdrawn ones stand again, and later changes stay', async () => {
    const reason = 'The file was of another market.';
    const run = await undo(wrong, '--apply', '--public-reason', reason);
    expect(countsOf(run.output)).toEqual({ dryRun: false, accepted: 6, unchanged: 0, refused: 0 });
    const shown = await tidemark(['markets', 'history', 'changed', '--data', served.data]);
    expect(shown.output).toMatch(new RegExp(`2025-01-02.*retracted: mistake \\(${reason}\\)`));
    expect(shown.output).toMatch(new RegExp(`2025-01-01.*corrected \\(${reason}\\)`));
    // The same command finds nothing more to undo.
    expect(await undo(wrong, '--apply')).toMatchObject({ code: 0, output: '' });
    const { shared, ...others } = await everything();
    expect(others).toEqual({
      changed: [
        ['price', '2025-01-02', null, 'mistake'],
        ['price', '2025-01-01', 100, null],
      ],
      withdrawn: [
        ['price', '2025-01-02', 200, null],
        ['price', '2025-01-01', 100, null],
      ],
      replaced: [['price', '2025-01-01', 110, null]],
      new: [['price', '2025-01-01', null, 'mistake']],
      scalar: [
        ['price', '2025-01-01', 100, null],
        ['share', '2025-01-01', '1.50', null],
      ],
      yen: [['price', '2025-01-01', 5160, null]],
    });
    expect(shared).toContainEqual(['price', '2025-01-02', 5, null]);
    const answer = await fetch(`${served.url}/api/v1/markets/changed/history`);
    const history = (await answer.json()) as { readonly data: readonly PublicObservation[] };
    const [first, corrected] = history.data.filter(({ observedAt }) => observedAt.startsWith('2025-01-01'));
    expect(first).toMatchObject({ status: 'final', supersedes: corrected?.id });
  });
});

test('values of several sources are undone, because they are of one batch', async () => {
  const run = await undo(mixed);
  expect(countsOf(run.output)).toEqual({ dryRun: true, accepted: 3, unchanged: 0, refused: 0 });
});

test('a batch that waited while others were taken in is not undone alone, because their values would go with it', async () => {
  const report = await tidemark(['batches', 'show', mixed, '--json', '--data', served.data]);
  const waiting = await stubServer(json({ ...JSON.parse(report.output), receivedAt: '2026-01-01T00:00:00Z' }));
  const path = join(served.folder, 'too-many.ndjson');
  const words = ['undo', mixed, '--url', served.url, '--write-url', waiting.url, '--records', path];
  expect(await tidemark(words, { environment: { TIDEMARK_KEY: 'key' } })).toMatchObject({ code: 3, output: '' });
  await expect(readFile(path)).rejects.toThrow(/ENOENT/);
});

test('values of one source within a time go into a file of records, which puts them back', async () => {
  const path = join(served.folder, 'back.ndjson');
  const words = ['--source', 'A source', '--since', mixedAt, '--until', mixedUntil, '--records', path];
  expect((await undo(...words)).code).toBe(0);
  const records = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ market, observedAt, amountMinor }) => [market, observedAt.slice(0, 10), amountMinor])).toEqual([
    ['shared', '2025-01-02', null],
    ['shared', '2025-01-01', 100],
  ]);
  // A host that knows only files has them, too.
  const host = ['--url', await serveFiles(join(served.data, 'public'))];
  const fromFiles = join(served.folder, 'from-files.ndjson');
  const asked = ['undo', ...words.slice(0, -1), fromFiles, ...host];
  expect(await tidemark(asked)).toMatchObject({ code: 0 });
  expect(await readFile(fromFiles, 'utf8')).toBe(await readFile(path, 'utf8'));
  const sent = await tidemark(['ingest', path, '--mode', 'correct', '--json', '--data', served.data]);
  expect(countsOf(sent.output)).toMatchObject({ accepted: 2, refused: 0 });
  expect((await standing('shared')).map(([, , amount]) => amount)).toEqual([null, 100, 6]);
  // The file is there, and is not replaced.
  expect((await undo(...words)).code).toBe(2);
});

test.each([
  ['an id and a time', () => [wrong, '--since', mixedAt], 2],
  [
    'a time that ends before it begins',
    () => ['--source', 'A', '--since', mixedAt, '--until', '2025-01-01T00:00:00Z'],
    2,
  ],
  ['a time without a source', () => ['--since', mixedAt], 2],
  ['a time of the future', () => ['--source', 'A', '--since', '2999-01-01T00:00:00Z'], 2],
  ['a batch that does not exist', () => ['bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A'], 3],
  ['a batch that changed nothing', () => [known], 0],
])('%s', async (_, words, code) => {
  expect(await undo(...words())).toMatchObject({ code, output: '' });
});

test('a label or a batch without values is told apart from values that no longer stand', async () => {
  const since = ['--since', mixedAt];
  const mistyped = await undo('--source', 'a source', ...since);
  expect(mistyped).toMatchObject({ code: 0, output: '' });
  expect(mistyped.errors).toContain(`'a source' was recorded since ${mixedAt}`);
  expect((await undo(known)).errors).toContain(`recorded by ${known}`);
  // The batch was undone above, so its values were recorded, and none stands.
  expect((await undo(wrong)).errors).not.toContain('recorded');
});

test('verify finds nothing, the log included', async () => {
  const run = await tidemark(['verify', served.url, '--log']);
  expect(run).toMatchObject({ code: 0 });
});
