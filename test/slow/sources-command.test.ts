/** `tidemark sources`: from a recipe to published values, beside a source on loopback. */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SourceRun } from '../../contract/operations/sources.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { tidemarkOnTerminal } from '../cli/tidemark.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { EXAMPLE_RECIPE, metalsCsv, recipeWith } from '../sources/example-recipe.ts';
import { startServerWithSource } from '../sources/source-process.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const DAY_ONE = metalsCsv(['gold', '2026-10-18', '4129.10'], ['silver', '2026-10-18', '50.20']);
const DAY_TWO = metalsCsv(['gold', '2026-10-18', '4129.20'], ['gold', '2026-10-19', '4140.00']);

const temporary = folderForAll();
let data: string;
let files: string;
let recipe: string;
let server: ServerProcess;

beforeAll(async () => {
  data = join(temporary.folder, 'data');
  files = join(temporary.folder, 'files');
  recipe = join(temporary.folder, 'metals.jsonc');
  await mkdir(files);
  await writeFile(join(files, 'daily.csv'), DAY_ONE);
  await writeFile(recipe, `// The metals.\n${JSON.stringify(EXAMPLE_RECIPE, null, 2)}\n`);
  await start();
});

afterAll(() => server.end('SIGKILL'));

async function start(): Promise<void> {
  server = startServerWithSource(data, files, ['metals.test.example'], { TIDEMARK_SAMPLE: 'no' });
  await server.started;
}

const run = (...words: readonly string[]) => tidemark(['sources', ...words, '--data', data]);
const runsOf = async (): Promise<readonly SourceRun[]> =>
  JSON.parse((await run('runs', 'metals', '--json')).output) as SourceRun[];

async function fieldsOf(...words: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { code, output, errors } = await run(...words);
  if (code !== 0) throw new Error(`${code}: ${errors}`);
  return Object.fromEntries(
    output
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string]),
  );
}

describe('sources add', () => {
  test.each([
    ['a fault', { url: 'http://metals.test.example/' }, /metals\.jsonc:\d+ \/url: .*https/],
    ['two faults', { hosts: [], name: 'Gold!' }, /\/name: .*\n.*\/hosts: /],
  ])('of a recipe with %s names it with its line, and sends nothing', async (_, change, pattern) => {
    const file = join(temporary.folder, 'faulty-metals.jsonc');
    await writeFile(file, JSON.stringify(recipeWith(change), null, 2));
    const { code, errors } = await tidemark(['sources', 'add', file, '--url', 'http://127.0.0.1:9']);
    expect(code).toBe(2);
    expect(errors).toMatch(pattern);
  });

  test('of a file that is not there is an error', async () => {
    expect(await run('add', 'no-such-file.jsonc')).toMatchObject({ code: 2, output: '' });
  });

  test('takes the recipe as it is, and says when it runs', async () => {
    const { code, output, errors } = await run('add', recipe);
    expect(code).toBe(0);
    expect(output).toMatch(/^next run\t\d{4}-\d\d-\d\dT16:30:00\.000Z$/m);
    expect(errors).toContain('tidemark sources run metals --wait');
    expect(JSON.parse((await run('show', 'metals', '--json')).output)).toMatchObject({ recipe: EXAMPLE_RECIPE });
  });

  test('refuses a source that exists, and says how to replace it', async () => {
    const { code, errors } = await run('add', recipe);
    expect(code).toBe(3);
    expect(errors).toContain('--replace');
    expect(await fieldsOf('add', recipe, '--replace')).toMatchObject({ name: 'metals', revision: '1' });
  });

  test('--replace of a source that does not exist is refused', async () => {
    const file = join(temporary.folder, 'other.jsonc');
    await writeFile(file, JSON.stringify(recipeWith({ name: 'other' })));
    expect(await run('add', file, '--replace')).toMatchObject({ code: 3, output: '' });
  });
});

describe('sources run', () => {
  test('takes the file in: the values are public, and the raw answer is in the archive, for its owner alone', async () => {
    const fields = await fieldsOf('run', 'metals', '--wait');
    expect(fields).toMatchObject({ state: 'taken-in', records: '4', stored: '4', 'rows refused': '0' });
    expect(fields.answer).toBe(`${DAY_ONE.length} bytes, SHA-256 ${sha256Hex(DAY_ONE)}`);
    await tidemark(['publish', 'gold-usd', '--data', data]);
    const shown = await tidemark(['markets', 'show', 'gold-usd', '--data', data]);
    expect(shown.output).toContain('price\t4129.10 USD per troy ounce, 2026-10-18T00:00:00Z');
    const file = join(data, 'archive', sha256Hex(DAY_ONE).slice(0, 2), sha256Hex(DAY_ONE));
    expect(await readFile(file)).toEqual(DAY_ONE);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('once more finds the file unchanged', async () => {
    expect(await fieldsOf('run', 'metals', '--wait')).toMatchObject({ state: 'unchanged', answer: '' });
  });

  test('of a file with refused rows takes in the others, and ends with 4', async () => {
    await writeFile(join(files, 'daily.csv'), Buffer.concat([DAY_TWO, Buffer.from('lead,2026-10-18,1\n')]));
    const { code, output, errors } = await run('run', 'metals', '--wait', '60');
    expect(code).toBe(4);
    expect(output).toContain('state\ttaken-in\n');
    expect(errors).toMatch(/^line 4: \S+: /m);
  });

  test('of a source that fails ends with 1, and says why and when it is tried again', async () => {
    await writeFile(join(files, 'daily.csv.status'), '503');
    const { code, output } = await run('run', 'metals', '--wait');
    expect(code).toBe(1);
    expect(output).toContain('reason\thttp-503: ');
    expect(output).toMatch(/^next run\t\d{4}-/m);
    expect((await run('list')).output).toMatch(/^metals\tscheduled, failed once\t\S+\tfailed\t/);
    await rm(join(files, 'daily.csv.status'));
  });

  test('without --wait does not wait', async () => {
    const { code, errors } = await run('run', 'metals', '--unconditional');
    expect(code).toBe(0);
    expect(errors).toContain('tidemark sources runs metals');
    await expect
      .poll(async () => (await runsOf())[0], { timeout: 30_000 })
      .toMatchObject({ outcome: 'taken-in', counts: { accepted: 0 } });
  });
});

describe('sources', () => {
  test('runs lists them, newest first', async () => {
    const outcomes = (await runsOf()).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['taken-in', 'failed', 'taken-in', 'unchanged', 'taken-in']);
    const lines = (await run('runs', 'metals', '--limit', '2')).output.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^run_\w+\t\S+\trequest\tfailed\t+.*http-503$/);
  });

  test('replay derives the same records, also of an older run', async () => {
    const oldest = (await runsOf()).at(-1)?.id as string;
    expect(await fieldsOf('replay', 'metals')).toMatchObject({ state: 'same' });
    expect(await fieldsOf('replay', 'metals', oldest)).toMatchObject({ state: 'same', cause: `replay of ${oldest}` });
    expect(await run('replay', 'metals', 'run_01JD8N5W5XQ6M4T0VZ8R2K7C3A')).toMatchObject({ code: 3 });
  });

  test('replay of a file that the archive has lost ends with 1', async () => {
    const oldest = (await runsOf()).at(-1)?.id as string;
    const file = join(data, 'archive', sha256Hex(DAY_ONE).slice(0, 2), sha256Hex(DAY_ONE));
    const bytes = await readFile(file);
    await writeFile(file, 'other bytes');
    const { code, output } = await run('replay', 'metals', oldest);
    expect([code, output]).toEqual([1, expect.stringContaining('archive-damaged')]);
    await writeFile(file, bytes);
  });

  test('list on a terminal is a table with a heading', async () => {
    const { code, output } = await tidemarkOnTerminal(['sources', 'list', '--data', data]);
    expect([code, output]).toEqual([0, expect.stringMatching(/NAME +STATE +LAST RUN +OUTCOME +NEXT RUN/)]);
    expect(JSON.parse((await run('list', '--json')).output)).toMatchObject([{ name: 'metals', failures: 0 }]);
  });

  test('pause and resume', async () => {
    expect(await fieldsOf('pause', 'metals')).toMatchObject({ state: 'paused', 'next run': '' });
    expect(await fieldsOf('resume', 'metals')).toMatchObject({ state: 'scheduled' });
    expect(await run('pause', 'no-such-source')).toMatchObject({ code: 3, output: '' });
  });

  test('go on after the server was killed and started again', async () => {
    await server.end('SIGKILL');
    await start();
    await writeFile(join(files, 'daily.csv'), metalsCsv(['gold', '2026-10-20', '4150.00']));
    expect(await fieldsOf('run', 'metals', '--wait')).toMatchObject({ state: 'taken-in', stored: '1' });
    expect((await readdir(join(data, 'archive'))).length).toBeGreaterThan(2);
  });

  test('a run is undone by its id, or by that of its upload', async () => {
    const [{ id, upload }] = (await runsOf()) as [SourceRun & { readonly upload: string }];
    const undo = async (...words: readonly string[]) => {
      const { code, output, errors } = await tidemark(['undo', ...words, '--json', '--data', data]);
      if (code !== 0) throw new Error(`${code}: ${errors}`);
      return JSON.parse(output)[0];
    };
    await tidemark(['publish', 'gold-usd', '--data', data]);
    // The upload is told its generation soon after readers see it.
    const first = await vi.waitFor(() => undo(id), { timeout: 60_000 });
    expect(first).toMatchObject({ dryRun: true, accepted: 1, refused: 0 });
    expect(await undo(upload, '--apply')).toMatchObject({ dryRun: false, accepted: 1, refused: 0 });
    const { output } = await tidemark(['markets', 'history', 'gold-usd', '--json', '--data', data]);
    expect(JSON.parse(output)[0]).toMatchObject({ retraction: 'mistake', observedAt: '2026-10-20T00:00:00Z' });
  });

  test('remove asks first, and needs --yes on a pipe', async () => {
    expect(await run('remove', 'metals')).toMatchObject({ code: 2 });
    expect(await run('remove', 'metals', '--yes')).toMatchObject({ code: 0 });
    expect(await run('show', 'metals')).toMatchObject({ code: 3 });
    expect((await run('list')).output).toBe('');
    expect((await runsOf()).length).toBeGreaterThan(5);
  });
});
