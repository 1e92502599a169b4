/** `tidemark run --git`: the past of a current list, from the commits of a repository. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { permanentLink } from '../../server/git/git-versions.ts';
import { startGitHost } from './git-host.ts';
import { makeGitRepository } from './git-repository.ts';
import { listRecipe, PATH, pricesOf, version } from './price-list.ts';
import { filesIn, openRunWorld, type RunWorld, startSource, verify } from './run-world.ts';

/** `moment value source`, oldest first. */
async function history(world: RunWorld, slug: string): Promise<readonly string[]> {
  const text = await readFile(join(world.data, `public/api/v1/markets/${slug}/history.json`), 'utf8');
  const { data } = JSON.parse(text) as { data: Record<string, string | null>[] };
  return data
    .map(
      ({ observedAt, amountMinor, unknownReason, sourceUrl }) =>
        `${observedAt} ${amountMinor ?? unknownReason} ${sourceUrl}`,
    )
    .reverse();
}

const values = (lines: readonly string[]) => lines.map((line) => line.slice(5).replace(/ http.*$/, ''));

describe('a run with the past of a list', () => {
  test('takes each commit for one fetch, at its moment, with its own address, and goes on from there', async () => {
    const world = await openRunWorld();
    const repository = join(world.folder, 'upstream.git');
    const commits = makeGitRepository(repository, [
      version(1, { a: 0.01, b: 0.02 }),
      { files: { other: 'no news' }, at: '2025-01-02T12:00:00Z' },
      version(3, { a: 0.015, b: 0.02 }),
      version(4, { a: 0.015 }),
      version(5, { a: 0.0152 }),
    ]);
    execFileSync('git', ['-C', repository, 'config', 'remote.origin.url', 'git@github.com:owner/name.git']);
    const recipe = await listRecipe(world.folder);
    const words = ['--git', repository, '--path', PATH, '--recipe', recipe];
    expect(await world.run(words)).toMatchObject({
      code: 0,
      report: {
        outcome: 'published',
        sources: [],
        past: { versions: 4, unchanged: 1, passedOver: 0, counts: { accepted: 7, unchanged: 0, refused: 0 } },
        // Of the log itself, two definitions, and five values.
        log: { size: 8 },
      },
    });
    const url = (index: number) => `https://github.com/owner/name/raw/${commits[index]}/data/prices%20list.json`;
    // The quantity is that of the amount with most digits: 100 tokens.
    expect(await history(world, 'a')).toEqual([
      `2025-01-01T12:00:00Z 100 ${url(0)}`,
      `2025-01-03T12:00:00Z 150 ${url(2)}`,
      `2025-01-05T12:00:00Z 152 ${url(4)}`,
    ]);
    expect(values(await history(world, 'b'))).toEqual(['01-01T12:00:00Z 2', '01-05T12:00:00Z no-longer-listed']);
    expect(await world.run(words)).toMatchObject({
      code: EXIT_CODES.unchanged.code,
      report: { past: { versions: 0 } },
    });

    expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
    for (const path of (await filesIn(join(world.data, 'public'))).keys()) {
      expect(await readFile(join(world.data, 'public', path), 'latin1')).not.toContain(world.folder);
    }
  });

  test('gets only the versions of its file from a host, many at once', async () => {
    const world = await openRunWorld();
    const repository = join(world.folder, 'upstream.git');
    const other = { files: { large: randomBytes(500_000).toString('hex') }, at: '2025-01-01T00:00:00Z' };
    const versions = Array.from({ length: 9 }, (_, index) => version(2 + index, { a: 0.01 * (index + 1) }));
    makeGitRepository(repository, [other, ...versions]);
    for (const setting of ['allowFilter', 'allowAnySHA1InWant']) {
      execFileSync('git', ['-C', repository, 'config', `uploadpack.${setting}`, 'true']);
    }
    const host = await startGitHost(world.folder);
    const words = ['--git', `${host.origin}/upstream.git`, '--path', PATH, '--recipe', await listRecipe(world.folder)];
    expect(await world.run(words, host.environment)).toMatchObject({ code: 0, report: { past: { versions: 9 } } });
    expect(await history(world, 'a')).toHaveLength(9);
    const isQuestion = (line: string) => line.startsWith('POST');
    // The branch: what there is, and its commits; then all files.
    expect(host.asked.filter(isQuestion)).toHaveLength(3);
    const kept = [...(await filesIn(join(world.data, 'git'))).keys()].map((path) =>
      statSync(join(world.data, 'git', path)),
    );
    expect(kept.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(400_000);
    // A host without a valid certificate.
    const strange = await world.run(words, { ...host.environment, GIT_SSL_CAINFO: '/dev/null' });
    expect(strange).toMatchObject({ code: EXIT_CODES.refused.code });
  });

  test('leaves the next fetch only the news', async () => {
    const world = await openRunWorld();
    const source = await startSource(world.folder);
    const repository = join(world.folder, 'upstream.git');
    makeGitRepository(repository, [version(1, { a: 0.01, b: 0.02 }), version(2, { a: 0.01 })]);
    const recipe = await listRecipe(world.folder, source.origin);
    await world.run(['--git', repository, '--path', PATH, '--recipe', recipe]);
    source.answer = Buffer.from(pricesOf({ a: 0.01, c: 0.03 }));
    expect(await world.run(['--source', recipe], { TIDEMARK_SOURCE_HOSTS: source.origin })).toMatchObject({
      // A market, its price, and the end of b.
      report: { sources: [{ outcome: 'taken-in', records: 3, counts: { accepted: 3, unchanged: 0 } }] },
    });
    expect(await history(world, 'a')).toEqual(['2025-01-01T12:00:00Z 1 https://prices.test.example/']);
    expect(values(await history(world, 'b')).at(-1)).toMatch(/no-longer-listed$/);
  });

  test('passes over what it cannot read, and orders commits as the branch does', async () => {
    const world = await openRunWorld();
    const repository = join(world.folder, 'upstream.git');
    const commits = makeGitRepository(repository, [
      version(1, { a: 0.01 }),
      { files: { [PATH]: '{ "a": { "price": ' }, at: '2025-01-02T12:00:00Z' },
      { files: { [PATH]: null }, at: '2025-01-03T12:00:00Z' },
      version(10, { a: 0.02 }),
      version(9, { a: 0.03 }),
      { ...version(1, { a: 0.04 }), at: '2999-01-01T00:00:00Z' },
      version(11, { a: 0.05 }),
    ]);
    const run = await world.run(['--git', repository, '--path', PATH, '--recipe', await listRecipe(world.folder)]);
    expect(run).toMatchObject({
      code: 0,
      report: { past: { versions: 5, passedOver: 2, faults: [{ version: commits[1] }, { version: commits[2] }] } },
    });
    expect(values(await history(world, 'a'))).toEqual([
      ...['01-01T12:00:00Z 1', '01-10T12:00:00Z 2', '01-10T12:00:00.001Z 3', '01-10T12:00:00.002Z 4'],
      '01-11T12:00:00Z 5',
    ]);
  });

  test.each([3, 9, 20])('that is killed at its rename number %i is continued by the next one', async (rename) => {
    const world = await openRunWorld();
    const repository = join(world.folder, 'upstream.git');
    makeGitRepository(repository, [
      version(1, { a: 0.01, b: 1 }),
      version(2, { a: 0.02, b: 1 }),
      version(3, { a: 0.03 }),
    ]);
    const words = ['--git', repository, '--path', PATH, '--recipe', await listRecipe(world.folder)];
    expect((await world.dieAt(rename, words)).code).not.toBe(0);
    const { report } = await world.run(words);
    expect(report).toMatchObject({ deferred: [], faults: [], log: { size: 7 } });
    expect(values(await history(world, 'a'))).toEqual(['01-01T12:00:00Z 1', '01-02T12:00:00Z 2', '01-03T12:00:00Z 3']);
    expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
  });
});

describe('a run is refused', () => {
  test.each([
    ['a program in place of a host', 'ext::sh -c touch% /tmp/never', PATH, 'usage'],
    ['an option in place of a repository', '--upload-pack=touch /tmp/never', PATH, 'usage'],
    ['a host without TLS', 'http://prices.test.example/x.git', PATH, 'usage'],
    ['a password in a URL', 'https://name:word@prices.test.example/x.git', PATH, 'usage'],
    ['a folder without a repository', '.', PATH, 'usage'],
    ['an option in place of a file', 'upstream.git', '--output=never', 'usage'],
    ['a file whose name begins with -', 'upstream.git', '-prices.json', 'usage'],
    ['a file outside', 'upstream.git', '../never', 'usage'],
    ['a file that is in no commit', 'upstream.git', 'never', 'refused'],
  ] as const)('with %s', async (_, repository, path, exit) => {
    const world = await openRunWorld();
    makeGitRepository(join(world.folder, 'upstream.git'), [version(1, { a: 0.01 })]);
    const recipe = await listRecipe(world.folder);
    const run = await world.run([`--git=${repository}`, `--path=${path}`, '--recipe', recipe]);
    expect(run).toMatchObject({ code: EXIT_CODES[exit].code, report: { outcome: exit } });
  });

  test('with a file and no repository', async () => {
    const world = await openRunWorld();
    expect(await world.run(['--path', PATH])).toMatchObject({ code: EXIT_CODES.usage.code });
  });
});

test.each([
  ['https://github.com/o/n', 'https://github.com/o/n/raw/c0/a%20b/%C3%A9.json'],
  ['https://github.com/o/n.git', 'https://github.com/o/n/raw/c0/a%20b/%C3%A9.json'],
  ['git@github.com:o/n.git', 'https://github.com/o/n/raw/c0/a%20b/%C3%A9.json'],
  ['ssh://git@gitlab.com/group/sub/n.git', 'https://gitlab.com/group/sub/n/-/raw/c0/a%20b/%C3%A9.json'],
  ['https://user:word@github.com/o/n', undefined],
  ['https://github.com.evil.example/o/n', undefined],
  ['https://github.com/../n', undefined],
  ['/home/me/github.com/o/n', undefined],
  ['', undefined],
])('the permanent address at %j is %j', (remote, link) => {
  expect(permanentLink(remote, 'a b/é.json')?.('c0')).toBe(link);
});
