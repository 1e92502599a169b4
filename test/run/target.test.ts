/** `--to`: the public files at their public paths in another folder, perhaps a checkout, and nothing else of ours. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { startServerForTest } from '../server/server-process.ts';
import { codeOf, filesIn, openRunWorld, type RunWorld, verify } from './run-world.ts';

const SNAPSHOT = 'api/v1/snapshot.json';

/** The files that no table knows, without the index of a git checkout. */
async function strangers(target: string): Promise<readonly string[]> {
  const files = [...(await filesIn(target)).keys()].filter((path) => !path.startsWith('.git/'));
  return files.filter((path) => parsePublicKey(`public/${path}`) === null);
}

async function published(): Promise<RunWorld & { readonly to: readonly string[] }> {
  const world = await openRunWorld();
  const to = ['--to', world.target];
  expect(await world.run([await world.records('a.ndjson', { gold: [1000], silver: [20] }), ...to])).toMatchObject({
    code: 0,
  });
  return { ...world, to };
}

test('the public files lie at their public paths, and readable; nothing else of ours lies there', async () => {
  const { target, data } = await published();
  expect(existsSync(join(target, 'index.html')) && existsSync(join(target, 'api/v1/markets.json'))).toBe(true);
  expect([target, join(target, SNAPSHOT)].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o644]);
  expect(await strangers(target)).toEqual([]);
  expect(existsSync(join(data, 'ledger.sqlite')) && existsSync(join(data, 'store/index.sqlite'))).toBe(true);
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('a checkout is left with public files to commit, a message, and what was there', async () => {
  const world = await openRunWorld();
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', world.target, '-c', 'user.name=T', '-c', 'user.email=t@test.example', ...words], {
      encoding: 'utf8',
    });
  await mkdir(world.target);
  git('init', '--quiet');
  await writeFile(join(world.target, 'README.md'), 'Prices.\n');
  const message = join(world.folder, 'message');
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--file', message);
  };
  const words = ['--to', world.target, '--message-file', message];
  await world.run([await world.records('a.ndjson', { gold: [1000] }), ...words]);
  expect(await strangers(world.target)).toEqual(['README.md']);
  commit();
  expect(git('log', '--format=%s')).toBe('data: generation 1, 1 market, 1 observation\n');
  expect(await world.run(words)).toMatchObject({ code: codeOf('unchanged') });
  expect(git('status', '--porcelain')).toBe('');
  await world.run([await world.records('b.ndjson', { gold: [1000, 1001] }), ...words]);
  commit();
  // A checkout of an earlier commit is brought forward again.
  git('reset', '--quiet', '--hard', 'HEAD~1');
  expect(await world.run(words)).toMatchObject({ code: 0, report: { faults: [], observations: 2 } });
  expect(await verify(world.target)).toMatchObject({ code: 0, output: '' });
});

test.each([
  ['changed', (path: string) => writeFile(path, '{}\n')],
  ['deleted', (path: string) => rm(path)],
])('a file that another program has %s is put back', async (_, damage) => {
  const { run, target, to } = await published();
  const path = join(target, 'api/v1/markets/gold.json');
  const before = await readFile(path);
  await damage(path);
  expect(await run(to)).toMatchObject({ code: 0 });
  expect(await readFile(path)).toEqual(before);
  expect(await run(to)).toMatchObject({ code: codeOf('unchanged') });
});

test('later runs keep the target; the files of the data folder may be moved there', async () => {
  const world = await openRunWorld();
  await world.run([await world.records('a.ndjson', { gold: [1000] })]);
  const before = await filesIn(join(world.data, 'public'));
  const to = ['--to', world.target];
  expect(await world.run(to)).toMatchObject({ code: codeOf('refused') });
  await rename(join(world.data, 'public'), world.target);
  for (const words of [to, []]) expect(await world.run(words)).toMatchObject({ code: codeOf('unchanged') });
  expect(await filesIn(world.target)).toEqual(before);
});

test('a new target gets everything, and the old one stays as it is', async () => {
  const { run, target, folder } = await published();
  const before = await filesIn(target);
  const other = join(folder, 'other');
  expect(await run(['--to', other])).toMatchObject({ code: 0 });
  expect(await verify(other)).toMatchObject({ code: 0, output: '' });
  expect(await filesIn(target)).toEqual(before);
  expect(await run(['--to', target])).toMatchObject({ report: { faults: [] } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('an older copy of the data folder publishes nothing there', async () => {
  const { run, records, target, data, to } = await published();
  cpSync(data, `${data}-old`, { recursive: true, verbatimSymlinks: true });
  expect(await run([await records('b.ndjson', { gold: [1000, 1001] }), ...to])).toMatchObject({ code: 0 });
  const before = await filesIn(target);
  for (const words of [[], [await records('c.ndjson', { silver: [20, 30] })]]) {
    await rm(data, { recursive: true });
    cpSync(`${data}-old`, data, { recursive: true, verbatimSymlinks: true });
    expect(await run([...words, ...to])).toMatchObject({ code: codeOf('refused') });
    expect(await filesIn(target)).toEqual(before);
  }
});

test('nor does a copy that has published something else elsewhere', async () => {
  const { run, records, target, data, folder, to } = await published();
  cpSync(data, `${data}-old`, { recursive: true, verbatimSymlinks: true });
  await run([await records('b.ndjson', { gold: [1000, 1001] }), ...to]);
  const before = await filesIn(target);
  await rm(data, { recursive: true });
  await rename(`${data}-old`, data);
  await run([await records('c.ndjson', { silver: [20, 30, 40] }), '--to', join(folder, 'other')]);
  expect(await run(to)).toMatchObject({ code: codeOf('refused') });
  expect(await filesIn(target)).toEqual(before);
});

test('a target that shows a log which the data folder has not written is refused, whatever the key, and stays as it is', async () => {
  const { run, records, target, folder, key, to } = await published();
  const before = await filesIn(target);
  const file = await records('b.ndjson', { gold: [1000, 1001] });
  const { key: otherKey } = await openRunWorld();
  const cases: readonly (readonly [key: string, projections: string, ...words: string[]])[] = [
    [key, 'log,latest'],
    [otherKey, 'log,latest'],
    [otherKey, 'latest'],
    ['', 'log,latest'],
    ['', 'log,latest', '--unsigned'],
    [key, 'log,latest', '--unsigned'],
  ];
  // Twice with one folder: a run that was refused leaves nothing that the next one takes for its own.
  for (const data of ['new', './new/', './other'])
    for (const [TIDEMARK_LOG_KEY, TIDEMARK_PROJECTIONS, ...words] of cases)
      expect(
        await run([file, ...words, ...to, '--data', data], { TIDEMARK_LOG_KEY, TIDEMARK_PROJECTIONS }),
      ).toMatchObject({ code: codeOf('refused') });
  const start = ['start', '--no-sample', '--port', '0', '--to', target, '--data'];
  for (const data of ['new', './third'])
    expect(
      await tidemark([...start, data], { cwd: folder, environment: { TIDEMARK_PROJECTIONS: 'log,latest' } }),
    ).toMatchObject({ code: codeOf('findings') });
  expect(await filesIn(target)).toEqual(before);
  expect(['new', 'other', 'third'].filter((data) => existsSync(join(folder, data, 'log-key')))).toEqual([]);
});

test.each(['./data', './data/'])('a lost index of a data folder that is named %s is made again', async (data) => {
  const { run, target, folder, to } = await published();
  const before = await filesIn(target);
  await rm(join(folder, 'data/store/index.sqlite'));
  expect(await run([...to, '--data', data])).toMatchObject({ code: codeOf('unchanged') });
  expect(await filesIn(target)).toEqual(before);
});

test('a target that holds the data folder, or pages of somebody else, is refused', async () => {
  const world = await openRunWorld();
  expect(await world.run(['--to', world.folder])).toMatchObject({ code: codeOf('refused') });
  expect(await world.run(['--to', join(world.data, 'site')])).toMatchObject({ code: codeOf('refused') });
  expect(existsSync(world.data)).toBe(false);
  await mkdir(world.target);
  await writeFile(join(world.target, 'index.html'), '<h1>Mine</h1>\n');
  expect(await world.run(['--to', world.target])).toMatchObject({ code: codeOf('refused') });
  expect([...(await filesIn(world.target)).keys()]).toEqual(['index.html']);
  expect(await world.run(['--to', 'gs://bucket/prices'])).toMatchObject({ code: codeOf('refused') });
  expect(existsSync(world.data)).toBe(false);
});

test('a target that lies in a target is refused, and makes no folder', async () => {
  const { run, target, folder } = await published();
  const before = await filesIn(target);
  for (const to of ['sub', 'api/v1/sub'])
    expect(await run(['--to', join(target, to)])).toMatchObject({ code: codeOf('refused') });
  expect(await run(['--data', join(folder, 'other'), '--to', join(target, 'sub')])).toMatchObject({
    code: codeOf('refused'),
  });
  expect(await filesIn(target)).toEqual(before);
  expect(existsSync(join(target, 'sub'))).toBe(false);
});

test('a target on another disk gets whole files, and no others; also after kill -9', async ({ skip }) => {
  const memory = '/dev/shm';
  skip(!existsSync(memory) || statSync(memory).dev === statSync(tmpdir()).dev, `${memory} is no other disk here`);
  const folder = await mkdtemp(join(memory, 'tidemark-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const world = await openRunWorld();
  const words = [await world.records('a.ndjson', { gold: [1000] }), '--to', join(folder, 'site')];
  expect((await world.dieAt(30, words)).code).toBeNull();
  expect(await world.run(words)).toMatchObject({ report: { markets: 1 } });
  expect(await strangers(join(folder, 'site'))).toEqual([]);
  expect(await verify(join(folder, 'site'))).toMatchObject({ code: 0, output: '' });
});

test('a server publishes into the same target, and serves from it', async () => {
  const { data, target, key, run, to } = await published();
  const server = startServerForTest({
    TIDEMARK_DATA: data,
    TIDEMARK_TO: target,
    TIDEMARK_LOG_KEY: key,
    TIDEMARK_PROJECTIONS: 'log,latest',
    TIDEMARK_SAMPLE: 'no',
  });
  const url = await server.started;
  const shown = await (await fetch(`${url}/api/v1/markets/gold`)).text();
  expect(shown).toBe(await readFile(join(target, 'api/v1/markets/gold.json'), 'utf8'));
  expect(await run(['--wait', '0', ...to])).toMatchObject({ code: codeOf('busy') });
  await server.end('SIGTERM');
  // The server has a write API, and an address for requests for keys. A run has neither.
  expect(await run(to)).toMatchObject({ code: 0 });
  expect(await run(to)).toMatchObject({ code: codeOf('unchanged') });
});
