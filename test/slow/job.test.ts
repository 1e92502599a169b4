/**
 * infra/hosting/job/ with the real git: a job whose repository is all that it keeps. The commands of both workflows are run
 * here; the hosts themselves are not reached.
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { NO_CONFIG } from '../cli/tidemark.ts';
import { mappingOf } from '../run/files-mapping.ts';
import { AUTHOR, installTidemark } from '../run/repository.ts';
import { ORIGIN, startSource, verify } from '../run/run-world.ts';
import { metalsCsv } from '../sources/example-recipe.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from '../tools/run-tool.ts';

const JOB = join(import.meta.dirname, '../../infra/hosting/job');
/** A repository at a host, by `tidemark init`, with one source. Each job has a clone of its own, as of a new machine. */
async function openRepository({ isOfFiles = false } = {}) {
  const folder = await temporaryFolder();
  const source = await startSource(folder);
  const [host, first] = [join(folder, 'host.git'), join(folder, 'first')];
  const recipe = isOfFiles ? [] : ['--recipe', source.recipe];
  const init = await tidemark(['init', first, ...recipe, '--origin', ORIGIN]);
  expect(init).toMatchObject({ code: 0, errors: '' });
  const key = await readFile(join(first, 'log-key'), 'utf8');
  const env = {
    ...{ TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: 'log,latest', TIDEMARK_SOURCE_HOSTS: source.origin },
    ...{ TIDEMARK_CONFIG: NO_CONFIG, ...AUTHOR },
  };
  const git = (cwd: string, ...words: readonly string[]) =>
    execFileSync('git', words, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, stdio: 'pipe' }).trim();
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', host);
  git(folder, 'init', '--quiet', '--initial-branch=main', first);
  git(first, 'add', '--all');
  git(first, 'commit', '--quiet', '--message', 'A service');
  git(first, 'push', '--quiet', host, 'main');
  expect(git(first, 'ls-files')).not.toContain('log-key');

  let clones = 0;
  /** Where a job works. It has `tidemark`, as after `npm ci`. */
  const clone = async () => {
    clones += 1;
    const path = join(folder, `clone-${clones}`);
    git(folder, 'clone', '--quiet', `file://${host}`, path);
    await installTidemark(path);
    return path;
  };
  const publish = (cwd: string, words: readonly string[] = [], environment = {}) =>
    runTool('bash', ['publish.sh', ...words], { cwd, env: { ...env, ...environment } });
  return {
    ...{ folder, key, env, host, source, git, clone, publish },
    commits: () => Number(git(host, 'rev-list', '--count', 'site')),
    /** The public files, as the host has them. */
    async published() {
      const path = await temporaryFolder();
      git(folder, 'clone', '--quiet', '--branch', 'site', `file://${host}`, path);
      await rm(join(path, '.git'), { recursive: true });
      return path;
    },
  };
}

test('files are edited, pushed and published; without an edit, nothing is committed; links of the 404 page are below the path', async () => {
  const { clone, publish, git, host, commits, published } = await openRepository({ isOfFiles: true });
  const author = await clone();
  const push = async (rows: readonly string[], ...words: readonly string[]) => {
    await writeFile(join(author, 'files/tea.csv'), ['date,price', ...rows, ''].join('\n'));
    git(author, 'add', '--all', 'files');
    git(author, 'commit', '--quiet', '--message', 'Prices');
    git(author, 'push', '--quiet', host, 'main');
    expect(await publish(await clone(), words)).toMatchObject({ exitCode: 0 });
  };
  await writeFile(join(author, 'files/tea.mapping.jsonc'), JSON.stringify(mappingOf('tea')));
  await push(['2026-01-01,5.00'], '--begin');
  expect(await publish(await clone())).toMatchObject({ exitCode: 0 });
  expect(commits()).toBe(1);
  await push(['2026-01-01,5.10', '2026-01-02,5.20']);
  expect(commits()).toBe(2);
  const complete = ['--complete', '--retract-missing'];
  await push(['2026-01-02,5.20'], ...complete, '--dry-run');
  expect(commits()).toBe(2);
  await push(['2026-01-01,5.10'], ...complete);
  const site = await published();
  const { data } = JSON.parse(await readFile(join(site, 'api/v1/markets/tea/history.json'), 'utf8'));
  expect(data.map(({ amountMinor }: { amountMinor: number }) => amountMinor)).toEqual([null, 520, 510, 500]);
  const links = (await readFile(join(site, '404.html'), 'utf8')).matchAll(/(?:href|src)="([^"#]+)"/g);
  for (const [, link] of links) expect(link).toMatch(/^(\/prices\/|https:\/\/run\.test\.example\/prices\/)/);
  expect(await verify(site)).toMatchObject({ code: 0, output: '' });
});

test('a source that fails is told by the exit code, and the rest is pushed', async () => {
  const { folder, host, clone, publish, git, commits, published } = await openRepository();
  const file = join(folder, 'silver.ndjson');
  const market = { type: 'market', slug: 'silver', name: 'Silver', kind: 'metal', nativeCurrency: 'USD' };
  await writeFile(file, JSON.stringify({ ...market, unit: { quantity: 1, of: 'kilogram' } }));
  const path = await clone();
  git(path, 'remote', 'set-url', 'origin', '../host.git');
  const failed = { exitCode: EXIT_CODES['sources-failed'].code };
  expect(await publish(path, ['--begin', file])).toMatchObject(failed);
  expect(commits()).toBe(1);
  expect(await verify(await published())).toMatchObject({ code: 0, output: '' });

  // The rest is not public if the push fails, too.
  await writeFile(join(host, 'hooks/pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('ilver', 'inc'));
  expect(await publish(path, [file])).toMatchObject({ exitCode: 1 });
  expect(commits()).toBe(1);
});

test('a branch that was lost at the host is not begun again, by a new clone or by one with an older log', async () => {
  const { source, host, clone, publish, commits, published, git } = await openRepository();
  const gold = ['gold', '2026-11-18', '4129.10'] as const;
  source.answer = metalsCsv(gold);
  const ends = { exitCode: 1, output: expect.stringContaining('no branch site at origin') };
  const [old, newest] = [await clone(), await clone()];
  expect(await publish(newest)).toMatchObject(ends);
  expect(await publish(newest, ['--begin'])).toMatchObject({ exitCode: 0 });
  // A workflow that keeps the option would begin again after a loss.
  expect(await publish(old, ['--begin'])).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining('Leave out'),
  });
  expect(await publish(old)).toMatchObject({ exitCode: 0 });
  source.answer = metalsCsv(gold, ['gold', '2026-11-19', '4130.10']);
  expect(await publish(newest)).toMatchObject({ exitCode: 0 });
  git(host, 'update-ref', '-d', 'refs/heads/site');
  for (const path of [old, newest, await clone()]) expect(await publish(path)).toMatchObject(ends);
  const knows = { exitCode: 1, output: expect.stringContaining('This clone has published before') };
  for (const path of [old, newest]) expect(await publish(path, ['--begin'])).toMatchObject(knows);
  expect(git(host, 'branch', '--list', 'site')).toBe('');
  // As the message says.
  git(newest, 'push', '--quiet', 'origin', 'site');
  expect(await publish(old)).toMatchObject({ exitCode: 0 });
  expect(commits()).toBe(2);
  expect(await verify(await published())).toMatchObject({ code: 0, output: '' });
});

test('without a host, only the first publication is asked for; without the key, nothing is committed; log-key has it, too', async () => {
  const { source, clone, publish, git, key } = await openRepository();
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  const path = await clone();
  git(path, 'remote', 'remove', 'origin');
  expect(await publish(path)).toMatchObject({ exitCode: 1, output: expect.stringContaining('no branch site here') });
  const keyless = { TIDEMARK_LOG_KEY: '' };
  expect(await publish(path, ['--begin'], keyless)).toMatchObject({ exitCode: EXIT_CODES.refused.code });
  expect(git(path, 'branch', '--list', 'site')).toBe('');
  await writeFile(join(path, 'log-key'), `${key}\n`, { mode: 0o600 });
  for (const words of [['--begin'], []]) expect(await publish(path, words, keyless)).toMatchObject({ exitCode: 0 });
  expect(git(path, 'rev-list', '--count', 'refs/heads/site')).toBe('1');
  expect(git(path, 'status', '--short')).toBe('');
});

test('a host that does not answer begins no second log', async () => {
  const { source, host, clone, publish, commits } = await openRepository();
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  const path = await clone();
  expect(await publish(path, ['--begin'])).toMatchObject({ exitCode: 0 });
  const next = await clone();
  await cp(host, `${host}.away`, { recursive: true });
  await rm(host, { recursive: true });
  expect(await publish(next)).toMatchObject({ exitCode: 1 });
  await cp(`${host}.away`, host, { recursive: true });
  expect(await publish(next)).toMatchObject({ exitCode: 0 });
  expect(commits()).toBe(1);
});

test('a job on a new machine goes on with the log; of two jobs at once, the second one pushes nothing, and a later run of it goes on', async () => {
  const { source, host, clone, publish, commits, published, git } = await openRepository();
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  const [one, other] = [await clone(), await clone()];
  expect(await publish(one, ['--begin'])).toMatchObject({ exitCode: 0 });
  expect(git(host, 'log', '-1', '--format=%s', 'site')).toMatch(/^data: generation 1, 1 market, 1 observation$/);
  expect(await publish(other)).toMatchObject({ exitCode: 0 });
  expect(commits()).toBe(1);
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10'], ['gold', '2026-11-19', '4130.10']);
  await writeFile(join(other, '.git/hooks/pre-push'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  expect(await publish(other)).toMatchObject({ exitCode: 1 });
  expect(commits()).toBe(1);
  await rm(join(other, '.git/hooks/pre-push'));
  expect(await publish(other)).toMatchObject({ exitCode: 0 });
  expect(commits()).toBe(2);
  expect(git(other, 'status', '--short')).toBe('');
  expect(await publish(one)).toMatchObject({ exitCode: 0 });
  expect(await verify(await published())).toMatchObject({ code: 0, output: '' });
});

test('a push that failed is set aside after another machine has published; a rewritten branch is not taken', async () => {
  const { source, clone, publish, commits, published, git, host } = await openRepository();
  const gold = (...days: readonly number[]) =>
    metalsCsv(...days.map((day) => ['gold', `2026-11-${day}`, '4129.10'] as const));
  source.answer = gold(18);
  const [one, other] = [await clone(), await clone()];
  expect(await publish(one, ['--begin'])).toMatchObject({ exitCode: 0 });
  expect(await publish(other)).toMatchObject({ exitCode: 0 });
  git(other, 'remote', 'set-url', '--push', 'origin', '/nowhere');
  source.answer = gold(18, 19);
  expect(await publish(other)).toMatchObject({ exitCode: 128 });
  source.answer = gold(18, 20);
  expect(await publish(one)).toMatchObject({ exitCode: 0 });
  git(other, 'remote', 'set-url', '--delete', '--push', 'origin', '/nowhere');
  source.answer = gold(18, 19, 20);
  const unpushed = git(other, 'rev-parse', '--short', 'site');
  expect(await publish(other)).toMatchObject({ exitCode: 0, output: expect.stringContaining(unpushed) });
  expect(commits()).toBe(3);
  expect(await verify(await published())).toMatchObject({ code: 0, output: '' });
  const newest = git(host, 'rev-parse', 'site');
  const orphan = git(host, 'commit-tree', '-m', 'Rewritten', `${newest}~2^{tree}`);
  git(host, 'update-ref', 'refs/heads/site', orphan);
  expect(await publish(other)).toMatchObject({ exitCode: 1, output: expect.stringContaining('was rewritten') });
  expect(git(host, 'rev-parse', 'site')).toBe(orphan);
});

/** All commands of a workflow, in order. The package is installed by another test: package.test.ts. */
async function commandsOf(file: string): Promise<readonly string[]> {
  const workflow = parse(await readFile(join(JOB, file), 'utf8'));
  const jobs: readonly { readonly steps?: readonly { readonly run?: string }[]; readonly script?: string[] }[] =
    file === 'gitlab.yml' ? [workflow.publish, workflow.pages] : Object.values(workflow.jobs);
  const commands = jobs.flatMap(({ steps = [], script = [] }) => [...steps.flatMap(({ run = [] }) => run), ...script]);
  return commands.filter((command) => command !== 'npm ci');
}

test('the only command of github.yml is also the first of cloudflare.yml', async () => {
  expect(await commandsOf('github.yml')).toEqual(['bash publish.sh']);
});

test.each([
  ['cloudflare.yml', ['bash publish.sh', expect.stringContaining('_worker.js')]],
  ['gitlab.yml', expect.arrayContaining(['bash publish.sh', 'mkdir public'])],
] as const)('the commands of %s publish', async (file, expected) => {
  const { source, host, clone, publish, git, env, commits, published } = await openRepository();
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  expect(await publish(await clone(), ['--begin'])).toMatchObject({ exitCode: 0 });
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10'], ['gold', '2026-11-19', '4130.10']);
  const path = await clone();
  // As a host checks out: one commit, which no branch names. The name of the host leads to the folder.
  git(path, 'checkout', '--quiet', '--detach');
  git(path, 'config', `url.file://${host}.insteadOf`, 'https://publish:token@host.example/a/b.git');
  const variables = { SITE_TOKEN: 'token', CI_SERVER_HOST: 'host.example', CI_PROJECT_PATH: 'a/b' };
  const commands = await commandsOf(file);
  expect(commands).toEqual(expected);
  for (const command of commands) {
    const run = await runTool('bash', ['-e', '-o', 'pipefail', '-c', command], {
      cwd: path,
      env: { ...env, ...variables },
    });
    expect(run, command).toMatchObject({ exitCode: 0 });
  }
  expect(commits()).toBe(2);
  if (file === 'cloudflare.yml')
    expect(await readdir(join(path, 'site'))).toEqual(expect.arrayContaining(['_headers', '_worker.js', '404.html']));
  expect(await verify(file === 'gitlab.yml' ? join(path, 'public') : await published())).toMatchObject({ code: 0 });
});

test('init replaces no file, and refuses a recipe that is not one and a name that is none', async () => {
  const { folder, source } = await openRepository();
  const path = join(folder, 'prices');
  const init = async (recipe: string, origin: string) =>
    (await tidemark(['init', path, '--recipe', recipe, '--origin', origin])).code;
  await writeFile(join(folder, 'faulty.json'), '{"name":"faulty"}');
  for (const [recipe, origin] of [
    ['nosuch', ORIGIN],
    [join(folder, 'faulty.json'), ORIGIN],
    [source.recipe, 'https://Data.example/'],
  ] as const) {
    expect(await init(recipe, origin)).toBe(EXIT_CODES.usage.code);
  }
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await mkdir(path);
  await writeFile(join(path, 'README.md'), 'mine');
  expect(await init(source.recipe, ORIGIN)).toBe(EXIT_CODES.usage.code);
  expect(await readdir(path)).toEqual(['README.md']);
  await rm(join(path, 'README.md'));
  expect(await init(source.recipe, ORIGIN)).toBe(0);
  expect((await stat(join(path, 'log-key'))).mode & 0o777).toBe(0o600);
});
