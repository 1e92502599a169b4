/** The log after losses: of objects, of a bundle, of a market, of the ledger's newest state, and of its own switch. */
import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { ndjsonPath, TILE_WIDTH, tilePath } from '../../../contract/log/tiles.ts';
import { BundleLost, ImmutableMismatch, LedgerBehind, LogForked } from '../../../publisher/errors.ts';
import { publicMetadata } from '../../../publisher/kernel/files/fenced-put.ts';
import { putTile } from '../../../publisher/kernel/files/put-tile.ts';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import { logChunkKey } from '../../../storage/records/log.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { putItem } from '../../storage/put-item.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { olderCopy, openLoggedLedger } from '../logged-ledger.ts';
import { loseMarket } from '../lose-market.ts';
import { refresh } from '../refresh.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, days, dependenciesOn, market, price, SMALL_PAGES, type World } from '../world.ts';
import { faultsOfLog } from './log-oracle.ts';
import { brief, LOG_ORIGIN, logKey, readCheckpoint, readLog, readTexts, testSigner, withLog } from './test-log.ts';

function loggedWorld(ledger = openLoggedLedger()) {
  const world = createWorld(SMALL_PAGES, ledger);
  return { ...world.with(withLog(world.dependencies)), ledger };
}

/** A log with a full tile. */
async function publishedWorld() {
  const world = loggedWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 1)]);
  await world.ingest(Array.from({ length: 270 }, (_, day) => price('b', -day, day + 1)));
  await world.publish();
  return world;
}

const filesOfLog = (world: Pick<World, 'objects'>) =>
  new Map(
    [...world.objects.snapshot()].filter(([key]) => key.startsWith(logKey(''))).map(([key, { body }]) => [key, body]),
  );

test('a bundle that is lost before it is applied takes its entries with it; they are stated again', async () => {
  const world = await publishedWorld();
  await world.ingest([market('c'), price('a', 1, 2), price('c', 0, 3)]);
  const history = `objects.put ${publicKey({ kind: 'history', slug: 'a' })}`;
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', (operation) =>
    operation.what.startsWith(history) ? diesAfter(operation) : operation.run(),
  );
  await expect(publish(withLog(dependenciesOn(ledger, objects, world.clock)))).rejects.toThrow(ProcessDied);
  await world.loseBundles();
  await expect(world.publish()).rejects.toThrow(BundleLost);
  const before = await readTexts(world.objects);
  await rebuild(world.dependencies);
  expect((await readTexts(world.objects)).slice(0, before.length)).toEqual(before);
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

test('a market that the ledger has lost is taken back; defined again, it is stated from its beginning', async () => {
  const world = loggedWorld();
  await world.ingest([market('a'), market('b'), price('b', 0, 1)]);
  await world.publish();
  await loseMarket(world, 'b');
  await world.publish();
  await world.ingest([market('b'), price('b', 7, 1)]);
  await world.publish();
  const entries = ['reset b', 'market b 1', 'observation b 1 2026-01-08'];
  expect((await readLog(world.objects)).slice(-3).map(brief)).toEqual(entries);
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

test('an older ledger takes over the newest log of the store, and each market is stated anew', async () => {
  const world = await publishedWorld();
  const count = world.ledger.transactions.length;
  await world.ingest([price('a', 1, 2), market('z'), price('z', 0, 1)]);
  await world.ingest([price('b', 0, 99)], 'correct');
  await world.publish();
  const before = await readTexts(world.objects);
  const older = withLog(dependenciesOn(await olderCopy(world.ledger, count), world.objects, world.clock));
  await restore(older);
  while ((await publish(older)).isMoreDue);
  const entries = await readLog(world.objects);
  expect((await readTexts(world.objects)).slice(0, before.length)).toEqual(before);
  const after = (await readLog(world.objects, 1, before.length)).map(brief);
  expect(after.filter((entry) => entry.startsWith('reset'))).toEqual(['reset a', 'reset b', 'reset z']);
  expect(await faultsOfLog(world.objects)).toEqual([]);
  // A market that is new since then needs no reset.
  const writer = createWorld(SMALL_PAGES, older.ledger);
  await writer.ingest([market('new')]);
  await publish(older);
  expect((await readLog(world.objects)).slice(entries.length).map(brief)).toEqual(['market new 0']);
});

test('damaged records of the log are taken from the store again', async () => {
  const world = await publishedWorld();
  const { dependencies, ledger } = world;
  const before = filesOfLog(world);
  await putItem(ledger, logChunkKey(1, 0), { entries: 'no zstd' }, 1);
  await world.ingest([price('a', 1, 2)]);
  await expect(publish(dependencies)).rejects.toMatchObject({ name: 'StorageCorrupt' });
  await rebuild(dependencies);
  expect(await faultsOfLog(world.objects)).toEqual([]);
  for (const [name, body] of before) {
    if (!name.endsWith('checkpoint')) expect(filesOfLog(world).get(name), name).toEqual(body);
  }
});

test.each([
  ['a checkpoint of another log', 2],
  ['a checkpoint of the same key with other entries', 1],
])('%s in the store stops the publication before anything is put', async (_, seed) => {
  const world = await publishedWorld();
  const other = loggedWorld();
  const log = { origin: LOG_ORIGIN, signers: [testSigner(seed)] };
  await other.ingest([market('x'), price('x', 0, 1)]);
  await publish(withLog(other.dependencies, log));
  const objects = openMemoryObjects();
  for (const [key, { body, metadata }] of other.objects.snapshot()) {
    if (key.startsWith(logKey(''))) await objects.put(key, body, metadata, { kind: 'absent' });
  }
  const before = filesOfLog({ objects });
  await expect(rebuild(withLog(dependenciesOn(world.ledger, objects, world.clock)))).rejects.toThrow(LogForked);
  expect(filesOfLog({ objects })).toEqual(before);
});

test('while the log is switched off, it does not grow; switched on again, it states what it has missed, once', async () => {
  const world = loggedWorld();
  await world.ingest([market('a'), price('a', 0, 1), market('b'), price('b', 0, 1)]);
  await world.publish();
  const size = (await readCheckpoint(world.objects))?.size as number;
  const without = dependenciesOn(world.ledger, world.objects, world.clock);
  await world.ingest([price('a', 1, 2)]);
  await world.ingest([price('a', 0, 7)], 'correct');
  await publish(without);
  expect((await readCheckpoint(world.objects))?.size).toBe(size);
  expect(await world.json('/api/v1/snapshot')).not.toHaveProperty('log');
  await world.ingest([price('b', 1, 2)]);
  await world.publish();
  await refresh(world, ['a', 'b']);
  await world.publish();
  expect((await readLog(world.objects, 1, size)).map(brief).sort()).toEqual([
    'observation a 2 2026-01-02',
    'observation a 3 2026-01-01',
    'observation b 2 2026-01-02',
  ]);
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

test('a deployment that begins its log states everything that stands, and removed markets as removed', async () => {
  const world = loggedWorld();
  const without = dependenciesOn(world.ledger, world.objects, world.clock);
  await world.ingest([market('a'), market('b'), ...days('a', 9)]);
  await world.ingest([price('a', 1, 5)], 'correct');
  await removeMarket(world, 'b');
  await publish(without);
  expect((await world.publish()).asksForRefresh).toBe(true);
  await refresh(world, ['a', 'b']);
  await world.publish();
  const entries = (await readLog(world.objects)).map(brief);
  expect(entries).toHaveLength(1 + 10 + 1);
  expect(entries.filter((entry) => / b /.test(entry))).toEqual(['removal b 1']);
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

/** Tiles as a generation leaves them behind that was given up, for each size after this one. */
async function leaveTiles({ objects }: Pick<World, 'objects'>, size: number, generation: number): Promise<string[]> {
  const keys: string[] = [];
  for (let width = (size % TILE_WIDTH) + 1; width <= (size % TILE_WIDTH) + 4; width++) {
    const n = Math.floor(size / TILE_WIDTH);
    keys.push(...[tilePath(0, n, width), tilePath('entries', n, width), ndjsonPath(n, width)].map(logKey));
  }
  const metadata = publicMetadata({ kind: 'log-tile', tile: '0/000' }, generation);
  for (const key of keys) await objects.put(key, Buffer.from('of another past'), metadata, { kind: 'absent' });
  return keys;
}

test('tiles of a generation that was given up make way for the log, and caches forget them', async () => {
  const world = await publishedWorld();
  const { size } = (await readCheckpoint(world.objects)) as LogCheckpoint;
  await leaveTiles(world, size, 1);
  await world.ingest([price('a', 1, 2)]);
  const purged: PurgeTargets[] = [];
  const caches = { purge: async (targets: PurgeTargets) => void purged.push(targets) };
  await publish({ ...world.dependencies, caches });
  expect(purged).toEqual([{ tags: ['log'] }]);
  expect(await readCheckpoint(world.objects)).toMatchObject({ size: size + 1 });
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

test('a tile that the checkpoint leads to is never replaced, nor one of a newer generation', async () => {
  const world = await publishedWorld();
  const body = Buffer.from('other bytes');
  const { size } = (await readCheckpoint(world.objects)) as LogCheckpoint;
  const last = logKey(tilePath(0, Math.floor(size / TILE_WIDTH), size % TILE_WIDTH));
  for (const key of [logKey(tilePath('entries', 0, TILE_WIDTH)), last]) {
    await expect(putTile(world.objects, 9, { key, body })).rejects.toThrow(ImmutableMismatch);
  }
  const [later] = (await leaveTiles(world, size, 7)) as [string];
  await expect(putTile(world.objects, 6, { key: later, body })).rejects.toThrow(LedgerBehind);
  expect(await putTile(world.objects, 7, { key: later, body })).toBe(true);
  expect(await putTile(world.objects, 7, { key: later, body })).toBe(false);
});
