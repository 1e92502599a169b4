/** Backups and restores that end badly, by the command line: what is left can be used, or says that it cannot. */
import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { tidemarkHere } from '../cli/in-process.ts';
import { finished, MAIN, tidemark } from '../cli/tidemark.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

let data: string;
let dir: string;

const names = async (folder: string) => (await readdir(folder)).sort();
const idOf = (letter: string) => `upl_${letter.repeat(26)}`;
const upload = (letter: string, bytes = 10) =>
  writeFile(join(data, 'uploads', idOf(letter)), letter.repeat(bytes), { mode: 0o600 });
const uploads = () => names(join(data, 'uploads'));
const backUp = (...words: readonly string[]) => tidemarkHere(['backup', dir, '--data', data, '--json', ...words]);
const restore = (...words: readonly string[]) => tidemarkHere(['restore', dir, '--data', data, '--replace', ...words]);

beforeEach(async () => {
  data = join(await temporaryFolder(), 'data');
  dir = join(await temporaryFolder(), 'backups');
  const folder = await openDataFolder(data);
  await createWorld(DEFAULT_PAGE_SIZES, folder.ledger).ingest([market('gold'), price('gold', 0, 1)]);
  await publish(dependenciesOn(folder.ledger, folder.objects, { nowMs: Date.now() }, DEFAULT_PAGE_SIZES));
  folder.close();
  await mkdir(join(data, 'uploads'));
  await writeFile(join(data, 'secret'), 'one\n', { mode: 0o600 });
  await upload('A');
});

test('an upload that only older kept backups name stays, and they can be restored', async () => {
  const first = JSON.parse((await backUp('--keep', '2')).output).kept[0];
  await rm(join(data, 'uploads', idOf('A')));
  await upload('B');
  expect(JSON.parse((await backUp('--keep', '2')).output).kept).toHaveLength(2);
  expect(await restore('--from', first)).toMatchObject({ code: 0 });
  expect(await uploads()).toEqual([idOf('A')]);
  expect(await readFile(join(data, 'uploads', idOf('A')), 'utf8')).toBe('A'.repeat(10));
});

test('a restore that is killed before any of its renames: no server starts on a half of it, and it can be repeated', async () => {
  expect(await backUp()).toMatchObject({ code: 0 });
  await upload('B');
  const before = await names(data);
  const original = `${data}-original`;
  await cp(data, original, { recursive: true });
  const hook = join(import.meta.dirname, 'die-at-rename.ts');
  const outcomes: string[] = [];
  for (let n = 1; outcomes.at(-1) !== 'finished'; n += 1) {
    await rm(data, { recursive: true });
    await cp(original, data, { recursive: true });
    const environment = { NODE_OPTIONS: `--import ${hook}`, DIE_AT_RENAME: String(n) };
    const { code } = await tidemark(['restore', dir, '--data', data, '--replace'], { environment });
    // A server opens the folder in the same way.
    const look = await tidemarkHere(['gc', '--dry-run', '--data', data]);
    if (code === 0) outcomes.push('finished');
    else outcomes.push(look.code === 0 ? 'as before' : 'refused');
    if (outcomes.at(-1) === 'as before') {
      expect([n, await names(data)]).toEqual([n, before]);
      expect(await uploads()).toEqual([idOf('A'), idOf('B')]);
    }
    if (code !== 0) expect([n, await restore()]).toEqual([n, expect.objectContaining({ code: 0 })]);
    expect([n, await uploads()]).toEqual([n, [idOf('A')]]);
  }
  expect(new Set(outcomes)).toEqual(new Set(['as before', 'refused', 'finished']));
}, 180_000);

/** The command, where no file may become larger than so many blocks of 512 bytes. */
async function withinBlocks(blocks: number, command: string): Promise<readonly [number | null, readonly string[]]> {
  const script = `ulimit -f ${blocks}; exec '${process.execPath}' '${MAIN}' ${command} '${dir}' --data '${data}'`;
  const { code, errors } = await finished(spawn('sh', ['-c', script], { env: { PATH: process.env.PATH } }));
  return [code, errors.split('\n')];
}

test('a backup or a restore that fails because the disk is full leaves nothing on it', async () => {
  await upload('B', 2_000_000);
  const isNamed = [1, [expect.stringContaining(idOf('B')), '']];
  // The ledger is copied, and this upload is not.
  expect(await withinBlocks(2048, 'backup')).toEqual(isNamed);
  expect((await names(dir)).filter((name) => name.endsWith('Z'))).toEqual([]);
  expect(await backUp()).toMatchObject({ code: 0 });
  const before = await names(data);
  expect(await withinBlocks(2048, 'restore --replace')).toEqual(isNamed);
  expect(await names(data)).toEqual(before);
  // All is copied, and the mark cannot be written.
  await mkdir(join(data, 'restoring.partial'));
  expect(await restore()).toMatchObject({ code: 1 });
  expect(await names(data)).toEqual([...before, 'restoring.partial'].sort());
});
