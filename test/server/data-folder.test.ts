import { spawnSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { FolderInUse, StartError } from '../../server/service/start-error.ts';
import { FORMAT_KEY, LEDGER_FORMAT, OLDEST_FORMAT } from '../../storage/records/formats.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const key = { partition: 'a', sort: 'b' };
const put = { kind: 'put', key, revision: 7, value: null, if: { kind: 'any' } } as const;

test('an open folder has one owner', async () => {
  const folder = await temporaryFolder();
  const data = await openDataFolder(folder);
  await expect(openDataFolder(folder)).rejects.toThrow(StartError);
  await data.ledger.transact([put], { attemptId: 'one' });
  data.close();
  (await openDataFolder(folder)).close();
});

test('a folder whose ledger another program has locked names no process that has ended', async () => {
  const folder = await temporaryFolder();
  (await openDataFolder(folder)).close();
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(join(folder, 'process-id'), `${pid}\n`);
  const program = new DatabaseSync(join(folder, 'ledger.sqlite'));
  program.exec('BEGIN IMMEDIATE');
  const refused = await openDataFolder(folder).catch((error: unknown) => error);
  program.close();
  expect(refused).toBeInstanceOf(FolderInUse);
  expect((refused as Error).message).not.toContain(`process ${pid}`);
});

describe('an unusable folder is refused in one line that names it', () => {
  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['a file in its place', (folder) => writeFile(folder, 'x')],
    [
      'a file in the place of the objects',
      async (folder) => {
        await mkdir(folder);
        await writeFile(join(folder, 'public'), 'x');
      },
    ],
    ['a folder in the place of the ledger', (folder) => mkdir(join(folder, 'ledger.sqlite'), { recursive: true })],
    [
      'a ledger that is something else',
      async (folder) => {
        await mkdir(folder);
        await writeFile(join(folder, 'ledger.sqlite'), 'x'.repeat(8192));
      },
    ],
  ])('%s', async (_, prepare) => {
    const folder = join(await temporaryFolder(), 'data');
    await prepare(folder);
    const error = await openDataFolder(folder).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toContain(folder);
    expect((error as Error).message).not.toContain('\n');
    expect((error as Error).cause).toBeInstanceOf(Error);
  });

  test('a refused folder is not locked afterwards', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'public'), 'x');
    await expect(openDataFolder(folder)).rejects.toThrow(StartError);
    await rm(join(folder, 'public'));
    (await openDataFolder(folder)).close();
  });
});

describe('a folder of another format is refused in one line that names both, and left as it is:', () => {
  const LATER = LEDGER_FORMAT + 1;
  const EARLIER = OLDEST_FORMAT - 1;
  const expectRefused = async (folder: string, format: number) => {
    const error = await openDataFolder(folder).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StartError);
    const { message } = error as Error;
    for (const part of [folder, `format ${format}`, `format ${LEDGER_FORMAT}`]) expect(message).toContain(part);
    expect(message).not.toContain('\n');
  };

  test.each([LATER, EARLIER])('by its file, %s', async (format) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'format'), `${format}\n`);
    await expectRefused(folder, format);
    expect(await readdir(folder)).toEqual(['format']);
  });

  test.each([LATER, EARLIER])('by its ledger, %s', async (format) => {
    const folder = await temporaryFolder();
    const value = { format };
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'));
    await putItem(ledger, FORMAT_KEY, value, format);
    ledger.close();
    const before = await readdir(folder);
    await expectRefused(folder, format);
    expect(await readdir(folder)).toEqual(before);
    const after = openSqliteLedger(join(folder, 'ledger.sqlite'));
    expect((await after.get(FORMAT_KEY))?.value).toEqual(value);
    after.close();
  });

  test('also a file without a number', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'format'), 'two');
    await expect(openDataFolder(folder)).rejects.toThrow(StartError);
  });
});
