/** `--state in-target`: a job without a disk of its own, whose ledger lies sealed beside its public files. */
import { cpSync, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ed25519Signer } from '../../contract/log/notes.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { unsealState } from '../../server/state/sealed-state.ts';
import { readStateKey } from '../../server/state/state-key.ts';
import { STATE_NAME, type StoredState, stateInFolder } from '../../server/target/state-store.ts';
import { namedFilesReader } from '../../server/target/static-host.ts';
import { sourceKey } from '../../storage/records/sources.ts';
import { openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { tidemarkHere } from '../cli/in-process.ts';
import { listRecipe, metalsCsv, recipeWith } from '../sources/example-recipe.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { begunWorld, codeOf, filesIn, openRunWorld, startSource } from './run-world.ts';

const newKey = async () => (await tidemarkHere(['state', 'keys', 'new'])).output;

/** Gold and silver are published. Each `job` begins without a data folder; `run` keeps it. */
const jobs = begunWorld(async (folder) => {
  const key = await newKey();
  const world = await openRunWorld({ TIDEMARK_STATE_KEY: key }, folder);
  const { target, data } = world;
  const options = ['--to', target, '--state', 'in-target'];
  const run = (words: readonly string[] = [], environment?: Readonly<Record<string, string>>) =>
    world.run([...words, ...options], environment);
  const forget = () => rm(data, { recursive: true, force: true });
  const job: typeof run = async (words, environment) => {
    await forget();
    return await run(words, environment);
  };
  const vkeys = [ed25519Signer(world.key).vkey];
  const first = await job([await world.records('a.ndjson', { gold: [1000, 1001, 1002], silver: [20] })]);
  expect(first).toMatchObject({ code: 0, report: { generation: 1, observations: 4, state: 'written' } });
  return {
    ...{ ...world, run, job, forget, options, stateKey: key, state: join(target, STATE_NAME) },
    dieAt: (at: number, words: readonly string[]) => world.dieAt(at, [...words, ...options]),
    checkpoint: () => readFile(join(target, 'api/v1/log/checkpoint'), 'utf8'),
    /** @param seen a checkpoint of before: the log must have grown from it */
    async expectWhole(seen: string) {
      const reader = namedFilesReader(target);
      expect((await verify(reader, { settled: true })).findings).toEqual([]);
      expect((await verifyLog(reader, { vkeys, seen })).findings).toEqual([]);
    },
  };
});

test('sources are kept, also those that published nothing; a source without news changes no file', async () => {
  const { job, folder, target } = await jobs();
  const source = await startSource(folder);
  const settings = { TIDEMARK_SOURCE_HOSTS: source.origin };
  expect(await job(['--source', source.recipe], settings)).toMatchObject({
    code: codeOf('sources-failed'),
    report: { state: 'written' },
  });
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  expect(await job(['--source', 'metals'], settings)).toMatchObject({ code: 0, report: { markets: 3 } });
  const before = await filesIn(target);
  for (const named of ['metals', source.recipe]) {
    expect(await job(['--source', named], settings)).toMatchObject({
      code: codeOf('unchanged'),
      report: { sources: [{ outcome: 'unchanged' }], state: 'unchanged' },
    });
  }
  expect(await filesIn(target)).toEqual(before);
});

test('a list goes on without the answers of earlier jobs, and says that it does not see what has vanished', async () => {
  const { job, folder, target } = await jobs();
  const source = await startSource(folder);
  const settings = { TIDEMARK_SOURCE_HOSTS: source.origin };
  const recipe = listRecipe(1, {
    recipe: { url: `${source.origin}/prices.json`, hosts: [source.origin] },
    market: { unit: { quantity: 'exact', atLeast: '1000000', of: 'token' } },
    observation: { metric: 'inputPrice' },
  });
  await writeFile(source.recipe, JSON.stringify(recipe));
  const lists = [
    { one: { in: '1e-06' }, two: { in: '2e-06' } },
    { one: { in: '1.5e-06' }, two: { in: '2e-06' } },
  ];
  for (const [index, list] of lists.entries()) {
    source.answer = Buffer.from(JSON.stringify(list));
    expect(await job(['--source', source.recipe], settings)).toMatchObject({
      code: 0,
      report: {
        observations: 6 + index,
        sources: [{ outcome: 'taken-in' }],
        warnings: index === 0 ? [] : [expect.any(String)],
      },
    });
  }
  const before = await filesIn(target);
  for (const named of [source.recipe, 'metals']) {
    const run = await job(['--source', named], settings);
    expect(run).toMatchObject({
      code: codeOf('unchanged'),
      report: { state: 'unchanged', warnings: [expect.any(String)] },
    });
  }
  expect(await filesIn(target)).toEqual(before);
});

test('what a run without the state has published is in the copy of the next run with it', async () => {
  const { run, records, data, target, key } = await jobs();
  const file = await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] });
  const environment = { TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: 'log,latest' };
  expect((await tidemarkHere(['run', file, '--data', data, '--to', target], { environment })).code).toBe(0);
  expect(await run()).toMatchObject({ code: codeOf('unchanged'), report: { state: 'written' } });
  await rm(data, { recursive: true });
  expect(await run()).toMatchObject({ code: codeOf('unchanged'), report: { observations: 5, state: 'unchanged' } });
});

test('killed at any rename, the next run goes on, with the data folder or without', async () => {
  const { run, records, target, folder, dieAt, forget, checkpoint, expectWhole } = await jobs();
  const words = [await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })];
  const before = join(folder, 'before');
  cpSync(target, before, { recursive: true });
  const stateBefore = await readFile(join(before, STATE_NAME));
  const seen = await checkpoint();
  const size = Number(seen.split('\n')[1]) + 1;
  const phases = new Set<string>();
  for (const rename of [4, 12, 19]) {
    await rm(target, { recursive: true });
    cpSync(before, target, { recursive: true });
    await forget();
    expect((await dieAt(rename + 1, words)).code).toBeNull();
    const isInState = !(await readFile(join(target, STATE_NAME))).equals(stateBefore);
    const isPublic = (await checkpoint()) !== seen;
    phases.add(isInState ? (isPublic ? 'public' : 'in the state') : isPublic ? 'only public' : 'nowhere');
    if (rename % 2 === 0) await forget();
    // What the state has needs no file.
    expect(await run(isInState ? [] : words)).toMatchObject({ report: { observations: 5, log: { size }, faults: [] } });
    await expectWhole(seen);
  }
  expect([...phases].sort()).toEqual(['in the state', 'nowhere', 'public']);
});

test('an older data folder takes the ledger of the target; its own is moved aside', async () => {
  const { run, job, records, data, checkpoint, expectWhole } = await jobs();
  cpSync(data, `${data}-old`, { recursive: true, verbatimSymlinks: true });
  await job([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })]);
  const seen = await checkpoint();
  await rm(data, { recursive: true });
  await rename(`${data}-old`, data);
  expect(await run([await records('c.ndjson', { copper: [5] })])).toMatchObject({
    code: 0,
    report: { generation: 3, observations: 6, warnings: [expect.any(String)] },
  });
  expect((await readdir(data)).filter((name) => name.startsWith('replaced-'))).toHaveLength(1);
  await expectWhole(seen);
});

test('an older target, as a checkout whose push failed, is brought forward from the data folder', async () => {
  const { run, records, target, folder, checkpoint, expectWhole } = await jobs();
  const before = join(folder, 'before');
  cpSync(target, before, { recursive: true });
  await run([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })]);
  const seen = await checkpoint();
  await rm(target, { recursive: true });
  await rename(before, target);
  expect(await run()).toMatchObject({ report: { observations: 5, state: 'written', faults: [] } });
  await expectWhole(seen);
});

test('two jobs at once: the later one publishes nothing, and goes on after the other', async () => {
  const { run, records, blocked, data, options, target, checkpoint, expectWhole } = await jobs();
  const waiting = await blocked(options);
  // As on two machines, or with a file system that has no locks.
  await rm(join(target, '.tidemark-lock'));
  const other = await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] });
  expect(await run(['--data', `${data}-other`, other])).toMatchObject({ code: 0 });
  const seen = await checkpoint();
  const before = await filesIn(target);
  const own = await readFile(await records('c.ndjson', { copper: [5] }));
  expect(await waiting.end(own)).toMatchObject({ code: codeOf('busy') });
  expect([...(await filesIn(target)).keys()].filter((path) => !/\/pages\//.test(path))).toEqual([...before.keys()]);
  expect(await checkpoint()).toBe(seen);
  await expectWhole(seen);
  expect(await run([await records('c.ndjson', { copper: [5] })])).toMatchObject({ report: { observations: 6 } });
  await expectWhole(seen);
});

test('without the key of the state, a run is refused', async () => {
  const { job, target, data } = await jobs();
  const before = await filesIn(target);
  for (const TIDEMARK_STATE_KEY of [await newKey(), '', 'AGE-SECRET-KEY-1QQ']) {
    expect(await job([], { TIDEMARK_STATE_KEY })).toMatchObject({ code: codeOf('refused') });
    expect(existsSync(join(data, 'ledger.sqlite'))).toBe(false);
  }
  expect(await filesIn(target)).toEqual(before);
});

test('a state that cannot be used is refused, and nothing is written', async () => {
  const { job, records, state, stateKey, target, data } = await jobs();
  const stale = await readFile(state);
  expect(await job([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })])).toMatchObject({ code: 0 });
  const right = await readFile(state);
  const other = await openRunWorld({ TIDEMARK_STATE_KEY: stateKey });
  await other.run([await other.records('a.ndjson', { tin: [1] }), '--to', other.target, '--state', 'in-target']);
  const changed = Buffer.from(right);
  changed[changed.length - 40] = (changed.at(-40) as number) ^ 1;
  const cases = {
    'a byte is changed': changed,
    'it is cut short': right.subarray(0, -200),
    'it is missing': null,
    'it is older than the public files': stale,
    'it is of another log': await readFile(join(other.target, STATE_NAME)),
  };
  const words = [await records('c.ndjson', { copper: [5] })];
  for (const [what, bytes] of Object.entries(cases)) {
    await rm(state, { force: true });
    if (bytes !== null) await writeFile(state, bytes);
    const before = await filesIn(target);
    expect(await job(words), what).toMatchObject({ code: codeOf('refused') });
    expect(await filesIn(target), what).toEqual(before);
    expect(existsSync(join(data, 'ledger.sqlite')), what).toBe(false);
  }
});

test('with a lost state, a job may begin from the log', async () => {
  const { job, records, state, checkpoint, expectWhole } = await jobs();
  const seen = await checkpoint();
  await rm(state);
  expect(await job([await records('b.ndjson', { copper: [5] }), '--from-log'])).toMatchObject({ code: 0 });
  expect(await job([await records('c.ndjson', { tin: [5] })])).toMatchObject({ report: { observations: 6 } });
  await expectWhole(seen);
});

test('a data folder and a target that have both gone on are not mixed', async () => {
  const { run, job, records, target, data, folder } = await jobs();
  const [before, other] = [join(folder, 'before'), `${data}-other`];
  cpSync(target, before, { recursive: true });
  await run([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })]);
  await rename(data, other);
  await rm(target, { recursive: true });
  await rename(before, target);
  await job([await records('c.ndjson', { copper: [5] })]);
  const published = await filesIn(target);
  expect(await run(['--data', other])).toMatchObject({ code: codeOf('refused') });
  expect(await filesIn(target)).toEqual(published);
});

test('a new key seals the next state, while the old one still opens it', async () => {
  const { job, records, stateKey } = await jobs();
  const next = await newKey();
  const both = { TIDEMARK_STATE_KEY: `# as age-keygen writes it\n${next}${stateKey}` };
  expect(await job([await records('b.ndjson', { copper: [5] })], both)).toMatchObject({ code: 0 });
  expect(await job([], { TIDEMARK_STATE_KEY: next })).toMatchObject({ code: codeOf('unchanged') });
  expect(await job([])).toMatchObject({ code: codeOf('refused') });
});

test('no byte of the target shows what is private', async () => {
  const { job, folder, target, data, stateKey, key } = await jobs();
  const source = await startSource(folder);
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  const planted = { description: 'Ask planted.person@private.example, who has planted-words.' };
  const recipe = JSON.stringify(recipeWith({ ...planted, url: `${source.origin}/daily.csv`, hosts: [source.origin] }));
  await writeFile(source.recipe, recipe);
  expect(await job(['--source', source.recipe], { TIDEMARK_SOURCE_HOSTS: source.origin })).toMatchObject({ code: 0 });
  const secret = (await readFile(join(data, 'secret'), 'utf8')).trim();
  const privates = ['planted.person', 'planted-words', secret, stateKey.trim(), key, 'SQLite format 3'];
  for (const path of (await filesIn(target)).keys()) {
    const bytes = await readFile(join(target, path));
    expect(privates.filter((text) => bytes.includes(text)).map((text) => `${path}: ${text}`)).toEqual([]);
  }
  // The plants are in the state, and the log's key is not.
  const opened = join(await temporaryFolder(), 'opened');
  await mkdir(opened);
  const store = stateInFolder(target);
  const stored = (await store.find()) as StoredState;
  await unsealState(stored, opened, store, await readStateKey({ TIDEMARK_STATE_KEY: stateKey }));
  const copy = openLedgerCopy(join(opened, 'ledger.sqlite'));
  expect((await copy.get(sourceKey('metals')))?.value.recipe).toMatchObject(planted);
  copy.close();
  expect((await readFile(join(opened, 'secret'), 'utf8')).trim()).toBe(secret);
  for (const path of (await filesIn(opened)).keys()) {
    expect((await readFile(join(opened, path))).includes(key)).toBe(false);
  }
});
