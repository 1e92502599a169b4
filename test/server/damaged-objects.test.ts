/** Damaged objects are put again, as lost ones are, and stop nothing else. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { type Damage, tellDamage, watchDamage } from '../../server/folder/damaged-objects.ts';
import { watchLostObjects } from '../../server/folder/lost-objects.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { DirectoryReader } from '../../storage/directory/directory-reader.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const bodyOf = (slug: string) => publicKey({ kind: 'market', slug });

/** Four markets, pages of both kinds and a log, in files. */
async function publishedFolder(changes: Partial<PublisherDependencies> = {}) {
  const folder = await temporaryFolder();
  const store = await openDirectoryObjects(folder);
  const damage = watchDamage(store, folder);
  const shown = tellDamage(new DirectoryReader(folder, null, { rejectsLost: true }), damage.note);
  const { ledger, clock, ingest } = createWorld();
  const dependencies = { ...withLog(dependenciesOn(ledger, damage.objects, clock, SMALL_PAGES)), ...changes };
  await ingest([
    ...['a', 'b', 'c', 'd'].map((slug) => market(slug)),
    ...[0, 1, 2, 3, 4].map((day) => price('b', day, 5)),
  ]);
  await publish(dependencies);
  const reports: string[] = [];
  const watch = (objects: Damage) =>
    watchLostObjects(dependencies, (what, cause) => reports.push(`${what}: ${(cause as Error).message}`), objects);
  const fileOf = (key: string) => join(folder, key);
  return { store, damage, shown, ledger, ingest, dependencies, reports, lost: watch(damage), fileOf };
}

type Folder = Awaited<ReturnType<typeof publishedFolder>>;

async function publishAll({ dependencies, lost }: Folder): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await lost.prepare();
    while ((await publish(dependencies)).isMoreDue);
  }
}

const DAMAGES: readonly ((file: string) => Promise<void>)[] = [
  (file) => writeFile(file, 'garbage'),
  async (file) => {
    const bytes = await readFile(file);
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] as number) ^ 1;
    await writeFile(file, bytes);
  },
  (file) => rm(file),
  async (file) => {
    await rm(file);
    await mkdir(file);
  },
];

test('every kind of published object is found at the start, put again, and the same as before', async () => {
  const folder = await publishedFolder();
  const { store, fileOf, lost, reports } = folder;
  const { keys } = await store.list('public/');
  const immutable = keys.filter((key) => /\/pages\/|\/tile\/|ndjson/.test(key));
  expect(immutable.length).toBeGreaterThan(4);
  const bodyIn = async (key: string) => {
    const found = await store.get(key);
    return found.kind === 'found' ? Buffer.from(found.body) : null;
  };
  const before = new Map(await Promise.all(immutable.map(async (key) => [key, await bodyIn(key)] as const)));
  // How far the store has come is looked for each time, without a search.
  const spoiled = keys.filter((key) => key !== publicKey({ kind: 'snapshot' }));
  for (const [index, key] of spoiled.entries()) await DAMAGES[index % DAMAGES.length]?.(fileOf(key));
  expect(await lost.look()).toBe(true);
  await publishAll(folder);
  for (const key of keys) expect((await store.get(key)).kind, key).toBe('found');
  for (const key of immutable) expect(await bodyIn(key), key).toEqual(before.get(key));
  expect(reports).toEqual([expect.stringMatching(/^publishing everything again: \d+ objects are lost or damaged/)]);
});

test('later searches find each removed file of a market, its page and its feed included', async () => {
  const folder = await publishedFolder({
    site: await readSite(),
    readBaseUrl: 'https://data.example.com',
    projections: new Set<Projection>(['history-files', 'market-feeds', 'market-pages']),
  });
  const { store, fileOf, lost } = folder;
  expect(await lost.look()).toBe(false);
  const keys = (await store.list('public/')).keys.filter((key) => /\/b\b/.test(key));
  for (const kind of ['market-feed', 'market-page'] as const) expect(keys).toContain(publicKey({ kind, slug: 'b' }));
  for (const key of keys) {
    await rm(fileOf(key));
    expect(await lost.look(), key).toBe(true);
    await publishAll(folder);
    expect((await store.get(key)).kind, key).toBe('found');
    expect(await lost.look(), key).toBe(false);
  }
});

test('a read that fails has the object put again, with one report; readers get no "absent" meanwhile', async () => {
  for (const spoil of DAMAGES) {
    const folder = await publishedFolder();
    const { damage, shown, fileOf, reports, ledger } = folder;
    let calls = 0;
    damage.onFound(() => calls++);
    const { keys } = await folder.store.list('public/');
    const page = keys.find((key) => key.includes('/history/pages/')) as string;
    for (const key of [bodyOf('c'), page]) {
      await spoil(fileOf(key));
      for (let read = 0; read < 2; read++) await expect(shown.get(key)).rejects.toThrow(StorageCorrupt);
    }
    expect(calls).toBe(2);
    await publishAll(folder);
    for (const key of [bodyOf('c'), page]) expect(await shown.get(key)).toMatchObject({ kind: 'found' });
    expect(reports).toHaveLength(1);
    const generation = (await ledger.get(HEAD_KEY))?.revision;
    await publishAll(folder);
    expect((await ledger.get(HEAD_KEY))?.revision).toBe(generation);
  }
});

test('a lost object and a damaged one that nobody has read keep no other market from being published', async () => {
  const folder = await publishedFolder();
  const { store, shown, fileOf, ingest, lost } = folder;
  await writeFile(fileOf(bodyOf('c')), 'garbage');
  const present = await store.stat(bodyOf('d'));
  await store.delete(bodyOf('d'), present?.etag as never);
  await ingest([price('b', 4, 77)], 'correct');
  expect(await lost.look()).toBe(true);
  await publishAll(folder);
  for (const slug of ['b', 'c', 'd']) expect(await shown.get(bodyOf(slug))).toMatchObject({ kind: 'found' });
  const history = await store.get(publicKey({ kind: 'history', slug: 'b' }));
  expect(history.kind === 'found' && Buffer.from(history.body).toString()).toContain('"amountMinor":77');
});

test('a lost object that nothing publishes any more is absent, after one try', async () => {
  const folder = await publishedFolder();
  const { shown, fileOf, reports, store } = folder;
  const foreign = bodyOf('foreign');
  await store.put(foreign, Buffer.from('{}'), (await store.stat(bodyOf('a')))?.metadata as never, { kind: 'absent' });
  await rm(fileOf(foreign));
  await expect(shown.get(foreign)).rejects.toThrow(StorageCorrupt);
  await publishAll(folder);
  expect(await shown.get(foreign)).toEqual({ kind: 'absent' });
  expect(reports).toEqual([`publishing everything again: ${foreign} is lost or damaged`]);
});

test('an object that the ledger does not make is tried once, and then named', async () => {
  const folder = await publishedFolder();
  const { shown, fileOf, reports, store, ledger } = folder;
  const foreign = bodyOf('foreign');
  await store.put(foreign, Buffer.from('{}'), (await store.stat(bodyOf('a')))?.metadata as never, { kind: 'absent' });
  await writeFile(fileOf(foreign), 'garbage');
  await expect(shown.get(foreign)).rejects.toThrow(StorageCorrupt);
  await publishAll(folder);
  expect(reports).toEqual([
    `publishing everything again: ${foreign} is lost or damaged`,
    expect.stringMatching(`^publishing everything again has not repaired all objects: ${foreign} .*delete the file`),
  ]);
  const generation = (await ledger.get(HEAD_KEY))?.revision;
  await expect(shown.get(foreign)).rejects.toThrow(StorageCorrupt);
  await publishAll(folder);
  expect((await ledger.get(HEAD_KEY))?.revision).toBe(generation);
  expect(reports).toHaveLength(2);
});
