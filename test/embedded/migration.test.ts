/** The data folder of an earlier version is migrated by the start, and then works as before. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CURSOR_LIFETIME_SECONDS } from '../../contract/limits.ts';
import { marketUrl } from '../../contract/routes.ts';
import { type DataFolder, openDataFolder } from '../../embedded/data-folder.ts';
import { StartError } from '../../embedded/start-error.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { BundleLost } from '../../publisher/errors.ts';
import { collectGarbage } from '../../publisher/kernel/collect-garbage.ts';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { openDirectoryUploads } from '../../storage/directory-uploads.ts';
import { readAll } from '../../storage/paging.ts';
import { checkpointKey, uploadKey, WORK_QUEUE } from '../../storage/records/batches.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  generationOfKey,
  HEAD_KEY,
  REFRESH_MARKS,
} from '../../storage/records/publication.ts';
import { workOff } from '../ingest/work-off.ts';
import { dependenciesOn, readerOf } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { looked, lostPages, observationsIn, pagesOf, startedOn, unpacked } from './old-data-folder.ts';

const HALF = 'bat_01KB0000000000000000000002';
const BEHIND = 'bat_01KB0000000000000000000003';
const PUBLICATION = 'publication/pub_01KB0000000000000000000004';
const UPLOAD = 'upl_01KB0000000000000000000005';

/** Publishes, works, and publishes, until nothing is left to do. */
async function workedOff(folder: string, { ledger, objects }: DataFolder, clock: { nowMs: number }) {
  const uploads = openDirectoryUploads({
    folder: join(folder, 'uploads'),
    key: new Uint8Array(32),
    nowMs: () => clock.nowMs,
    newName: () => 'unused',
  });
  const dependencies = dependenciesOn(ledger, objects, clock, DEFAULT_PAGE_SIZES);
  const publishAll = async (): Promise<void> => {
    for (let isMoreDue = true; isMoreDue; ) {
      const outcome = await publish(dependencies);
      expect(outcome).toMatchObject({ deferred: [], asksForRefresh: false });
      isMoreDue = outcome.isMoreDue;
    }
  };
  await publishAll();
  await workOff({ ledger, uploads, nowMs: () => clock.nowMs });
  await publishAll();
  return dependencies;
}

describe('a folder with unfinished work of all kinds', () => {
  test('continues, and readers can follow their old cursors', async () => {
    const folder = await unpacked('applied');
    const data = await openDataFolder(folder);
    onTestFinished(() => data.close());
    const { ledger, objects } = data;
    const [pages, observations] = [await pagesOf(data), await observationsIn(data)];
    expect(await data.migrate(() => {})).toBe('migrated');
    const clock = { nowMs: Date.parse('2026-11-01T12:10:00Z') };
    const dependencies = await workedOff(folder, data, clock);

    const reader = readerOf(objects);
    const report = await verify(reader, { settled: true });
    expect(report).toMatchObject({ findings: [], markets: 106 });
    // All earlier observations, and those of the batches and the upload.
    const after = await observationsIn(data);
    expect(report.observations).toBe(after.size);
    for (const [place, value] of observations) expect(after.get(place), place).toEqual(value);

    const ended = async (batch: string) => (await ledger.get(checkpointKey(batch)))?.value;
    expect(await ended(HALF)).toMatchObject({ state: 'applied', accepted: 221, unchanged: 0, refused: 2 });
    expect((await readReport(ledger, HALF))?.errors.map(({ index }) => index)).toEqual([41, 222]);
    // The next batch corrects a row of this one.
    expect(await ended(BEHIND)).toMatchObject({ state: 'applied', accepted: 2 });
    expect((await ledger.get(uploadKey(UPLOAD)))?.value).toMatchObject({
      state: 'applied',
      accepted: 360,
      partsDone: 3,
    });
    for (const range of [WORK_QUEUE, AWAITING_GENERATION, FRESH_MARKS, REFRESH_MARKS]) {
      expect(await readAll<unknown>(ledger, range)).toEqual([]);
    }
    for (const what of [`batch/${HALF}`, 'batch/bat_01KB0000000000000000000001', PUBLICATION]) {
      expect((await ledger.get(generationOfKey(what)))?.value.generation, what).toBeGreaterThan(4);
    }

    // For a day each page that was public leads to the next one. Then only current pages are left.
    expect(await lostPages(reader, pages)).toEqual([]);
    clock.nowMs += (CURSOR_LIFETIME_SECONDS - 900) * 1000;
    expect((await collectGarbage(dependencies, { dryRun: false })).unknown).toEqual([]);
    expect(await lostPages(reader, pages)).toEqual([]);
    clock.nowMs += CURSOR_LIFETIME_SECONDS * 1000;
    for (let round = 0; round < 2; round++) await collectGarbage(dependencies, { dryRun: false });
    const left = await pagesOf(data);
    expect([...pages.keys()].filter((url) => left.has(url))).toEqual([]);
    expect((await objects.list('redo/', {})).keys).toEqual([]);
    expect((await verify(reader, { settled: true })).findings).toEqual([]);
  });
});

test('a folder of format 2 is published again with the fields of this one', async () => {
  const folder = await unpacked('standing');
  const data = await openDataFolder(folder);
  onTestFinished(() => data.close());
  const { ledger, objects } = data;
  const [pages, observations] = [await pagesOf(data), await observationsIn(data)];
  expect(await data.migrate(() => {})).toBe('migrated');
  const clock = { nowMs: Date.parse('2026-10-03T12:00:00Z') };
  const dependencies = dependenciesOn(ledger, objects, clock, DEFAULT_PAGE_SIZES);
  expect((await publish(dependencies)).asksForRefresh).toBe(true);
  await workedOff(folder, data, clock);

  const reader = readerOf(objects);
  expect(await verify(reader, { settled: true })).toMatchObject({ findings: [], markets: 4 });
  const after = await observationsIn(data);
  // A version that is superseded from now on keeps its revision.
  for (const [place, value] of observations) expect(after.get(place), place).toMatchObject(value as object);
  expect(await lostPages(reader, pages)).toEqual([]);
  const bodyOf = async (slug: string) => JSON.parse(Buffer.from((await reader(marketUrl(slug))).body).toString());
  // The batch that waited has corrected a price of the desk and taken back one of the exchange.
  expect(await bodyOf('silver')).toMatchObject({
    updatedAt: '2026-10-03T12:00:00.000Z',
    bySource: { price: [{ releasedAt: null }, { releasedAt: null }] },
    disputed: false,
  });
  expect((await bodyOf('yen')).updatedAt).toBe('2026-10-01T23:12:00.000Z');
});

test('a generation that an earlier version committed but did not apply is rebuilt in place', async () => {
  const data = await openDataFolder(await unpacked('committed'));
  onTestFinished(() => data.close());
  const { ledger, objects } = data;
  const [pages, observations] = [await pagesOf(data), await observationsIn(data)];
  await data.migrate(() => {});
  const dependencies = dependenciesOn(ledger, objects, { nowMs: Date.now() }, DEFAULT_PAGE_SIZES);
  await expect(publish(dependencies)).rejects.toThrow(BundleLost);
  expect(await rebuild(dependencies)).toMatchObject({ deferred: [] });
  expect(await verify(readerOf(objects), { settled: true })).toMatchObject({ findings: [], markets: 7 });
  expect(await lostPages(readerOf(objects), pages)).toEqual([]);
  expect(await observationsIn(data)).toEqual(observations);
});

test('the list does not change until all markets have been rendered again', async () => {
  const data = await openDataFolder(await unpacked('applied'));
  onTestFinished(() => data.close());
  await data.migrate(() => {});
  const dependencies = dependenciesOn(data.ledger, data.objects, { nowMs: Date.now() }, DEFAULT_PAGE_SIZES);
  const listOf = async () => (await data.ledger.get(HEAD_KEY))?.value.list;
  const before = await listOf();
  const capped = { ...dependencies, maxMarkedMarkets: 40 };
  expect([(await publish(capped)).isMoreDue, await listOf()]).toEqual([true, before]);
  expect([(await publish(capped)).isMoreDue, await listOf()]).toEqual([true, before]);
  const { isMoreDue, generation } = await publish(capped);
  expect([isMoreDue, await listOf()]).toMatchObject([false, { generation, isDoubtful: false }]);
  expect((await verify(readerOf(data.objects), { settled: true })).findings).toEqual([]);
});

const LATER = LEDGER_FORMAT + 1;

describe('data of a later version is refused, in one line that says how to proceed, and not changed:', () => {
  const expectRefused = async (folder: string) => {
    const error = await startedOn(folder).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StartError);
    for (const part of [folder, `format ${LATER}`, `format ${LEDGER_FORMAT}`, 'later'])
      expect((error as Error).message).toContain(part);
    expect((error as Error).message).not.toContain('\n');
  };

  test('by the format of the folder', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'format'), `${LATER}\n`);
    await expectRefused(folder);
    expect(await readdir(folder)).toEqual(['format']);
  });

  test('by the format of the ledger', async () => {
    const folder = await temporaryFolder();
    const put = {
      kind: 'put',
      key: FORMAT_KEY,
      revision: LATER,
      value: { format: LATER },
      if: { kind: 'any' },
    } as const;
    await looked(folder, (data) => data.ledger.transact([put], { attemptId: 'a later version' }));
    const before = await readdir(folder);
    await expectRefused(folder);
    expect(await readdir(folder)).toEqual(before);
    expect(await looked(folder, ({ ledger }) => ledger.query(FORMAT_KEY.partition, { limit: 9 }))).toMatchObject({
      items: [{ value: { format: LATER } }],
    });
  });

  test('a format file without a number is refused too', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'format'), 'two');
    await expect(openDataFolder(folder)).rejects.toThrow(StartError);
  });
});
