/** A mirror of a service with a log: it copies what is signed, and nothing else; a fork ends it. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { LOG_ROOT } from '../../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { UpstreamInvalid } from '../../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader, PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import { type MirrorLogState, UpstreamForked } from '../../../server/mirror/mirror-log.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { LOG_ORIGIN, TEST_LOG, testSigner } from '../../publisher/log/test-log.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES, type World } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import {
  changeWorld,
  folderWith,
  mirrorIn,
  mirrorOf,
  mirrorWith,
  publishedWorld,
  roundOf,
  servedBy,
} from './mirrored-world.ts';

const FIRST: MirrorLogState = { vkeys: [testSigner().vkey], checkpoint: null };

/** Copies once, as a new process that knows `logState`. */
async function copyOf(world: World, copied: ObjectStore, logState = FIRST, upstream = readerOf(world.objects)) {
  const { mirror, folder } = await mirrorWith(world, copied, { logState, upstream });
  const report = await mirror.follow();
  return { ...report, state: folder.state.log ?? FIRST, outcome: report.state };
}

test('verify --log finds nothing in the copy, and a key that came by no entry is not shown', async () => {
  const world = await publishedWorld(TEST_LOG);
  const copied = openMemoryObjects();
  const { state } = await copyOf(world, copied);
  const options = { vkeys: [], seen: state.checkpoint, pageSizes: SMALL_PAGES };
  expect((await verifyLog(readerOf(copied), options)).findings).toEqual([]);
  await changeWorld(world);
  const keys = `${testSigner(3).vkey}\n`;
  const upstream: PublicReader = async (url) => {
    const answer = await readerOf(world.objects)(url);
    return url === `${LOG_ROOT}/vkey` ? { ...answer, status: 200, body: Buffer.from(keys) } : answer;
  };
  await copyOf(world, copied, state, upstream);
  expect(servedBy(copied).get('public/api/v1/log/vkey')).toBe(`${testSigner().vkey}\n`);
});

describe('a log that contradicts what was signed before is a fork:', () => {
  /** Another past under the same key: other values, and as many or more entries. */
  async function otherPast(more: number): Promise<World> {
    const world = await publishedWorld(TEST_LOG);
    const other = await publishedWorld(TEST_LOG);
    await world.ingest([price('c', 3, 1)]);
    await publish(world.dependencies);
    await other.ingest([price('c', 3, 2), ...Array.from({ length: more }, (_, day) => price('c', -10 - day, 5))]);
    await publish(other.dependencies);
    return other;
  }

  test.each([
    ['of the same size', 0],
    ['of a greater size', 3],
    ['of a greater size, by a tile', 300],
  ])('%s', async (_, more) => {
    const world = await publishedWorld(TEST_LOG);
    await world.ingest([price('c', 3, 1)]);
    await publish(world.dependencies);
    const copied = openMemoryObjects();
    const { state } = await copyOf(world, copied);
    const served = servedBy(copied);
    const other = await otherPast(more);
    await expect(copyOf(world, copied, state, readerOf(other.objects))).rejects.toThrow(UpstreamForked);
    expect(servedBy(copied)).toEqual(served);
  });

  test('of a smaller size', async () => {
    const world = await publishedWorld(TEST_LOG);
    const early = await otherPast(0);
    await world.ingest([price('c', 3, 1), price('c', 4, 1)]);
    await publish(world.dependencies);
    const copied = openMemoryObjects();
    const { state } = await copyOf(world, copied);
    // A cache may have the newer snapshot all the same.
    const upstream: PublicReader = (url, headers) =>
      readerOf((url === SNAPSHOT_URL ? world : early).objects)(url, headers);
    await expect(copyOf(world, copied, state, upstream)).rejects.toThrow(UpstreamForked);
  });

  test('but not an earlier checkpoint of the same log, which a cache may have', async () => {
    const world = await publishedWorld(TEST_LOG);
    const early = world.objects.copy();
    await changeWorld(world);
    const copied = openMemoryObjects();
    const { state } = await copyOf(world, copied);
    const upstream: PublicReader = (url, headers) =>
      readerOf(url.endsWith('/checkpoint') ? early : world.objects)(url, headers);
    const second = await copyOf(world, copied, state, upstream);
    expect([second.outcome, second.state]).toEqual(['current', state]);
    expect(servedBy(copied).get('public/api/v1/log/checkpoint')).toBe(state.checkpoint);
  });

  test('but not public files that are older as a whole: the copy stays, and what to do is told', async () => {
    const world = await publishedWorld(TEST_LOG);
    const early = world.objects.copy();
    await changeWorld(world);
    const copied = openMemoryObjects();
    const { state: logState } = await copyOf(world, copied);
    const served = servedBy(copied);
    const { mirror } = await mirrorWith(world, copied, { logState, upstream: readerOf(early) });
    await expect(mirror.follow()).rejects.toThrow(/an older copy of the service, or .* Ask its operator/);
    expect(mirror.document.state).toBe('faulty');
    expect(servedBy(copied)).toEqual(served);
  });

  test('the evidence is kept, and nothing is followed until it is removed', async () => {
    const world = await publishedWorld(TEST_LOG);
    await world.ingest([price('c', 3, 1)]);
    await publish(world.dependencies);
    let { objects } = world;
    const folder = await folderWith(openMemoryObjects());
    const open = () => mirrorIn(folder, world, { upstream: (url) => readerOf(objects)(url) });
    const mirror = await open();
    expect((await mirror.follow()).state).toBe('current');
    const signed = Buffer.from((await readerOf(objects)(`${LOG_ROOT}/checkpoint`)).body).toString();
    process.umask(0o077);
    ({ objects } = await otherPast(1));
    await expect(mirror.follow()).rejects.toThrow(UpstreamForked);
    expect(mirror.document).toMatchObject({ state: 'forked', log: { origin: LOG_ORIGIN } });
    // It is there to be shown to others, whatever the umask of the process.
    expect((await stat(join(folder.path, 'fork-evidence.json'))).mode & 0o077).toBe(0o044);
    const evidence = JSON.parse(await readFile(join(folder.path, 'fork-evidence.json'), 'utf8'));
    expect(evidence.earlierCheckpoint).toBe(signed);
    expect(evidence.laterCheckpoint).toMatch(/^tidemark\.test\/log\n\d+\n/);
    const next = await open();
    expect([next.isForked, next.isComplete]).toEqual([true, true]);
    expect(next.document.log).toEqual(mirror.document.log);
  });
});

describe('a file of the log that is not what was signed is not taken over:', () => {
  let world: World;
  beforeAll(async () => {
    world = await publishedWorld(TEST_LOG);
    await world.ingest(Array.from({ length: 260 }, (_, day) => price('c', -1 - day, 1)));
    await publish(world.dependencies);
  });

  const flipped = ({ body, ...answer }: PublicResponse, at: number): PublicResponse => {
    const bytes = Buffer.from(body);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return { ...answer, body: bytes };
  };
  const otherLine = ({ body, ...answer }: PublicResponse): PublicResponse => {
    const text = gunzipSync(body).toString().replace('"amountMinor":1,', '"amountMinor":2,');
    return { ...answer, body: gzipSync(text) };
  };
  const bomb = (answer: PublicResponse) => ({ ...answer, body: gzipSync(Buffer.alloc(30e6)) });
  const missing = (answer: PublicResponse) => ({ ...answer, status: 404 });
  test.each<[string, string, (answer: PublicResponse) => PublicResponse]>([
    ['the text of the checkpoint', 'checkpoint', (answer) => flipped(answer, 22)],
    ['its signature', 'checkpoint', (answer) => flipped(answer, answer.body.length - 6)],
    ['no checkpoint', 'checkpoint', missing],
    ['an empty checkpoint', 'checkpoint', (answer) => ({ ...answer, body: new Uint8Array() })],
    ['a hash', 'tile/0/000', (answer) => flipped(answer, 40)],
    ['a hash above', 'tile/1/000.p/1', (answer) => flipped(answer, 3)],
    ['a tile that is cut off', 'tile/0/000', (answer) => ({ ...answer, body: answer.body.subarray(0, 64) })],
    ['an entry', 'ndjson/000.gz', otherLine],
    ['entries that are no gzip', 'ndjson/000.gz', (answer) => flipped(answer, 0)],
    ['entries that unpack to far more', 'ndjson/000.gz', bomb],
    ['entries that are gone', 'ndjson/000.gz', missing],
  ])('%s', async (_, path, change) => {
    const upstream: PublicReader = async (url) => {
      const answer = await readerOf(world.objects)(url);
      return url === `${LOG_ROOT}/${path}` ? change(answer) : answer;
    };
    const copied = openMemoryObjects();
    await expect(copyOf(world, copied, FIRST, upstream)).rejects.toThrow(UpstreamInvalid);
    expect([...servedBy(copied).keys()].filter((key) => /snapshot|checkpoint/.test(key))).toEqual([]);
    expect((await copyOf(world, copied)).outcome).toBe('current');
  });
});

describe('bodies must be what the log says:', () => {
  const renamed =
    (world: World): PublicReader =>
    async (url) => {
      const answer = await readerOf(world.objects)(url);
      if (url !== '/api/v1/markets/b') return answer;
      return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString().replace('Market b', 'Murket b')) };
    };

  test('a body with another name is not taken over, although no rule of its own is broken', async () => {
    const world = await publishedWorld(TEST_LOG);
    const copied = openMemoryObjects();
    const { state, findings } = await roundOf(world, copied, { upstream: renamed(world) });
    expect([state, findings]).toEqual(['faulty', [expect.objectContaining({ rule: 'not-in-log' })]]);
    expect([...servedBy(copied).values()].join('')).not.toContain('Murket');
  });

  test.each([
    [true, 'faulty'],
    [false, 'current'],
  ])('a body that is newer than the log waits until the log has it (forged: %s)', async (isForged, state) => {
    const world = await publishedWorld(TEST_LOG);
    const copied = openMemoryObjects();
    const first = await copyOf(world, copied);
    const early = await readerOf(world.objects)(`${LOG_ROOT}/checkpoint`);
    await world.ingest([price('b', 1, 5)]);
    await publish(world.dependencies);
    // A cache keeps the checkpoint for longer than it may.
    let isCached = true;
    const forged = isForged ? renamed(world) : readerOf(world.objects);
    const upstream: PublicReader = async (url) => (isCached && url.endsWith('/checkpoint') ? early : await forged(url));
    const { mirror } = await mirrorWith(world, copied, {
      logState: first.state,
      upstream,
      async pause() {
        expect(servedBy(copied).get('public/api/v1/markets/b.json')).toBe(before);
        isCached = false;
      },
    });
    const before = servedBy(copied).get('public/api/v1/markets/b.json');
    expect((await mirror.follow()).state).toBe(state);
    expect(servedBy(copied).get('public/api/v1/markets/b.json') === before).toBe(isForged);
  });
});

test('a later key follows from the log, and a key of somebody else does not', async () => {
  const world = await publishedWorld(TEST_LOG);
  const copied = openMemoryObjects();
  const { state } = await copyOf(world, copied);
  const [second, stranger] = [testSigner(2), testSigner(3)];
  const both = {
    ...world,
    dependencies: { ...world.dependencies, log: { ...TEST_LOG, signers: [second, testSigner()] } },
  };
  await changeWorld(both);
  const { state: rotated } = await copyOf(both, copied, state);
  expect(rotated.vkeys).toEqual([testSigner().vkey, second.vkey]);
  const alone = { ...world, dependencies: { ...world.dependencies, log: { ...TEST_LOG, signers: [second] } } };
  await alone.ingest([price('c', 5, 5)]);
  await publish(alone.dependencies);
  expect((await copyOf(alone, copied, rotated)).outcome).toBe('current');
  await expect(copyOf(alone, copied, { ...FIRST, vkeys: [stranger.vkey] })).rejects.toThrow(UpstreamInvalid);
});

test('a service without a log is refused: nothing proves its files', async () => {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1)]);
  await publish(world.dependencies);
  const copied = openMemoryObjects();
  const mirror = await mirrorOf(world, copied, { logKeys: [] });
  await expect(mirror.follow()).rejects.toThrow(/has no signed log/);
  expect(mirror.document.state).toBe('faulty');
  expect(servedBy(copied).has('public/api/v1/markets.json')).toBe(false);
});
