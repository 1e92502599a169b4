/** A mirror of daily exports: files by their digests, manifests last. */

import { expect, test } from 'vitest';
import { EXPORT_KEPT_DAYS } from '../../../contract/bodies/export-tables.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { EXPORTS_URL, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { keepExport } from '../../../publisher/projections/exports/keep-export.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { exports } from '../../../publisher/projections/exports/projection.ts';
import { publish } from '../../../publisher/publish.ts';
import { openBodyChecks } from '../../../publisher/verify/body-checks.ts';
import { Findings } from '../../../publisher/verify/check-body.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { MirrorFull } from '../../../server/mirror/copy.ts';
import { DAY_MS, days, exportWorld } from '../../publisher/exports/export-world.ts';
import { testSigner } from '../../publisher/log/test-log.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { takeDown } from '../../publisher/take-down.ts';
import { market, publicObjects, readerOf } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { folderWith, mirrorIn } from './mirrored-world.ts';

type Objects = Parameters<typeof publicObjects>[0];

const exportsIn = (objects: Objects) => [...publicObjects(objects)].filter(([key]) => key.includes('/exports/'));

async function mirrored(more: readonly Projection[] = []) {
  const world = exportWorld();
  Object.assign(world.dependencies, { projections: new Set(['log', 'exports', ...more]) });
  await world.ingest([market('a'), ...days('a', 300)]);
  await world.nextDay();
  const copied = openMemoryObjects();
  const folder = await folderWith(copied);
  /** A round of a new process, which reads the whole copy and sweeps it. */
  const follow = async (upstream: PublicReader = world.read, maxBytes = 1e9, pause = async () => {}) => {
    const options = { upstream, maxBytes, pause, logKeys: [testSigner().vkey], partEntries: 256 };
    return (await (await mirrorIn(folder, world, options)).follow()).findings;
  };
  const check = async () => {
    const findings = new Findings();
    const asked = { snapshot: null, projectors: [exports], isKept: false };
    const checks = await openBodyChecks(readerOf(copied), findings, asked);
    await checks.end({ head: null, latest: [] });
    return findings.all;
  };
  return { world, copied, folder, follow, check };
}

test('an export that is kept is copied, and stays for as long as it is kept', async () => {
  const { world, copied, follow, check } = await mirrored();
  const { storage } = world.options;
  const date = '2026-10-02';
  const keys = () => exportsIn(copied).map(([key]) => key);
  await keepExport(storage, date, { label: null });
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect(keys()).toEqual(expect.arrayContaining(exportsIn(world.objects).map(([key]) => key)));
  const ofDay = keys().filter((key) => key.includes(date));
  expect(ofDay).toHaveLength(1);
  const sweep = async () => {
    world.clock.nowMs += 40 * DAY_MS;
    await world.nextDay();
    expect(await follow()).toEqual([]);
  };
  for (const _ of [1, 2]) await sweep();
  expect(keys()).toEqual(expect.arrayContaining(ofDay));
  expect(await check()).toEqual([]);
  await keepExport(storage, date, null);
  for (const _ of [1, 2]) await sweep();
  expect(keys().filter((key) => key.includes(date))).toEqual([]);
});

test('the next day, only files that are new are read, and the old day stays', async () => {
  const { world, copied, follow, check } = await mirrored();
  await follow();
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  const asked: string[] = [];
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (answer.status === 200) asked.push(url);
    return answer;
  };
  expect(await follow(upstream)).toEqual([]);
  // The first part of the observations has not changed. The last one has, and the table of markets.
  expect(asked.filter((url) => url.includes('/parts/'))).toHaveLength(6);
  expect(await check()).toEqual([]);
  expect(exportsIn(copied).map(([key]) => key)).toEqual(
    expect.arrayContaining(exportsIn(world.objects).map(([key]) => key)),
  );
});

test('killed after any write, the manifests lead to whole files, and the next round ends it', async () => {
  const { world, copied, follow, check } = await mirrored();
  await follow();
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  let reads = 0;
  const dying: PublicReader = async (url, headers) => {
    if (--reads < 0) throw new Error('killed');
    return await world.read(url, headers);
  };
  for (let most = 0, isDone = false; !isDone; most++) {
    reads = most;
    isDone = await follow(dying).then(
      () => true,
      () => false,
    );
    expect(await check()).toEqual([]);
  }
  expect(Object.fromEntries(exportsIn(copied))).toMatchObject(Object.fromEntries(exportsIn(world.objects)));
});

test.each<[string, RegExp, string, string]>([
  ['a file with another byte', /ndjson\.gz$/, 'digest', ''],
  ['a schema with another byte', /schema-\w+\.json$/, 'digest', '"description"'],
  ['a manifest that is none', /exports\/latest$/, 'schema', '"resources"'],
  ['another manifest under the day', /datapackage\.json$/, 'digest', '"title"'],
])('%s: nothing leads to it, and it is told', async (_, where, rule, from) => {
  const { world, copied, follow } = await mirrored();
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (!where.test(url)) return answer;
    const text = Buffer.from(answer.body).toString('latin1');
    return { ...answer, body: Buffer.from(from === '' ? `${text}!` : text.replace(from, '"x"'), 'latin1') };
  };
  const rules = (await follow(upstream)).map((finding) => finding.rule);
  expect(rules).toContain(rule);
  expect(exportsIn(copied).filter(([key]) => !key.includes('/parts/'))).toEqual([]);
});

test('an export that is made again meanwhile is no finding, whichever of its manifests a cache has', async () => {
  const { world, copied, follow, check } = await mirrored();
  const before = world.objects.copy();
  await world.ingest(days('a', 10, 300));
  await publish(world.options.storage as never);
  await makeExport({ ...world.options, again: 'always' });
  for (const cached of [/latest$/, /datapackage\.json$/]) {
    let isCached = true;
    const upstream: PublicReader = (url, headers) =>
      (isCached && cached.test(url) ? readerOf(before) : world.read)(url, headers);
    const pause = async () => {
      isCached = false;
    };
    expect(await follow(upstream, 1e9, pause)).toEqual([]);
  }
  const manifests = (objects: Objects) => exportsIn(objects).filter(([key]) => !key.includes('/parts/'));
  expect(manifests(copied)).toEqual(manifests(world.objects));
  expect(await check()).toEqual([]);
});

test('entries taken down after they were copied are so for every check, in the same process and in a new one', async () => {
  const { world, copied, folder, follow } = await mirrored();
  const early = await mirrorIn(folder, world, { partEntries: 256 });
  expect((await early.follow()).state).toBe('current');
  await world.publishOf([market('b'), ...days('b', 3)]);
  await removeMarket(world, 'a');
  await world.publishAll();
  await takeDown(world, 'a');
  await world.nextDay();
  expect(await early.follow()).toMatchObject({ state: 'current', findings: [] });
  expect(await follow()).toEqual([]);
  expect(exportsIn(copied)).toEqual(expect.arrayContaining(exportsIn(world.objects)));
});

test('a service without exports has none in its mirror; one that does not fit is left out, and the sweep makes room', async () => {
  const { world, copied, folder, follow } = await mirrored();
  const without: PublicReader = async (url, headers) =>
    url.includes('/exports/') ? { status: 404, headers: new Map(), body: Buffer.of() } : await world.read(url, headers);
  expect(await follow(without)).toEqual([]);
  expect(exportsIn(copied)).toEqual([]);
  const bytes = [...copied.snapshot().values()].reduce((sum, { body }) => sum + body.byteLength, 0);
  const market = await copied.get('public/api/v1/markets/a.json');
  if (market.kind !== 'found') throw new Error('it is missing');
  const [unreached, known] = ['public/api/v1/markets/z.json', 'public/api/v1/exports/2020-01-01/datapackage.json'];
  for (const key of [unreached, known]) await copied.put(key, market.body, market.metadata, { kind: 'absent' });
  const round = () => expect(follow(undefined, bytes + 3_000)).rejects.toThrow(MirrorFull);
  await round();
  expect(Object.keys(folder.state.unreached ?? {})).toEqual([unreached]);
  world.clock.nowMs += 2 * DAY_MS;
  await round();
  expect((await copied.get(unreached)).kind).toBe('absent');
  expect(exportsIn(copied).map(([key]) => key)).toEqual([known]);
});

test('a service without exports is asked for them with one GET every ten minutes', async () => {
  const { world, folder } = await mirrored();
  const asked: string[] = [];
  const upstream: PublicReader = async (url, headers) => {
    asked.push(url);
    return url.includes('/exports/')
      ? { status: 404, headers: new Map(), body: Buffer.of() }
      : await world.read(url, headers);
  };
  const mirror = await mirrorIn(folder, world, { upstream, partEntries: 256 });
  await mirror.follow();
  world.clock.nowMs += 11 * 60_000;
  asked.length = 0;
  await mirror.follow();
  // The second read of the snapshot is that of the files for other programs.
  expect(asked.filter((url) => url === EXPORTS_URL || url === SNAPSHOT_URL)).toEqual([
    SNAPSHOT_URL,
    SNAPSHOT_URL,
    EXPORTS_URL,
  ]);
});

test('days that are over go with the files that only they name', async () => {
  const { world, copied, folder, follow, check } = await mirrored();
  await follow();
  const first = exportsIn(copied).length;
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  await follow();
  const unreached = Object.keys(folder.state.unreached ?? {}).filter((key) => key.includes('/exports/'));
  // One manifest, and three formats of two parts.
  expect(unreached).toHaveLength(7);
  world.clock.nowMs += EXPORT_KEPT_DAYS * DAY_MS - 1;
  await follow();
  expect(exportsIn(copied).map(([key]) => key)).toEqual(expect.arrayContaining(unreached));
  world.clock.nowMs += 1;
  await follow();
  expect(exportsIn(copied)).toHaveLength(first);
  expect(await check()).toEqual([]);
});
