import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Json } from '../../contract/values/canonical-json.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, PutChange } from '../../storage/ports/ledger.ts';
import { copyDatabase } from '../../storage/sqlite/sqlite-copy.ts';
import { openSqliteLedger, type SqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { runUntilKilled, startChild } from './child-process.ts';
import { ledgerContract } from './ledger-contract.ts';
import { makeTemporaryFolder, temporaryFolder } from './temporary-folder.ts';

// Other processes start and die here, on machines that have other things to do.
vi.setConfig({ testTimeout: 30_000 });

ledgerContract('the SQLite ledger in memory', async () => {
  const ledger = openSqliteLedger(':memory:');
  return { ledger, reopen: async () => ledger, close: async () => ledger.close() };
});

for (const isBulk of [false, true])
  ledgerContract(`the SQLite ledger in a file${isBulk ? ' that is filled in bulk' : ''}`, async () => {
    const { folder, remove } = await makeTemporaryFolder();
    const path = join(folder, 'ledger.sqlite');
    let ledger: SqliteLedger = openSqliteLedger(path, { exclusive: true, isBulk });
    return {
      ledger,
      reopen: async () => {
        ledger.close();
        ledger = openSqliteLedger(path, { exclusive: true });
        return ledger;
      },
      close: async () => {
        ledger.close();
        await remove();
      },
    };
  });

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

const put = (sort: string, value: Json = sort): Change => ({
  kind: 'put',
  key: { partition: 'shelf', sort },
  revision: 1,
  value,
  if: { kind: 'absent' },
});

/** A closed ledger of several pages, all of it in one file. */
async function writtenLedger(): Promise<string> {
  const path = join(await temporaryFolder(), 'ledger.sqlite');
  const ledger = openSqliteLedger(path);
  for (let item = 0; item < 50; item++) {
    await ledger.transact([put(`item-${item}`, 'x'.repeat(1000))], { attemptId: `attempt-${item}` });
  }
  ledger.close();
  return path;
}

/** Opens the file and reads all of it: damage may show at either. */
async function openAndRead(path: string): Promise<void> {
  const ledger = openSqliteLedger(path);
  try {
    await ledger.query('shelf', { limit: 1000 });
  } finally {
    ledger.close();
  }
}

function alter(path: string, ...statements: string[]): void {
  const database = new DatabaseSync(path);
  for (const statement of statements) database.exec(statement);
  database.close();
}

describe('the SQLite ledger', () => {
  test('loses nothing that it acknowledged, and tears nothing apart, when its process is killed', async () => {
    const death = fc.record({ afterLines: fc.integer({ min: 1, max: 400 }), delayMs: fc.integer({ min: 0, max: 5 }) });
    await fc.assert(
      fc.asyncProperty(death, async (death) => {
        const { folder, remove } = await makeTemporaryFolder();
        const path = join(folder, 'ledger.sqlite');
        const acknowledged = await runUntilKilled('write-ledger', path, death);
        const ledger = openSqliteLedger(path, { exclusive: true });
        const [left, right] = await Promise.all([everything(ledger, 'left'), everything(ledger, 'right')]);
        ledger.close();
        await remove();
        // The last pair may have been committed, but not yet acknowledged.
        expect([acknowledged, acknowledged + 1]).toContain(left.length);
        expect(left).toEqual(Array.from({ length: left.length }, (_, index) => index + 1));
        expect(right).toEqual(left);
      }),
      { numRuns: 3 },
    );
  });

  test('keeps other processes out while one owns it, and lets them in afterwards', async () => {
    const path = await writtenLedger();
    const ledger = openSqliteLedger(path, { exclusive: true });
    expect(await startChild('open-ledger', path).said).toEqual(['StorageUnavailable']);
    await ledger.transact([put('still works')], { attemptId: 'attempt' });
    expect(() => openSqliteLedger(path, { exclusive: true })).toThrow(StorageUnavailable);
    ledger.close();
    expect(await startChild('open-ledger', path).said).toEqual(['opened']);
  });

  test('does not take a ledger for itself while others use it', async () => {
    const path = await writtenLedger();
    const ledger = openSqliteLedger(path);
    expect(() => openSqliteLedger(path, { exclusive: true })).toThrow(StorageUnavailable);
    ledger.close();
  });

  test('is shared by processes that open it at the same moment and count in it together', async () => {
    const path = join(await temporaryFolder(), 'new', 'ledger.sqlite');
    const children = Array.from({ length: 4 }, () => startChild('count-in-ledger', path));
    await Promise.all(children.map((child) => child.said));
    expect(children.map((child) => child.process.exitCode)).toEqual([0, 0, 0, 0]);
    const ledger = openSqliteLedger(path);
    expect(await ledger.get({ partition: 'shared', sort: 'counter' })).toMatchObject({ revision: 200 });
    ledger.close();
  });

  const ITEM = { partition: 'shelf', sort: 'item-7' };
  const COUNTER = { partition: 'shelf', sort: 'counter' };

  test.each<[string, Change]>([
    ['counts', { kind: 'count', key: COUNTER, by: 1, atLeast: 0, atMost: 5 }],
    ['replaces', { kind: 'put', key: ITEM, revision: 2, value: 'new', if: { kind: 'present' } }],
    ['deletes', { kind: 'delete', key: ITEM, if: { kind: 'revision-is', revision: 1 } }],
  ])('lets no other process write between the read and the write of a transaction that %s', async (_, change) => {
    const path = await writtenLedger();
    const ledger = openSqliteLedger(path);
    onTestFinished(() => ledger.close());
    // A connection acts as a process. This one does not wait for locks.
    const other = new DatabaseSync(path, { timeout: 0 });
    onTestFinished(() => other.close());
    const attempts: unknown[] = [];
    const { get } = StatementSync.prototype;
    const reading = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (
      this: StatementSync,
      ...keys
    ) {
      const row = Reflect.apply(get, this, keys);
      try {
        attempts.push(other.exec(`UPDATE items SET revision = 9 WHERE sort = 'item-8'`));
      } catch (error) {
        attempts.push((error as { errcode?: number }).errcode);
      }
      return row;
    });
    const result = ledger.transact([change], { attemptId: 'reads-first' });
    reading.mockRestore();
    expect(await result).toEqual({ committed: true });
    expect(attempts).toEqual([SQLITE_BUSY]);
    other.exec(`UPDATE items SET revision = 9 WHERE sort = 'item-8'`);
    expect(await ledger.get({ partition: 'shelf', sort: 'item-8' })).toMatchObject({ revision: 9 });
  });

  test.each<[string, (path: string) => Promise<void> | void]>([
    ['garbage instead of a database', (path) => writeFile(path, randomBytes(20_000))],
    ['a database cut in half', async (path) => truncate(path, (await stat(path)).size / 2)],
    ['a header cut off', (path) => truncate(path, 50)],
    ['pages overwritten', (path) => overwrite(path, 4096, 40_000)],
    ['a value that is not JSON', (path) => alter(path, `UPDATE items SET value = '{' WHERE sort = 'item-7'`)],
    [
      'the database of another program',
      (path) => alter(path, 'DROP TABLE items; CREATE TABLE t (a); PRAGMA user_version = 0'),
    ],
    ['a schema of a later version', (path) => alter(path, 'PRAGMA user_version = 4')],
    ['a schema from before the first release', (path) => alter(path, 'PRAGMA user_version = 2')],
  ])('finds %s corrupt', async (_what, damage) => {
    const path = await writtenLedger();
    await damage(path);
    await expect(openAndRead(path)).rejects.toBeInstanceOf(StorageCorrupt);
  });

  test('leaves a file alone that it cannot read', async () => {
    const path = join(await temporaryFolder(), 'ledger.sqlite');
    await writeFile(path, 'my diary\n'.repeat(1000));
    expect(() => openSqliteLedger(path)).toThrow(StorageCorrupt);
    expect(await readFile(path, 'utf8')).toBe('my diary\n'.repeat(1000));
  });

  test.each(['file/ledger.sqlite', 'file/deeper/ledger.sqlite', 'folder'])('is unavailable at %s', async (place) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'folder'));
    expect(() => openSqliteLedger(join(folder, place))).toThrow(StorageUnavailable);
  });

  test('is unavailable once closed, and may be closed twice', async () => {
    const ledger = openSqliteLedger(':memory:');
    ledger.close();
    ledger.close();
    const key = { partition: 'shelf', sort: 'item' };
    const calls = [
      ledger.transact([put('item')], { attemptId: 'a' }),
      ledger.get(key),
      ledger.getMany([key]),
      ledger.query('shelf', { limit: 1 }),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
    }
  });

  test('is unavailable when the disk is full, and works on once it is not', async () => {
    const { ledger, database } = await openWatched();
    database.exec('PRAGMA max_page_count = 20');
    const big = ledger.transact([put('small'), put('big', 'x'.repeat(300_000))], { attemptId: 'big' });
    await expect(big).rejects.toBeInstanceOf(StorageUnavailable);
    database.exec('PRAGMA max_page_count = 1000000');
    expect((await ledger.query('shelf', { limit: 10 })).items).toEqual([]);
    expect(await ledger.transact([put('small')], { attemptId: 'small' })).toEqual({ committed: true });
  });

  test('leaves no transaction open when it meets a corrupt item in one', async () => {
    const path = await writtenLedger();
    alter(path, `UPDATE items SET value = '{' WHERE sort = 'item-7'`);
    const ledger = openSqliteLedger(path);
    onTestFinished(() => ledger.close());
    const refused = ledger.transact([put('new'), put('item-7')], { attemptId: 'meets it' });
    await expect(refused).rejects.toBeInstanceOf(StorageCorrupt);
    expect(await ledger.transact([put('new')], { attemptId: 'does not' })).toEqual({ committed: true });
  });

  test('ends a page of large items early, with a continuation', async () => {
    const ledger = openSqliteLedger(':memory:');
    onTestFinished(() => ledger.close());
    for (const sort of ['1', '2', '3', '4', '5', '6']) {
      await ledger.transact([put(sort, 'x'.repeat(300_000))], { attemptId: sort });
    }
    const { items, next } = await ledger.query('shelf', { limit: 6 });
    expect([items.map((item) => item.sort), next]).toEqual([['1', '2', '3', '4'], '4']);
  });

  test('finds out whether it can be written: by a write, and whether that would be lost', async () => {
    const path = join(await temporaryFolder(), 'ledger.sqlite');
    const ledger = openSqliteLedger(path, { exclusive: true });
    onTestFinished(() => ledger.close());
    const logBytes = async () => (await stat(`${path}-wal`)).size;
    const before = await logBytes();
    ledger.checkWritable();
    expect(await logBytes()).toBeGreaterThan(before);
    await rename(path, `${path}-away`);
    expect(() => ledger.checkWritable()).toThrow(StorageUnavailable);
    await expect(ledger.transact([put('lost')], { attemptId: 'lost' })).rejects.toBeInstanceOf(StorageUnavailable);
    await writeFile(path, '');
    expect(() => ledger.checkWritable()).toThrow(StorageUnavailable);
    await rename(`${path}-away`, path);
    ledger.checkWritable();
  });

  test('is copied also if the copy begins within a transaction', async () => {
    const [path, copy] = [await writtenLedger(), join(await temporaryFolder(), 'copy.sqlite')];
    await writeFile(copy, '');
    const database = new DatabaseSync(path);
    database.exec("BEGIN IMMEDIATE; UPDATE items SET revision = 7 WHERE sort = 'item-0'");
    const copied = copyDatabase(database, copy, () => {});
    await setTimeout(100);
    database.exec('COMMIT');
    await copied;
    database.close();
    const copies = openSqliteLedger(copy);
    expect(await copies.get({ partition: 'shelf', sort: 'item-0' })).toMatchObject({ revision: 7 });
    copies.close();
  });

  test('leaves nothing of deleted or replaced items on disk, once its log is emptied', async () => {
    const path = join(await temporaryFolder(), 'ledger.sqlite');
    const ledger = openSqliteLedger(path, { exclusive: true });
    onTestFinished(() => ledger.close());
    const written = Array.from({ length: 40 }, (_, item) => put(`item-${item}`, `a secret of item ${item}`.repeat(50)));
    await ledger.transact(written, { attemptId: 'written' });
    const gone = written.map(({ key }, item): Change => {
      const condition = { kind: 'any' } as const;
      return item % 2 === 0
        ? { kind: 'delete', key, if: condition }
        : { kind: 'put', key, revision: 2, value: 'erased', if: condition };
    });
    await ledger.transact(gone, { attemptId: 'gone' });
    ledger.emptyLog();
    for (const file of [path, `${path}-wal`]) expect(await readFile(file, 'latin1')).not.toContain('a secret of item');
    expect((await ledger.get({ partition: 'shelf', sort: 'item-1' }))?.value).toBe('erased');
  });

  test('syncs each commit to the disk before it is acknowledged', async () => {
    const { database } = await openWatched();
    const setting = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    const FULL = 2;
    expect([setting('synchronous'), setting('fullfsync'), setting('journal_mode')]).toEqual([FULL, 1, 'wal']);
  });
});

const HOUR_MS = 60 * 60 * 1000;
const NOW_MS = Date.UTC(2026, 10, 20);

describe('removing expired items', () => {
  const expiring = (sort: string, expiresAtMs?: number): Change => ({
    ...(put(sort) as PutChange),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    if: { kind: 'any' },
  });
  const sortsOf = async (ledger: SqliteLedger) =>
    (await ledger.query('shelf', { limit: 1000 })).items.map(({ sort }) => sort);

  async function ledgerWith(...changes: Change[]): Promise<SqliteLedger> {
    const ledger = openSqliteLedger(':memory:');
    onTestFinished(() => ledger.close());
    if (changes.length > 0) await ledger.transact(changes, { attemptId: 'attempt' });
    return ledger;
  }

  test('takes no more than it may, and what expired first', async () => {
    const ledger = await ledgerWith(...['a', 'b', 'c', 'd', 'e'].map((sort, index) => expiring(sort, NOW_MS - index)));
    expect(ledger.removeExpired(NOW_MS + 1, 3)).toBe(3);
    expect(await sortsOf(ledger)).toEqual(['a', 'b']);
    expect(ledger.removeExpired(NOW_MS + 1, 3)).toBe(2);
  });

  test('goes by the expiry that an item has now', async () => {
    const ledger = await ledgerWith(expiring('extended', NOW_MS - HOUR_MS), expiring('kept', NOW_MS - HOUR_MS));
    await ledger.transact([expiring('extended', NOW_MS + HOUR_MS), expiring('kept')], { attemptId: 'again' });
    expect(ledger.removeExpired(NOW_MS, 1000)).toBe(0);
    await ledger.transact([expiring('extended', NOW_MS - 1)], { attemptId: 'shortened' });
    expect(ledger.removeExpired(NOW_MS, 1000)).toBe(1);
    expect(await sortsOf(ledger)).toEqual(['kept']);
  });

  test('agrees with a model, for any items', async () => {
    const item = fc.record({
      sort: fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 }),
      expiresAtMs: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    });
    const items = fc.uniqueArray(item, { selector: ({ sort }) => sort, maxLength: 30 });
    const removal = fc.record({ beforeMs: fc.integer({ min: -1, max: 21 }), limit: fc.integer({ min: 1, max: 10 }) });
    await fc.assert(
      fc.asyncProperty(items, removal, async (items, { beforeMs, limit }) => {
        const ledger = await ledgerWith(...items.map(({ sort, expiresAtMs }) => expiring(sort, expiresAtMs)));
        const isDue = ({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs < beforeMs;
        const due = items.filter(isDue).length;
        expect(ledger.removeExpired(beforeMs, limit)).toBe(Math.min(due, limit));
        const left = new Set(await sortsOf(ledger));
        expect(left.size).toBe(items.length - Math.min(due, limit));
        for (const item of items) if (!isDue(item)) expect(left).toContain(item.sort);
        ledger.close();
      }),
      { numRuns: 50 },
    );
  });

  test('finds them by the index on expiry, however many items never expire', async () => {
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
    onTestFinished(() => prepare.mockRestore());
    const ledger = await ledgerWith();
    ledger.removeExpired(NOW_MS, 10);
    const sql = prepare.mock.calls.map(([text]) => text).find((text) => text.startsWith('DELETE')) as string;
    const database = prepare.mock.contexts.at(-1) as DatabaseSync;
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(NOW_MS, 10)
      .map((step) => String(step.detail));
    expect(plan).toContainEqual(expect.stringContaining('items_by_expiry'));
    for (const step of plan) expect(step).not.toMatch(/^SCAN|TEMP B-TREE/);
  });
});

/** A ledger in a file, and the connection that it uses. */
async function openWatched(): Promise<{ ledger: SqliteLedger; database: DatabaseSync }> {
  const path = join(await temporaryFolder(), 'ledger.sqlite');
  const watch = vi.spyOn(DatabaseSync.prototype, 'exec');
  const ledger = openSqliteLedger(path);
  const database = watch.mock.contexts.at(-1) as DatabaseSync;
  watch.mockRestore();
  onTestFinished(() => ledger.close());
  return { ledger, database };
}

/** The revisions of a partition, in order. */
async function everything(ledger: SqliteLedger, partition: string): Promise<number[]> {
  const revisions: number[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ledger.query(partition, after === undefined ? { limit: 1000 } : { limit: 1000, after });
    revisions.push(...page.items.map((item) => item.revision));
    if (page.next === null) return revisions;
    after = page.next;
  }
}

async function overwrite(path: string, from: number, length: number): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(path, bytes.fill(0xff, from, from + length));
}
