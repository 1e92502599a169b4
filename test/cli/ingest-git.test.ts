/** `tidemark ingest --git`: the past of a list into a running server. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { makeGitRepository } from '../run/git-repository.ts';
import { listRecipe, PATH, version } from '../run/price-list.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const served = serverForAll();
let recipe: string;
let copies: string;

beforeAll(async () => {
  copies = join(served.folder, 'copies');
  await mkdir(copies);
  recipe = await listRecipe(served.folder);
});

const command = (words: readonly string[]) =>
  tidemark(['ingest', ...words, '--data', served.data], { environment: { TMPDIR: copies } });

async function ingest(repository: string, words: readonly string[] = ['--recipe', recipe]) {
  const { code, output, errors } = await command(['--git', repository, '--path', PATH, ...words, '--json']);
  const [summary] = output === '' ? [null] : JSON.parse(output);
  return { code, errors, summary };
}

/** `moment value source`, oldest first. */
async function history(slug: string): Promise<readonly string[]> {
  const answer = await fetch(`${served.url}/api/v1/markets/${slug}/history`);
  const { data: rows } = (await answer.json()) as { data: readonly Record<string, string>[] };
  return rows.map((row) => `${row.observedAt} ${row.amountMinor ?? row.unknownReason} ${row.sourceUrl}`).toSorted();
}

test('takes each commit for one fetch, once, and passes over a version that it cannot read', async () => {
  const repository = join(served.folder, 'six.git');
  const versions = [
    version(1, { a: 0.01, b: 0.02 }),
    version(2, { a: 0.015 }),
    // Its value was missing from one version only, which is no news. Its definition comes again.
    version(3, { a: 0.015, b: 0.02 }),
    { files: { [PATH]: '{ "a": ' }, at: '2025-01-04T12:00:00Z' },
    version(5, { a: 0.0152, b: 0.03 }),
    version(6, { a: 0.0152 }),
    version(7, { a: 0.0152, c: 1 }),
  ];
  const commits = makeGitRepository(repository, versions);
  execFileSync('git', ['-C', repository, 'config', 'remote.origin.url', 'git@github.com:owner/name.git']);
  const first = await ingest(repository);
  expect(first).toMatchObject({
    code: 0,
    summary: {
      past: { versions: 6, unchanged: 1, passedOver: 1, faults: [{ version: commits[3] }] },
      ...{ accepted: 10, unchanged: 0, refused: 0, generation: expect.any(Number) },
    },
  });
  expect(first.errors).toContain(commits[3]);
  const link = (index: number) => `https://github.com/owner/name/raw/${commits[index]}/data/prices%20list.json`;
  const [ofA, ofB] = [await history('a'), await history('b')];
  expect(ofA).toEqual([
    `2025-01-01T12:00:00Z 100 ${link(0)}`,
    `2025-01-02T12:00:00Z 150 ${link(1)}`,
    `2025-01-05T12:00:00Z 152 ${link(4)}`,
  ]);
  expect(ofB).toEqual([
    `2025-01-01T12:00:00Z 2 ${link(0)}`,
    `2025-01-05T12:00:00Z 3 ${link(4)}`,
    `2025-01-07T12:00:00Z no-longer-listed ${link(6)}`,
  ]);

  expect(await ingest(repository)).toMatchObject({ code: 0, summary: { accepted: 0, unchanged: 10, refused: 0 } });
  expect([await history('a'), await history('b')]).toEqual([ofA, ofB]);
  expect(await readdir(copies)).toEqual([]);

  const longer = join(served.folder, 'seven.git');
  makeGitRepository(longer, [...versions, version(8, { a: 0.02, c: 1 })]);
  execFileSync('git', ['-C', longer, 'config', 'remote.origin.url', 'git@github.com:owner/name.git']);
  expect(await ingest(longer)).toMatchObject({ code: 0, summary: { accepted: 1, unchanged: 10 } });
});

test('says what it would store, and stores nothing, in a dry run', async () => {
  const repository = join(served.folder, 'dry.git');
  makeGitRepository(repository, [version(1, { dry: 0.01 })]);
  expect(await ingest(repository, ['--recipe', recipe, '--dry-run'])).toMatchObject({
    code: 0,
    summary: { dryRun: true, accepted: 2, past: { versions: 1 } },
  });
  expect((await fetch(`${served.url}/api/v1/markets/dry`)).status).toBe(404);
});

test('sets a value aside that is far from the one before, and takes it in once it is confirmed', async () => {
  const repository = join(served.folder, 'leap.git');
  makeGitRepository(repository, [version(1, { leap: 0.01 }), version(2, { leap: 5000 }), version(3, { leap: 0.011 })]);
  const run = await ingest(repository);
  expect(run).toMatchObject({ code: EXIT_CODES['set-aside'].code, summary: { accepted: 3, refused: 1 } });
  expect(run.errors).toContain('outlier');
  expect(await ingest(repository, ['--recipe', recipe, '--confirm-outliers'])).toMatchObject({
    code: 0,
    summary: { accepted: 1, unchanged: 3 },
  });
});

describe('the recipe', () => {
  test('may be that of a source of the server', async () => {
    const named = JSON.parse(await readFile(recipe, 'utf8')) as object;
    const path = join(served.folder, 'stored.json');
    await writeFile(path, JSON.stringify({ ...named, name: 'stored-list' }));
    expect(await tidemark(['sources', 'add', path, '--data', served.data])).toMatchObject({ code: 0 });
    const repository = join(served.folder, 'stored.git');
    makeGitRepository(repository, [version(1, { stored: 0.01 })]);
    expect(await ingest(repository, ['--recipe', 'stored-list'])).toMatchObject({ code: 0, summary: { accepted: 2 } });
  });

  test('may be one that is shipped', async () => {
    const repository = join(served.folder, 'shipped.git');
    const text = await readFile(join(import.meta.dirname, '../sources/litellm-map.json'), 'utf8');
    makeGitRepository(repository, [{ files: { [PATH]: text }, at: '2025-01-01T12:00:00Z' }]);
    expect(await ingest(repository, ['--recipe', 'litellm'])).toMatchObject({
      code: 0,
      summary: { past: { versions: 1 }, refused: 0 },
    });
  });
});

describe('is refused', () => {
  const never = () => join(served.folder, 'never.git');
  beforeAll(() => void makeGitRepository(never(), [version(1, { never: 0.01 })]));

  test.each<[string, readonly string[]]>([
    ['without a file and a repository', []],
    ['with a repository alone', ['--git', '.']],
    ['with a recipe alone', ['--recipe', 'litellm']],
    ['with a file beside the repository', ['GIT', 'prices.csv']],
    ['with a mapping', ['GIT', '--mapping', 'x.jsonc']],
    ['with the mode append', ['GIT', '--mode', 'append']],
    ['with --complete', ['GIT', '--mode', 'correct', '--complete']],
    ['with a run to continue', ['GIT', '--resume', '0123456789ab']],
    ['with a recipe that does not exist', ['--git', 'REPOSITORY', '--path', PATH, '--recipe', 'never']],
    ['with a recipe of no list', ['--git', 'REPOSITORY', '--path', PATH, '--recipe', 'ecb-daily']],
    ['with a host without TLS', ['--git', 'http://x.test.example/', '--path', PATH, '--recipe', 'RECIPE']],
    ['with a program in place of a host', ['--git', 'ext::touch /tmp/never', '--path', PATH, '--recipe', 'RECIPE']],
    ['with a file outside', ['--git', 'REPOSITORY', '--path', '../never', '--recipe', 'RECIPE']],
    ['with a folder without a repository', ['--git', 'FOLDER', '--path', PATH, '--recipe', 'RECIPE']],
  ])('%s', async (_, words) => {
    const all = ['--git', never(), '--path', PATH, '--recipe', recipe];
    const places: Readonly<Record<string, readonly string[]>> = {
      ...{ GIT: all, REPOSITORY: [never()], RECIPE: [recipe], FOLDER: [copies] },
    };
    const given = words.flatMap((word) => places[word] ?? [word]);
    expect(await command(given)).toMatchObject({ code: EXIT_CODES.usage.code, output: '' });
    expect((await fetch(`${served.url}/api/v1/markets/never`)).status).toBe(404);
  });

  test('with a file that is in no commit', async () => {
    const run = await command(['--git', never(), '--path', 'never.json', '--recipe', recipe]);
    expect(run).toMatchObject({ code: EXIT_CODES.findings.code, output: '' });
    expect(run.errors).toContain('never.json');
  });
});
