/** `--from-log`: a job without a disk of its own, whose database is the log that its target publishes. */
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ed25519Signer, parseNote, privateNoteKey, signNote } from '../../contract/log/notes.ts';
import { incidentId, incidentsText } from '../../publisher/projections/incidents/incident.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { tidemarkHere } from '../cli/in-process.ts';
import { tidemark } from '../cli/tidemark.ts';
import { begunWorld, codeOf, filesIn, openRunWorld, serveFiles, verify } from './run-world.ts';

const GOLD = 'api/v1/markets/gold.json';
const COUNT_READS = join(import.meta.dirname, 'count-reads.ts');

const generationIn = async (target: string) =>
  JSON.parse(await readFile(join(target, 'api/v1/snapshot.json'), 'utf8')).generation;

/** The first run is done. Each `run` begins without a data folder. */
const jobs = begunWorld(async (folder) => {
  const world = await openRunWorld({}, folder);
  const run = async (words: readonly string[], environment?: Readonly<Record<string, string>>) => {
    await rm(world.data, { recursive: true, force: true });
    return await world.run([...words, '--to', world.target, '--from-log'], environment);
  };
  expect(await run([await world.records('a.ndjson', { gold: [1000, 1001, 1002], silver: [20] })])).toMatchObject({
    code: 0,
    report: { generation: 1, observations: 4 },
  });
  /** A run without news, and how often it has read each file of the target. */
  const counted = async () => {
    const file = join(world.folder, 'reads.json');
    const hook = { NODE_OPTIONS: `--import ${COUNT_READS}`, READS_BELOW: world.target, READS_FILE: file };
    const { report } = await run([], hook);
    return { report, reads: JSON.parse(await readFile(file, 'utf8')) as Record<string, number> };
  };
  return { ...world, run, counted, runOnce: world.run };
});

test('each run goes on with the log of the one before, and a correction too', async () => {
  const { run, records, target } = await jobs();
  const first = await run([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003], copper: [5] })]);
  expect(first).toMatchObject({ code: 0, report: { markets: 3, observations: 6, faults: [] } });
  expect(await run([await records('c.ndjson', { silver: [21] }), '--mode', 'correct'])).toMatchObject({ code: 0 });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('a run with news writes, and counts, only the files whose bytes change', async () => {
  const { run, records, target } = await jobs();
  const before = await filesIn(target);
  const { report } = await run([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })]);
  const after = await filesIn(target);
  const digests = (files: typeof before) => new Map([...files].map(([path, state]) => [path, state.split(' ')[0]]));
  const [bytesBefore, bytesAfter] = [digests(before), digests(after)];
  const changed = (from: ReadonlyMap<string, unknown>, to: ReadonlyMap<string, unknown>) =>
    [...to.keys()].filter((path) => !path.startsWith('.') && from.get(path) !== to.get(path));
  expect(changed(before, after)).toEqual(changed(bytesBefore, bytesAfter));
  expect(report).toMatchObject({ publicFiles: { written: changed(bytesBefore, bytesAfter).length } });
});

test('a run without news reads each file outside the log once, and says the public generation', async () => {
  const { target, counted } = await jobs();
  const { report, reads } = await counted();
  expect(report).toMatchObject({ outcome: 'unchanged', generation: await generationIn(target) });
  const again = Object.keys(reads).filter((path) => (reads[path] as number) > 1 && !path.startsWith('api/v1/log/'));
  expect(again).toEqual(['api/v1/snapshot.json']);
  expect(reads).toMatchObject({ [GOLD]: 1, 'api/v1/markets/gold/history.json': 1 });
});

test('a run without news puts back files that somebody has changed or deleted', async () => {
  const { run, target } = await jobs();
  const fileOf = (path: string) => join(target, 'api/v1', path);
  for (const path of ['markets/gold.json', 'markets/silver/history.json', 'latest.json'])
    await writeFile(fileOf(path), `${await readFile(fileOf(path), 'utf8')} `);
  for (const path of ['markets/gold/history.json', 'markets.json', 'latest/all.csv']) await rm(fileOf(path));
  expect(await run([])).toMatchObject({ code: 0, report: { observations: 4 } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  expect(await run([])).toMatchObject({ code: codeOf('unchanged') });
});

test('a run without news publishes the pages again after a move to another address', async () => {
  const { run, target } = await jobs();
  const at = (host: string) => run([], { TIDEMARK_READ_BASE_URL: `https://${host}.example` });
  expect(await at('old')).toMatchObject({ code: 0, report: { observations: 4 } });
  expect(await at('new')).toMatchObject({ code: 0, report: { observations: 4 } });
  for (const path of ['index.html', 'docs/index.html']) {
    const text = await readFile(join(target, path), 'utf8');
    expect([path, text.includes('https://new.example'), text.includes('https://old.example')]).toEqual([
      path,
      true,
      false,
    ]);
  }
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  expect(await at('new')).toMatchObject({ code: codeOf('unchanged'), report: { publicFiles: { written: 0 } } });
});

test('the note of the files counts only for these files, and with the key of the log', async () => {
  const { run, counted, target, key } = await jobs();
  const note = join(target, '.tidemark-files');
  const signed = await readFile(note, 'utf8');
  await writeFile(join(target, GOLD), `${await readFile(join(target, GOLD), 'utf8')} `);
  expect(await run([])).toMatchObject({ code: 0 });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });

  // All files are read once more, and compared with the log.
  const { text } = parseNote(await readFile(note, 'utf8'));
  const other = ed25519Signer(privateNoteKey(ed25519Signer(key).name, Buffer.alloc(32, 1)));
  for (const wrong of [signed, await signNote(text, [other]), 'nothing']) {
    await writeFile(note, wrong);
    const { report, reads } = await counted();
    expect([report.outcome, reads[GOLD]]).toEqual(['unchanged', 2]);
  }
});

test('killed at any rename, the next run goes on', async () => {
  const { run, records, target, data, dieAt } = await jobs();
  const words = [await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] }), '--to', target, '--from-log'];
  const dieWithoutData = async (rename: number) => {
    await rm(data, { recursive: true, force: true });
    await dieAt(rename, words);
  };
  await dieWithoutData(2);
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  // Between two public files.
  await dieWithoutData(12);
  expect(await run(words.slice(0, 1))).toMatchObject({ report: { observations: 5, faults: [] } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('a run without news mends a target whose run was killed before the checkpoint', async () => {
  const { run, records, target, folder } = await jobs();
  const before = join(folder, 'before');
  cpSync(target, before, { recursive: true });
  expect(await run([await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] })])).toMatchObject({ code: 0 });
  for (const path of ['api/v1/log/checkpoint', 'api/v1/snapshot.json']) cpSync(join(before, path), join(target, path));
  expect(await run([])).toMatchObject({ code: 0, report: { observations: 4 } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  expect(await run([])).toMatchObject({ code: codeOf('unchanged') });
});

test('a new target takes the log of another place over', async () => {
  const world = await jobs();
  await rm(world.data, { recursive: true });
  const other = join(world.folder, 'other');
  const run = await world.runOnce(['--to', other, '--from-log', await serveFiles(world.target)]);
  expect(run).toMatchObject({ code: 0, report: { observations: 4 } });
  expect(await verify(other)).toMatchObject({ code: 0, output: '' });
});

test('without the key of the log, and with another one, the run is refused, and nothing is written', async () => {
  const { run, records, target } = await jobs();
  const before = await filesIn(target);
  const words = [await records('b.ndjson', { gold: [7] })];
  const { key } = await openRunWorld();
  for (const TIDEMARK_LOG_KEY of ['', key]) {
    expect(await run(words, { TIDEMARK_LOG_KEY })).toMatchObject({ code: codeOf('refused') });
    expect(await filesIn(target)).toEqual(before);
  }
});

test('a target that has lost its checkpoint is refused: a new log would be a fork', async () => {
  const { run, records, target } = await jobs();
  await rm(join(target, 'api/v1/log/checkpoint'));
  const before = await filesIn(target);
  expect(await run([await records('b.ndjson', { gold: [7] })])).toMatchObject({ code: codeOf('refused') });
  expect(await filesIn(target)).toEqual(before);
});

test('incidents are not in the log: a run keeps those that the target shows', async () => {
  const { run, records, target } = await jobs();
  const settings = { TIDEMARK_PROJECTIONS: 'log,latest,feeds' };
  expect(await run([await records('c.ndjson', { tin: [7] })], settings)).toMatchObject({ code: 0 });
  const path = join(target, 'api/v1/incidents.json');
  const { since } = JSON.parse(await readFile(path, 'utf8'));
  const incident = { kind: 'source-late', about: 'a source', markets: 2, startedAt: since, endedAt: since } as const;
  const text = incidentsText(since, new Map([[incidentId(incident), incident]]));
  await writeFile(path, text);
  const news = await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] });
  expect(await run([news], settings)).toMatchObject({ code: 0 });
  expect(await readFile(path, 'utf8')).toBe(text);
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  const before = await filesIn(target);
  expect(await run([], settings)).toMatchObject({ code: codeOf('unchanged') });
  expect(await filesIn(target)).toEqual(before);
});

test('a folder whose first run was refused begins from the log, too; one that has published goes on', async () => {
  const world = await jobs();
  const words = ['--to', join(world.folder, 'other'), '--from-log'];
  const unreachable = [...words, join(world.folder, 'nosuch')];
  const named = [...words, await serveFiles(world.target)];
  await rm(world.data, { recursive: true });
  // As a run leaves it that ends before it takes anything in.
  (await openDataFolder(world.data)).close();
  expect(await world.runOnce(unreachable)).toMatchObject({ code: codeOf('refused') });
  expect(await world.runOnce(named)).toMatchObject({ code: 0, report: { observations: 4 } });
  expect(await verify(join(world.folder, 'other'))).toMatchObject({ code: 0, output: '' });
  expect(await world.runOnce(unreachable)).toMatchObject({ code: codeOf('unchanged') });
});

test('a changed file of the same size is put back by the next run, with a data folder that was begun from the log', async () => {
  const { run, runOnce, target } = await jobs();
  expect(await run([])).toMatchObject({ code: codeOf('unchanged') });
  const path = join(target, GOLD);
  const right = await readFile(path, 'utf8');
  for (let round = 0; round < 2; round++) {
    await writeFile(path, right.replace('1002', '1003'));
    expect(await runOnce(['--to', target, '--from-log'])).toMatchObject({ code: 0 });
    expect(await readFile(path, 'utf8')).toBe(right);
    expect(await runOnce(['--to', target, '--from-log'])).toMatchObject({ code: codeOf('unchanged') });
  }
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

describe('two jobs at once, each with a data folder', () => {
  test('the later one waits, and goes on from what the other has published', async () => {
    const { runOnce, blocked, records, data, target, folder } = await jobs();
    await rm(data, { recursive: true });
    execFileSync('git', ['-C', target, 'init', '--quiet']);
    const words = ['--to', target, '--from-log'];
    const first = await blocked(words);
    const other = [await records('b.ndjson', { copper: [5] }), ...words, '--data', join(folder, 'other')];
    const before = await filesIn(target);
    expect(await runOnce([...other, '--wait', '0'])).toMatchObject({ code: codeOf('busy') });
    expect(await filesIn(target)).toEqual(before);
    execFileSync('git', ['-C', target, 'add', '--all']);
    const added = execFileSync('git', ['-C', target, 'ls-files'], { encoding: 'utf8' });
    expect(added.includes('-lock')).toBe(false);

    const second = runOnce(other);
    expect(await first.end(await readFile(await records('c.ndjson', { tin: [7] })))).toMatchObject({ code: 0 });
    expect(await second).toMatchObject({ code: 0, report: { markets: 4, faults: [] } });
    expect(await verify(target)).toMatchObject({ code: 0, output: '' });
    expect([...(await filesIn(target)).keys()].filter((path) => path.includes('-lock'))).toEqual([]);
  });

  test('started in the same moment, both are published in one log', async () => {
    const { runOnce, records, target, folder } = await jobs();
    const ended = ['tin', 'zinc', 'lead'].map(async (slug) => {
      const file = await records(`${slug}.ndjson`, { [slug]: [5] });
      return await runOnce([file, '--to', target, '--from-log', '--data', join(folder, slug)]);
    });
    expect((await Promise.all(ended)).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  });

  test('one that was killed holds nobody up', async () => {
    const { runOnce, dieAt, records, data, target, folder } = await jobs();
    await rm(data, { recursive: true });
    const words = [await records('b.ndjson', { copper: [5] }), '--to', target, '--from-log'];
    expect((await dieAt(12, words)).code).toBeNull();
    const run = await runOnce([...words, '--data', join(folder, 'other'), '--wait', '0']);
    expect(run).toMatchObject({ report: { markets: 3, faults: [] } });
    expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  });
});

test('a run does not begin from the log in a folder where the restore of a backup was interrupted', async () => {
  const { runOnce, records, target, data, folder } = await jobs();
  const backups = join(folder, 'backups');
  expect(await tidemarkHere(['backup', backups, '--data', data])).toMatchObject({ code: 0 });
  // The files of the backup get their names, then the mark.
  const hook = {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, '../server/die-at-rename.ts')}`,
    DIE_AT_RENAME: '6',
  };
  const restore = ['restore', backups, '--data', data, '--replace'];
  expect(await tidemark(restore, { environment: hook })).toMatchObject({ code: null });
  const before = await readdir(data);
  expect(before).toContain('restoring');
  const words = [await records('b.ndjson', { gold: [1000, 1001, 1002, 1003] }), '--to', target, '--from-log'];
  expect(await runOnce(words)).toMatchObject({
    code: codeOf('refused'),
    report: { detail: expect.stringContaining('tidemark restore') },
  });
  expect(await readdir(data)).toEqual(before);
  expect(await tidemarkHere(restore)).toMatchObject({ code: 0 });
  expect(await runOnce(words)).toMatchObject({ code: 0, report: { observations: 5 } });
});
