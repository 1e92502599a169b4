/**
 * `npm run restore -- DIR`, `npm run repair` and `npm run verify:audit`, as an operator types them, on the data folder of a
 * stopped server.
 */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { privateNoteKey } from '../../contract/log/notes.ts';
import { createAuditSealer } from '../../lambdas/review/seal-audit.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readLastBackup } from '../../server/backup/last-backup.ts';
import { backUp } from '../../server/commands/backup.ts';
import { type DataFolder, openDataFolder } from '../../server/folder/data-folder.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { observationsOf } from '../../storage/records/markets.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { faultsOfLog } from '../publisher/log/log-oracle.ts';
import { LOG_ORIGIN, withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price, readerOf } from '../publisher/world.ts';
import { deleteItem } from '../storage/put-item.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { openApiWorld } from '../write-api/world.ts';

const run = (command: 'restore' | 'repair' | 'verify-audit', data: string, ...words: readonly string[]) =>
  tidemark([command, ...words, '--data', data]);

let folder: string;

/** Uses the folder as a server does, and closes it. */
async function use<Result>(
  work: (data: DataFolder, dependencies: ReturnType<typeof dependenciesOn>) => Promise<Result>,
) {
  const data = await openDataFolder(folder);
  try {
    const dependencies = dependenciesOn(data.ledger, data.objects, { nowMs: Date.now() }, DEFAULT_PAGE_SIZES);
    return await work(data, withLog(dependencies));
  } finally {
    data.close();
  }
}

const take = (records: readonly ReturnType<typeof price>[]) =>
  use(async ({ ledger }, dependencies) => {
    await createWorld(DEFAULT_PAGE_SIZES, ledger).ingest(records);
    await publish(dependencies);
  });

const tear = () =>
  use(async ({ ledger }) => {
    const [newest] = (await readAll(ledger, observationsOf('gold'))).slice(-1);
    if (newest === undefined) throw new Error('there is no observation');
    await deleteItem(ledger, newest);
  });

const expectPublished = (observations: number) =>
  use(async ({ objects }, dependencies) => {
    expect(await publish(dependencies)).toMatchObject({ deferred: [], isMoreDue: false });
    expect(await verify(readerOf(objects), { settled: true })).toMatchObject({ findings: [], observations });
    expect(await faultsOfLog(objects)).toEqual([]);
  });

beforeEach(async () => {
  folder = await temporaryFolder();
  await take([market('gold'), market('tin'), price('gold', 0, 1), price('gold', 1, 2), price('tin', 0, 3)]);
});

describe('npm run restore', () => {
  test('continues with a backup that is older than what is published, and has a torn transaction', async () => {
    await tear();
    const dir = await temporaryFolder();
    await backUp({ TIDEMARK_DATA: folder }, { dir, keep: 1, verify: false, progress: () => {} });
    await run('repair', folder, 'gold');
    await take([price('gold', 2, 5), market('zinc')]);
    await take([price('tin', 2, 5)]);

    const { code, output, errors } = await run('restore', folder, dir, '--replace');
    expect(code).toBe(0);
    expect(output + errors).not.toContain('The log goes on');
    expect(output).toContain('gold: repaired');
    expect(output).not.toContain('tin');
    await expectPublished(2);
    expect(await run('restore', folder, dir, '--replace')).toMatchObject({ code: 0 });
    await expectPublished(2);
    // The backup that it came from is one of it.
    const [name = ''] = await readdir(dir);
    expect(readLastBackup(folder)).toMatchObject({ backup: join(dir, name) });

    // Nobody there knows what followers of the log have seen.
    const elsewhere = await run('restore', await temporaryFolder(), dir);
    expect(elsewhere).toMatchObject({ code: 0 });
    expect(elsewhere.output + elsewhere.errors).toMatch(
      /The log continues after 6 entries[\s\S]*repeats all standing facts/,
    );
  });

  test('refuses the backup of another service before it changes anything, and names both logs', async () => {
    const dir = await temporaryFolder();
    await writeFile(join(folder, 'log-key'), privateNoteKey('other.example/log', Buffer.alloc(32, 7)), { mode: 0o600 });
    await backUp({ TIDEMARK_DATA: folder }, { dir, keep: 1, verify: false, progress: () => {} });
    await rm(join(folder, 'log-key'));
    const before = await readdir(folder);

    const { code, output, errors } = await run('restore', folder, dir, '--replace');
    expect([code, output]).toEqual([1, '']);
    for (const part of ['other.example/log', LOG_ORIGIN, 'Nothing was changed', '--data'])
      expect(errors).toContain(part);
    expect(await readdir(folder)).toEqual(before);
    expect(await run('restore', join(await temporaryFolder(), 'new'), dir)).toMatchObject({ code: 0 });
  });

  test('moves no files of others aside, such as a home that --data names by mistake', async () => {
    const [dir, home] = [await temporaryFolder(), await temporaryFolder()];
    await backUp({ TIDEMARK_DATA: folder }, { dir, keep: 1, verify: false, progress: () => {} });
    await writeFile(join(home, 'thesis.txt'), 'Chapter 1');
    expect(await run('restore', home, dir)).toMatchObject({ code: 1, output: '' });
    expect(await readdir(home)).toEqual(['thesis.txt']);
  });
});

describe('npm run repair', () => {
  test('repairs the named markets, prints each outcome, and fails for an unknown market', async () => {
    await tear();
    const { code, output, errors } = await run('repair', folder, 'gold', 'no-such-market', 'tin');
    expect(code).toBe(1);
    for (const part of ['gold: repaired', 'tin: adds up already']) expect(output).toContain(part);
    expect(errors).toContain('no-such-market');
    await expectPublished(2);
  });
});

test('an unusable folder is refused in one line, and nothing is created', async () => {
  const empty = await temporaryFolder();
  const { code, errors } = await run('repair', empty, 'gold');
  expect([code, errors.trim().split('\n')]).toEqual([1, [expect.stringContaining(empty)]]);
  const inUse = await openDataFolder(folder);
  const refused = await run('repair', folder, 'gold');
  inUse.close();
  expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('in use') });
});

describe('npm run verify:audit', () => {
  beforeEach(() =>
    use(async ({ ledger }) => {
      const world = openApiWorld({ ledger });
      world.nowMs = Date.now();
      await createAuditSealer({ ledger, nowMs: Date.now, newAttemptId: () => 'a seal' })();
      for (const name of ['One', 'Two', 'Three']) {
        await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name } });
      }
    }),
  );

  test('says that the audit is as it was written, and the digest of its last seal', async () => {
    const { code, output, errors } = await run('verify-audit', folder);
    expect([code, errors]).toEqual([0, '']);
    for (const part of ['3 audit records in 1 chains', /Sealed to \S+, digest [0-9a-f]{64}/]) {
      expect(output).toMatch(part);
    }
  });

  test.each([
    ['altered', "UPDATE items SET value = replace(value, 'user:alice', 'user:mallory')"],
    ['removed', 'DELETE FROM items'],
  ])('names the records that somebody has %s in the file', async (fault, change) => {
    const database = new DatabaseSync(join(folder, 'ledger.sqlite'));
    const place = `value LIKE '%"place":2%'`;
    const [second] = database.prepare(`SELECT sort FROM items WHERE partition LIKE 'audit/day/%' AND ${place}`).all();
    database.exec(`${change} WHERE partition LIKE 'audit/%' AND ${place}`);
    database.close();
    const { code, output, errors } = await run('verify-audit', folder);
    expect([code, errors]).toEqual([1, expect.stringMatching(/\d faults/)]);
    expect(output).toContain(`: ${fault}: `);
    if (fault === 'altered') expect(output).toContain(String(second?.sort));
  });
});
