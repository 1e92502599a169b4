/** A data folder of format 3 is migrated when it is opened, and then goes on where it was. */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { brotliDecompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createAuditSealer } from '../../lambdas/review/seal-audit.ts';
import { verifyAudit } from '../../lambdas/review/verify-audit.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { migrateLedger } from '../../storage/ports/migrate-ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { auditOfDay, auditSealKey } from '../../storage/records/audit.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import { MOVED_PARTITIONS } from '../../storage/records/format-3.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  generationOfKey,
  HEAD_KEY,
  LIST_CHANGES,
  marketMarkKey,
  REFRESH_MARKS,
} from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { LOG } from '../../tools/bench/aws/deployment.ts';
import { workOff } from '../ingest/work-off.ts';
import { dependenciesOn, readerOf, SMALL_PAGES } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const DAY = '2026-11-27';
const NOON = Date.parse('2026-11-28T12:00:00Z');
const ALL_MARKS = { shards: FRESH_MARKS.shards };
/** The items of each range of the fixture. */
const COUNTS = [
  [ALL_MARKS, 7],
  [LIST_CHANGES, 3],
  [AWAITING_GENERATION, 3],
  [WORK_QUEUE, 2],
] as const;

async function unpacked(): Promise<string> {
  const folder = await temporaryFolder();
  const packed = await readFile(join(import.meta.dirname, '../fixtures/data-folder-3/data.tar.br'));
  const { status, stderr } = spawnSync('tar', ['-xf', '-', '-C', folder], { input: brotliDecompressSync(packed) });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return folder;
}

async function opened(folder: string) {
  const data = await openDataFolder(folder);
  onTestFinished(() => data.close());
  return data;
}

async function expectMigrated(ledger: Ledger): Promise<void> {
  expect((await ledger.get(FORMAT_KEY))?.value).toEqual({ format: LEDGER_FORMAT });
  for (const partition of MOVED_PARTITIONS) expect(await readAll(ledger, { partition })).toEqual([]);
  for (const [range, items] of COUNTS) expect(await readAll<unknown>(ledger, range)).toHaveLength(items);
}

test('nothing that waits is lost: marks, changes of the list, batches, publications and the queue', async () => {
  const folder = await unpacked();
  const { ledger, objects } = await opened(folder);
  expect((await readFile(join(folder, 'format'), 'utf8')).trim()).toBe(String(LEDGER_FORMAT));
  await expectMigrated(ledger);
  const waiting = (await readAll(ledger, AWAITING_GENERATION)).map(({ sort }) => sort);
  const working = (await readAll(ledger, WORK_QUEUE)).map(({ value }) => (value.kind === 'ingest' ? value.batch : ''));

  const dependencies = dependenciesOn(ledger, objects, { nowMs: NOON });
  const publishAll = async (listEverySeconds: number) => {
    const publisher = { ...dependencies, log: LOG, projections: new Set(['log'] as const) };
    while ((await publish({ ...publisher, listEverySeconds: () => listEverySeconds })).isMoreDue);
  };
  expect((await ledger.get(HEAD_KEY))?.value).toMatchObject({ generation: 3, applied: false });
  await publishAll(10 * 24 * 60 * 60);
  // The bundle of the version before, too, has remembered its changes where they are looked for.
  const changed = (await readAll(ledger, LIST_CHANGES)).map(({ sort }) => sort);
  expect(changed).toEqual(['market-00', 'market-01', 'market-02', 'market-03', 'market-04', 'new-market']);
  await workOff({ ledger, nowMs: () => NOON });
  await publishAll(0);

  for (const [range] of COUNTS) expect(await readAll<unknown>(ledger, range)).toEqual([]);
  for (const what of [...waiting, ...working.map((batch) => `batch/${batch}`)]) {
    expect((await ledger.get(generationOfKey(what)))?.value.generation, what).toBeGreaterThan(2);
  }
  expect(await verify(readerOf(objects), { settled: true, pageSizes: SMALL_PAGES })).toMatchObject({
    findings: [],
    markets: 13,
  });
});

test('a file that format 3 published where there is a folder today does not stop publishing', async () => {
  const folder = await unpacked();
  const before = await openDataFolder(folder);
  const metadata = { contentType: 'application/x-ndjson', cacheControl: 'public', cacheTag: null, nextCursor: null };
  const old = { ...metadata, generation: 1 };
  await before.objects.put('public/api/v1/latest', Buffer.from('{}\n'), old, { kind: 'absent' });
  before.close();
  // A version that could not put the file below it has left this.
  const index = new DatabaseSync(join(folder, 'store/index.sqlite'));
  index.exec(
    `INSERT INTO objects SELECT key || '/all.csv', NULL, current FROM objects WHERE key = 'public/api/v1/latest'`,
  );
  index.close();

  const { ledger, objects } = await opened(folder);
  const publisher = { ...dependenciesOn(ledger, objects, { nowMs: NOON }), log: LOG };
  while ((await publish({ ...publisher, projections: new Set(['log', 'latest'] as const) })).isMoreDue);
  expect(await objects.stat('public/api/v1/latest/all.csv')).not.toBeNull();
  expect((await objects.list('public/api/v1/latest')).keys).not.toContain('public/api/v1/latest');
});

test('records of the audit stay where they are, and are sealed and verified with those of today', async () => {
  const { ledger } = await opened(await unpacked());
  expect(await readAll(ledger, { partition: `audit/day/${DAY}` })).toHaveLength(7);
  expect(await readAll(ledger, auditOfDay(DAY))).toHaveLength(7);
  await createAuditSealer({ ledger, nowMs: () => NOON, newAttemptId: () => 'seal' })();
  expect(await ledger.get(auditSealKey(DAY))).not.toBeNull();
  expect(await verifyAudit(ledger, NOON)).toMatchObject({ records: 7, sealed: { to: DAY }, findings: [] });
});

test('a migration that is cut off anywhere is finished by the next one', async () => {
  const folder = await unpacked();
  const inner = openSqliteLedger(join(folder, 'ledger.sqlite'));
  onTestFinished(() => inner.close());
  for (let isCutOff = true; isCutOff; ) {
    let transactions = 0;
    const ledger: Ledger = {
      get: (key) => inner.get(key),
      getMany: (keys) => inner.getMany(keys),
      query: (partition, options) => inner.query(partition, options),
      transact: async (changes, options) => {
        if (transactions++ > 0) throw new StorageUnavailable('the process dies');
        return await inner.transact(changes, options);
      },
    };
    isCutOff = await migrateLedger({ ledger, newAttemptId: () => `attempt ${transactions}` }).then(
      () => false,
      () => true,
    );
    if (isCutOff) expect((await inner.get(FORMAT_KEY))?.value).toEqual({ format: 3 });
  }
  await expectMigrated(inner);
  expect(await readAll(inner, REFRESH_MARKS)).toHaveLength(2);
});

test('of a mark that is there with both keys, the later revision stays', async () => {
  const inner = openSqliteLedger(join(await unpacked(), 'ledger.sqlite'));
  onTestFinished(() => inner.close());
  const put = (slug: string, revision: number): Change => {
    return { kind: 'put', key: marketMarkKey(slug), revision, value: null, if: { kind: 'any' } };
  };
  await inner.transact([put('market-01', 1), put('market-02', 99)], { attemptId: 'of today' });
  let attempts = 0;
  await migrateLedger({ ledger: inner, newAttemptId: () => `attempt ${++attempts}` });
  await expectMigrated(inner);
  const revisionOf = async (slug: string) => (await inner.get(marketMarkKey(slug)))?.revision;
  expect([await revisionOf('market-01'), await revisionOf('market-02')]).toEqual([8, 99]);
});
