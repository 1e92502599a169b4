/** Tombstones: those that the log announces are taken, and no others. By `verify --log` and by mirrors. */
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { LOG_ROOT } from '../../../contract/files/public-objects.ts';
import { TILE_WIDTH, tilePath } from '../../../contract/log/tiles.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { UpstreamInvalid } from '../../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import type { MirrorLogState } from '../../../server/mirror/mirror-log.ts';
import { mirrorWith, publishedWorld, servedBy } from '../../server/mirror/mirrored-world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { TEST_LOG, testSigner } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { takeDown } from '../take-down.ts';
import { price, readerOf, SMALL_PAGES, type World } from '../world.ts';
import { damagedReader, withBody } from './damaged-reader.ts';
import { hidingHost, hostWithoutCorrection } from './hiding-host.ts';

const FIRST: MirrorLogState = { vkeys: [testSigner().vkey], checkpoint: null };

let world: World;

beforeEach(async () => {
  world = await publishedWorld(TEST_LOG);
});

const verified = (reader: PublicReader) =>
  verifyLog(reader, { vkeys: FIRST.vkeys, seen: null, pageSizes: SMALL_PAGES });

async function rulesOf(reader: PublicReader): Promise<readonly string[]> {
  return (await verified(reader)).findings.map(({ rule, url }) => `${rule} ${url.replace(/\d+\.gz$/, 'W.gz')}`);
}

const CHECKPOINT = 'public/api/v1/log/checkpoint';
const HIDDEN = `not-in-log ${LOG_ROOT}/ndjson/000.p/W.gz`;

async function mirrorOf(upstream: PublicReader, copied = openMemoryObjects(), state = FIRST) {
  const { mirror, folder } = await mirrorWith(world, copied, { logState: state, upstream });
  return { folder, copied, round: () => mirror.follow() };
}

/** The lines of all files of the copy. */
const linesOf = (copied: ReturnType<typeof openMemoryObjects>) =>
  [...copied.snapshot()]
    .filter(([key]) => key.includes('/ndjson/'))
    .map(([, { body }]) => gunzipSync(body).toString('utf8'))
    .join('');

async function takeMarketDown(slug: string): Promise<void> {
  await removeMarket(world, slug);
  await takeDown(world, slug);
  while ((await publish(world.dependencies)).isMoreDue);
}

describe('a tombstone that the log does not announce', () => {
  const renamed = (reader: PublicReader) =>
    damagedReader(reader, { '/api/v1/markets/b': withBody((body) => (body.name = 'Murket b')) });
  const besideTakedown = (pattern: RegExp) => async () => {
    await takeMarketDown('d');
    return hidingHost(readerOf(world.objects), pattern);
  };
  const attacks: readonly [string, () => Promise<PublicReader>][] = [
    [
      'of a definition, with another body',
      async () => renamed(hidingHost(readerOf(world.objects), /^.*"name":"Market b".*$/m)),
    ],
    ['of a correction, with all bodies from before it', () => hostWithoutCorrection(world)],
    ['of another market, beside a takedown', besideTakedown(/^.*"market":"b".*"type":"observation".*$/m)],
    ['of the announcement itself', besideTakedown(/^.*"type":"takedown".*$/gm)],
    ['of a removal', besideTakedown(/^.*"type":"removal".*$/m)],
  ];

  test.each(attacks)(
    '%s, is found by verify --log, and a mirror takes the entry from an honest host',
    async (_, attack) => {
      const host = await attack();
      expect(await rulesOf(host)).toContain(HIDDEN);
      let upstream = host;
      const { round, copied } = await mirrorOf((url, headers) => upstream(url, headers));
      for (let again = 0; again < 2; again++) await expect(round()).rejects.toThrow(UpstreamInvalid);
      expect(linesOf(copied)).not.toContain('takenDown');
      expect([...servedBy(copied).keys()].filter((key) => /checkpoint|snapshot|markets/.test(key))).toEqual([]);
      upstream = readerOf(world.objects);
      expect((await round()).state).toBe('current');
      expect(servedBy(copied).get(CHECKPOINT)).toBe(servedBy(world.objects).get(CHECKPOINT));
    },
  );

  test('of a correction, is the only finding: nothing else shows it', async () => {
    expect(await rulesOf(await hostWithoutCorrection(world))).toEqual([HIDDEN]);
  });
});

describe('a takedown', () => {
  test('is taken by verify --log and by mirrors, also in tiles that are full', async () => {
    await world.ingest(Array.from({ length: 270 }, (_, day) => price(day % 2 === 0 ? 'c' : 'd', -1 - day, 1)));
    await publish(world.dependencies);
    const early = await mirrorOf(readerOf(world.objects));
    await early.round();
    await takeMarketDown('d');
    expect(await verified(readerOf(world.objects))).toMatchObject({ findings: [], takenDown: 137 });
    const entries = await readerOf(world.objects)(`${LOG_ROOT}/${tilePath('entries', 0, TILE_WIDTH)}`);
    expect(entries.status).toBe(410);
    const fresh = await mirrorOf(readerOf(world.objects));
    expect([(await fresh.round()).state, (await early.round()).state]).toEqual(['current', 'current']);
    expect(servedBy(fresh.copied).get(CHECKPOINT)).toBe(servedBy(world.objects).get(CHECKPOINT));
    expect(linesOf(fresh.copied).match(/takenDown/g)).toHaveLength(137);
    // A new process reads its copy again.
    const again = await mirrorOf(readerOf(world.objects), fresh.copied, fresh.folder.state.log ?? FIRST);
    expect((await again.round()).state).toBe('current');
    expect(await verified(readerOf(early.copied))).toMatchObject({ findings: [] });
  });

  test('switches no check of other markets off', async () => {
    await takeMarketDown('d');
    const renamed = withBody((body) => (body.name = 'Murket b'));
    const { round, copied } = await mirrorOf(damagedReader(readerOf(world.objects), { '/api/v1/markets/b': renamed }));
    expect(await round()).toMatchObject({ state: 'faulty', findings: [{ rule: 'not-in-log' }] });
    expect([...servedBy(copied).values()].join('')).not.toContain('Murket');
  });

  test('is no fault while its tombstones are there and its checkpoint is not yet', async () => {
    const checkpoint = await readerOf(world.objects)(`${LOG_ROOT}/checkpoint`);
    await removeMarket(world, 'd');
    await publish(world.dependencies);
    const removed = await readerOf(world.objects)(`${LOG_ROOT}/checkpoint`);
    expect(removed.body).not.toEqual(checkpoint.body);
    await takeDown(world, 'd');
    while ((await publish(world.dependencies)).isMoreDue);
    const read = readerOf(world.objects);
    let isEarly = true;
    const racing: PublicReader = async (url, headers) =>
      isEarly && url === `${LOG_ROOT}/checkpoint` ? removed : await read(url, headers);
    const pause = async () => {
      isEarly = false;
      return true;
    };
    expect((await verified(racing)).findings).not.toEqual([]);
    const options = { vkeys: FIRST.vkeys, seen: null, pageSizes: SMALL_PAGES, pause };
    expect((await verifyLog(racing, options)).findings).toEqual([]);
  });
});
