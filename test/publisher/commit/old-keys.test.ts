/** Objects and generations of a version that gave other keys to public objects, in a store that moves nothing, as S3. */
import { expect, test } from 'vitest';
import { currentKey } from '../../../contract/files/old-paths.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { applyGeneration } from '../../../publisher/kernel/apply.ts';
import { BundleWriter } from '../../../publisher/kernel/bundle.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { readSite } from '../../../server/folder/site-folder.ts';
import { HEAD_KEY, type HeadValue } from '../../../storage/records/publication.ts';
import { createFilesWorld, type FilesWorld } from '../files-world.ts';
import { refresh } from '../refresh.ts';
import { createWorld, market, price, SMALL_PAGES } from '../world.ts';

const PROJECTIONS = ['history-files', 'latest', 'recent'] as const;
const site = await readSite();
const SLUGS = ['a', 'b', 'c', 'd', 'pages'];
const forGood = { dryRun: false } as const;

function oldKey(key: string): string {
  return key
    .replace(/\/markets\/([^/]+)\/history\.json$/, '/histories/$1.json')
    .replace(/\/markets\/([^/]+)\/history\/pages\//, '/history-pages/$1/')
    .replace(/\/markets\/pages\//, '/market-pages/')
    .replace(/\/(history\/index|latest|recent)\.json$/, '/$1')
    .replace(/^public\/(?!api\/|errors\/|problems\.json)/, 'public/site/');
}

async function changeHead({ ledger }: FilesWorld, change: (value: HeadValue) => HeadValue, by = 0): Promise<void> {
  const head = await ledger.get(HEAD_KEY);
  if (head === null) throw new Error('nothing is published');
  const [revision, value] = [head.revision + by, change(head.value)];
  await ledger.transact([{ kind: 'put', key: HEAD_KEY, revision, value, if: { kind: 'any' } }], {
    attemptId: `head-${revision}-${by}`,
  });
}

/** As an earlier version has left it, with pages of other bytes than those of today. */
async function oldWorld(): Promise<FilesWorld> {
  const world = createFilesWorld(createWorld({ markets: 2, observations: 3 }), PROJECTIONS);
  Object.assign(world.dependencies, { site });
  await world.ingest(SLUGS.map((slug) => market(slug)));
  for (const slug of ['a', 'pages'])
    await world.ingest(Array.from({ length: 11 }, (_, day) => price(slug, day, 1 + day)));
  await world.publish();
  for (const [key, { body, metadata }] of world.objects.snapshot()) {
    if (oldKey(key) === key) continue;
    await world.lose(key);
    await world.objects.put(oldKey(key), body, metadata, { kind: 'absent' });
  }
  await changeHead(world, ({ list: { linkedSince, ...list }, ...value }) => ({ ...value, list }));
  Object.assign(world.dependencies, { pageSizes: SMALL_PAGES });
  return world;
}

const oldKeysOf = ({ objects }: FilesWorld) => [...objects.snapshot().keys()].filter((key) => currentKey(key) !== key);

/** No edge adds the header fields of a page. */
const findingsIn = async (world: FilesWorld) =>
  (await world.findings()).filter((finding) => (finding as { url: string }).url !== '/');

test('a refresh puts everything at the keys of today, and later the sweep removes the old ones', async () => {
  const world = await oldWorld();
  const before = oldKeysOf(world);
  expect(before.length).toBeGreaterThan(15);
  await world.publish();
  await refresh(world, SLUGS);
  // A projection that is behind is tried again.
  for (let round = 0; round < 3; round++) {
    world.clock.nowMs += 10 * 60_000;
    await world.publish();
  }
  expect(await findingsIn(world)).toEqual([]);
  expect(oldKeysOf(world)).toEqual(before);
  await collectGarbage(world.dependencies, forGood);
  expect(oldKeysOf(world)).toEqual(before);
  for (const day of [20, 21, 22]) {
    world.clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
    await world.ingest([price('b', day, 5)]);
    await publish(world.dependencies);
  }
  await collectGarbage(world.dependencies, forGood);
  expect(oldKeysOf(world)).toEqual([]);
  expect(await findingsIn(world)).toEqual([]);
});

test('a generation that was committed under old keys is applied to those of today', async () => {
  const world = await oldWorld();
  const generation = ((await world.ledger.get(HEAD_KEY))?.revision ?? 0) + 1;
  const bundle = new BundleWriter(world.dependencies, generation);
  const key = publicKey({ kind: 'history', slug: 'b' });
  for (const place of [key, publicKey({ kind: 'latest' })]) {
    await bundle.add({ kind: 'put', key: oldKey(place), body: '{"data":[]}', nextCursor: null });
  }
  const ref = await bundle.seal();
  await changeHead(world, (value) => ({ ...value, generation, applied: false, bundle: ref }), 1);
  const head = await world.ledger.get(HEAD_KEY);
  if (head !== null) await applyGeneration(world.dependencies, head);
  expect((await world.objects.stat(key))?.metadata.generation).toBe(generation);
  expect((await world.objects.stat(publicKey({ kind: 'latest' })))?.metadata.generation).toBe(generation);
  expect((await world.objects.stat(oldKey(key)))?.metadata.generation).toBe(generation - 1);
});
