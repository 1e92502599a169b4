/** `verify --log`: everything public follows from the log, and a change anywhere is found. */

import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL_PROJECTIONS } from '../../../contract/files/projections.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { checkpointText, openCheckpoint } from '../../../contract/log/checkpoint.ts';
import { EMPTY_ROOT, leafHash } from '../../../contract/log/merkle.ts';
import { signNote, verifierKey } from '../../../contract/log/notes.ts';
import { frameOf } from '../../../publisher/projections/market-pages/frame.ts';
import { publish } from '../../../publisher/publish.ts';
import { type VerifyLogOptions, verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sampled } from '../../runs.ts';
import { LOG_ORIGIN, testSigner, withLog } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { setStanding } from '../standing.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from '../world.ts';
import { damagedReader, type Edit, type Loose, withBody, withBytes, withHeader, withStatus } from './damaged-reader.ts';
import { loggedReader } from './logged-reader.ts';

const VKEY = testSigner().vkey;
const CHECKPOINT = '/api/v1/log/checkpoint';
const VKEYS = '/api/v1/log/vkey';
const SNAPSHOT = '/api/v1/snapshot';
const day = { graceSeconds: 60, period: 'day', releaseTime: '15:00' } as const;

const VERIFICATION = { outcome: 'moved', subject: 'source', verifiedAt: '2026-09-30T08:00:00Z' } as const;

/** Two list pages; a history of three pages with corrections, a retraction, several sources, an unknown value, a removal. */
async function loggedWorld(): Promise<World> {
  const plain = createWorld();
  const dependencies = { ...withLog(plain.dependencies), projections: ALL_PROJECTIONS };
  const world = { ...plain, dependencies };
  const source = { publisher: 'P', licence: 'CC0-1.0', attribution: null };
  const sources = [
    { label: 'a test', url: 'https://example.com/a', cadence: day, ...source },
    { label: 'other', url: 'https://example.com/b', ...source },
  ];
  await world.ingest(['a', 'b', 'c', 'd', 'gone'].map((slug) => market(slug)));
  await world.ingest([{ ...market('a'), sources } as IngestRecordInput]);
  await world.ingest([
    { ...market('d'), sources: [{ label: 'd', url: 'https://example.com/d', ...source }] } as IngestRecordInput,
  ]);
  await world.ingest(Array.from({ length: 10 }, (_, at) => price('a', at, 100 + at)));
  await world.ingest([price('b', 0, null), price('c', 0, 7), price('gone', 0, 1)]);
  await publish(world.dependencies);
  await world.ingest([price('a', 2, 1), price('c', 0, 8)], 'correct');
  await world.ingest([
    { ...price('a', 12, 9), sourceLabel: 'other', sourceUrl: 'https://example.com/b' } as IngestRecordInput,
  ]);
  const verifications = { 'https://example.com/d': VERIFICATION };
  const none = { disputes: {}, comparisons: {}, verifications: {} };
  const representedBy = { name: 'Council of D', claim: 'clm_2', salt: 'ab'.repeat(32) };
  const disputes = { price: 'clm_1' };
  await setStanding(world.ledger, 'd', { representedBy, disputes, comparisons: {}, verifications }, 'standing');
  // Since before the log began: the log has no digest of this name.
  await setStanding(world.ledger, 'b', { representedBy: { name: 'Council of B', claim: 'clm_3' }, ...none }, 'before');
  await removeMarket(world, 'gone', 'a');
  await publish(world.dependencies);
  return world;
}

let world: World;
let reader: PublicReader;

beforeAll(async () => {
  world = await loggedWorld();
  reader = loggedReader(world.objects);
});

function check(damaged: PublicReader, options: Partial<VerifyLogOptions> = {}) {
  return verifyLog(damaged, { vkeys: [VKEY], seen: null, pageSizes: SMALL_PAGES, ...options });
}

async function found(damaged: PublicReader, options: Partial<VerifyLogOptions> = {}): Promise<readonly string[]> {
  const { findings } = await check(damaged, options);
  return findings.map(({ rule, url }) => `${rule} ${url}`).sort();
}

test('a sound log and its bodies have no finding, with a key that is given or on first use', async () => {
  const report = await check(reader);
  expect(report.findings).toEqual([]);
  const { size } = openCheckpoint(report.checkpoint as string, [verifierKey(VKEY)]);
  expect([report.size, report.vkeys, report.takenDown]).toEqual([size, [VKEY], 0]);
  expect(await check(reader, { vkeys: [] })).toEqual(report);
  const pause = () => expect.unreachable('nothing is looked at again');
  expect(await check(reader, { seen: report.checkpoint, pause })).toEqual(report);
});

describe('a changed byte of any object that readers reach', () => {
  /** The store with one object changed. */
  function changed(key: string, at: number): ObjectStore {
    return {
      ...world.objects,
      async get(asked) {
        const got = await world.objects.get(asked);
        if (asked !== key || got.kind !== 'found') return got;
        const body = Buffer.from(got.body);
        body.writeUInt8(body.readUInt8(at) ^ 1, at);
        return { ...got, body };
      },
    };
  }

  async function isFound(objects: ObjectStore): Promise<boolean> {
    const { findings } = await check(loggedReader(objects));
    if (findings.length > 0) return true;
    return (await verify(loggedReader(objects), { pageSizes: SMALL_PAGES })).findings.length > 0;
  }

  test('is found', async () => {
    const read = new Set<string>();
    const watched: ObjectStore = {
      ...world.objects,
      get: (key) => {
        read.add(key);
        return world.objects.get(key);
      },
    };
    expect(await isFound(watched)).toBe(false);
    const objects = [...world.objects.snapshot()].filter(([key]) => key.startsWith(`${PUBLIC_PREFIX}/`));
    // Nothing leads to pages and tiles that later ones have replaced, nor to the answer for a wrong URL.
    const unread = objects.filter(([key]) => !read.has(key)).map(([key]) => parsePublicKey(key)?.kind);
    expect(unread.filter((kind) => !UNREAD.has(kind ?? ''))).toEqual([]);
    const missed: string[] = [];
    for (const [index, [key, { body }]] of sampled(
      objects.filter(([one]) => read.has(one)),
      3,
    ).entries()) {
      // Another place in each object, and always the same in each run.
      const at = (index * 31) % body.byteLength;
      if (!isUnproven(key, body, at) && !(await isFound(changed(key, at)))) missed.push(`${key} at ${at}`);
    }
    expect(missed).toEqual([]);
  });

  const UNREAD = new Set(['not-found', 'history-page', 'market-list-page', 'log-tile', 'log-ndjson']);

  /**
   * The snapshot's time and number of its generation are in no log. The header of gzip holds a system and a time. The frame of a
   * page is the site's, as stylesheets are.
   */
  function isUnproven(key: string, body: Uint8Array, at: number): boolean {
    if (key.endsWith('.gz')) return at < GZIP_HEADER_BYTES;
    const page = Buffer.from(body).toString('latin1');
    // In the place of a removed market's page is a document.
    if (parsePublicKey(key)?.kind === 'market-page' && page.includes('<main')) {
      const [before, between, after] = frameOf(page);
      const main = page.indexOf(between, before.length);
      return at < before.length || (at >= main && at < main + between.length) || at >= page.length - after.length;
    }
    if (!key.endsWith('/snapshot.json')) return false;
    const text = Buffer.from(body).toString('utf8');
    return [...text.matchAll(/"(generation|publishedAt|listGeneration)":[^,}]+/g)].some(
      ({ 0: { length }, index }) => at >= index && at < index + length,
    );
  }
});

const GZIP_HEADER_BYTES = 10;
const TILE = '/api/v1/log/tile/0/000';
const withEntry = (from: string, to: string) =>
  withBytes((bytes) => gzipSync(gunzipSync(bytes).toString().replace(from, to)));
const flip = (at: number) => withBytes((bytes) => bytes.fill(bytes.readUInt8(at) ^ 1, at, at + 1));
const cut = (from: number, to?: number) => withBytes((bytes) => bytes.subarray(from, to));

describe('damage', () => {
  let size: number;
  let files: { readonly [name in 'tile' | 'entries' | 'ndjson']: string };

  beforeAll(async () => {
    size = (await check(reader)).size;
    files = {
      tile: `${TILE}.p/${size}`,
      entries: `/api/v1/log/tile/entries/000.p/${size}`,
      ndjson: `/api/v1/log/ndjson/000.p/${size}.gz`,
    };
  });

  const foundIn = (url: string, edit: Edit) => found(damagedReader(reader, { [url]: edit }));

  test('of a body: another market, no market, a market that was removed', async () => {
    const asC = () => reader('/api/v1/markets/c');
    expect(await foundIn('/api/v1/markets/b', asC)).toEqual(['not-in-log /api/v1/markets/b']);
    expect(await foundIn('/api/v1/markets/b', withStatus(404))).toEqual(['not-in-log /api/v1/markets/b']);
    expect(await foundIn('/api/v1/markets/gone', asC)).toEqual(['not-in-log /api/v1/markets/gone']);
  });

  test('of the name of a representative: its digest is in the log', async () => {
    const changes: readonly ((body: Loose) => unknown)[] = [
      (body) => (body.representedBy = 'Council of E'),
      (body) => (body.representedBySalt = 'cd'.repeat(32)),
      (body) => delete body.representedBySalt,
      (body) => (body.representedBy = null),
    ];
    for (const change of changes)
      expect(await foundIn('/api/v1/markets/d', withBody(change))).toEqual(['not-in-log /api/v1/markets/d']);
  });

  test('of the list: a market that is not in the log', async () => {
    const more = withBody((body) => (body.data[0].slug = '0'));
    expect(await foundIn('/api/v1/markets', more)).toEqual(
      expect.arrayContaining(['not-in-log /api/v1/markets/0', 'not-in-log /api/v1/markets/a']),
    );
  });

  test('of the snapshot: another log, other counts', async () => {
    const edit = (change: (body: Loose) => unknown) => foundIn(SNAPSHOT, withBody(change));
    expect(await edit((body) => body.log.size++)).toEqual([`not-in-log ${SNAPSHOT}`]);
    expect(await edit((body) => delete body.log)).toEqual([`not-in-log ${SNAPSHOT}`]);
    expect(await edit((body) => body.counts.observations++)).toEqual([`count ${SNAPSHOT}`]);
    const unreadable = { [SNAPSHOT]: withStatus(503), '/api/v1/markets/b': withStatus(404) };
    expect(await found(damagedReader(reader, unreadable))).toContain('not-in-log /api/v1/markets/b');
  });

  test.each<[string, () => string, Edit, string]>([
    ['no tile', () => files.tile, withStatus(404), 'status'],
    ['entries that are cut off', () => files.entries, cut(0, -1), 'log'],
    ['another media type', () => files.entries, withHeader('content-type', 'text/html'), 'headers'],
    // What may be taken down must not stay in caches.
    [
      'entries for ever in caches',
      () => files.entries,
      withHeader('cache-control', 'public, max-age=31536000, immutable'),
      'headers',
    ],
    ['lines that are cut off', () => files.ndjson, cut(0, -9), 'log'],
    ['a line less', () => files.ndjson, withEntry('\n', ''), 'log'],
    ['no checkpoint', () => CHECKPOINT, withStatus(404), 'status'],
    ['keys of somebody else', () => VKEYS, withBytes(() => Buffer.from(`${testSigner(2).vkey}\n`)), 'signature'],
    ['no keys', () => VKEYS, withStatus(404), 'signature'],
  ])('of a file of the log: %s', async (_, urlOf, edit, rule) => {
    expect(await foundIn(urlOf(), edit)).toEqual([`${rule} ${urlOf()}`]);
  });

  test('of an entry in all of its files: the signed root is another one', async () => {
    const swap = (text: string) => text.replace('Market b', 'Market B');
    const both = damagedReader(reader, {
      [files.ndjson]: withEntry('Market b', 'Market B'),
      [files.entries]: withBytes((bytes) => Buffer.from(swap(bytes.toString('latin1')), 'latin1')),
    });
    expect(await found(both)).toEqual([`log ${CHECKPOINT}`, `log ${files.tile}`]);
  });

  test('of a tile: each is compared, partial ones of all levels too', async () => {
    const { read } = await smallWorld(market('a'), ...Array.from({ length: 260 }, (_, at) => price('a', -at, 1 + at)));
    const { size: grown } = await check(read);
    for (const url of [TILE, `/api/v1/log/tile/0/001.p/${grown - 256}`, '/api/v1/log/tile/1/000.p/1'])
      expect(await found(damagedReader(read, { [url]: flip(3) }))).toEqual([`log ${url}`]);
  });
});

/** A world with a log of these records. `publishMore` takes more of them in. */
async function smallWorld(...records: readonly IngestRecordInput[]) {
  const small = createWorld();
  const publishMore = async (...more: readonly IngestRecordInput[]) => {
    await small.ingest(more);
    await publish(withLog(small.dependencies));
  };
  await publishMore(...records);
  return { small, read: loggedReader(small.objects), publishMore };
}

describe('the key and the past', () => {
  test('of another log are found, and nothing of it is remembered', async () => {
    const report = await check(reader, { vkeys: [testSigner(2).vkey] });
    expect(report.findings).toMatchObject([{ rule: 'signature', url: CHECKPOINT }]);
    expect(report.checkpoint).toBeNull();
  });

  test('another root at the size that was seen, or a smaller log, is a fork', async () => {
    const { checkpoint, size } = await check(reader);
    const { root } = openCheckpoint(checkpoint as string, [verifierKey(VKEY)]);
    const signed = (at: number, hash: Buffer) =>
      signNote(checkpointText({ origin: LOG_ORIGIN, size: at, root: hash }), [testSigner()]);
    for (const seen of [await signed(3, root), await signed(size, leafHash('')), await signed(size + 1, root)]) {
      const report = await check(reader, { seen });
      expect(report.findings).toMatchObject([{ rule: 'fork', url: CHECKPOINT }]);
      expect(report.checkpoint).toBeNull();
    }
  });

  test('of another name are not the log that was seen', async () => {
    const other = await signNote(checkpointText({ origin: 'other.test/log', size: 0, root: EMPTY_ROOT }), [
      testSigner(),
    ]);
    expect((await check(reader, { seen: other })).findings).toMatchObject([{ rule: 'fork', url: CHECKPOINT }]);
  });
});

test('a log that was switched off is one finding, whether its files are there or not', async () => {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1)]);
  await publish(withLog(world.dependencies));
  await publish(world.dependencies);
  const reader = loggedReader(world.objects);
  const gone: PublicReader = async (url) => ({ ...(await reader(url)), ...(url === CHECKPOINT && { status: 404 }) });
  for (const [from, detail] of [[reader, /ended at 3 entries/] as const, [gone, /no log/] as const]) {
    const { findings } = await verifyLog(from, { vkeys: [VKEY], seen: null });
    expect(findings).toEqual([{ url: SNAPSHOT, rule: 'log', detail: expect.stringMatching(detail) }]);
  }
});

test('what is published meanwhile is no finding: it is looked at again, with the log as it is then', async () => {
  const { small, read, publishMore } = await smallWorld(market('a'), market('b'), price('a', 0, 1));
  let days = 0;
  const disturbed = (): PublicReader => {
    let hasRead = false;
    return async (url, headers) => {
      if (url === '/api/v1/markets/a' && !hasRead) {
        hasRead = true;
        small.clock.nowMs += 60_000;
        await publishMore(price('a', ++days, 2), market(`c-${small.clock.nowMs}`));
      }
      return read(url, headers);
    };
  };
  expect((await check(disturbed())).findings).not.toEqual([]);
  let pauses = 0;
  const pause = async () => ++pauses < 20;
  expect((await check(disturbed(), { pause })).findings).toEqual([]);
  expect(pauses).toBe(1);
  // A fault that stays is looked at a few times, and then reported. The limit ends a check that would not.
  const lost = damagedReader(read, { '/api/v1/markets/b': withStatus(404) });
  expect((await check(lost, { pause })).findings).not.toEqual([]);
  expect(pauses).toBe(3);
});

test('nothing is remembered of a log whose files disagree, also if only the second look finds it', async () => {
  const { read, publishMore } = await smallWorld(market('a'), price('a', 0, 1));
  let isSecond = false;
  const reader: PublicReader = async (url, headers) => {
    const answer = await read(url, headers);
    if (isSecond && url.includes('/tile/0/')) return await flip(3)(answer);
    return url === '/api/v1/markets/a' && !isSecond ? await withStatus(503)(answer) : answer;
  };
  const pause = async () => {
    isSecond = true;
    await publishMore(price('a', 1, 2));
    return true;
  };
  const report = await check(reader, { pause });
  expect(report.findings.map(({ rule }) => rule)).toContain('log');
  expect(report.checkpoint).toBeNull();
});

test('a cache with an earlier checkpoint of the same log is no fork, at the first look and at the second', async () => {
  const { read, publishMore } = await smallWorld(market('a'), price('a', 0, 1));
  const earlier = await read(CHECKPOINT, {});
  await publishMore(price('a', 1, 2));
  const { checkpoint: seen } = await check(read);
  let isWaited = false;
  const pause = async () => {
    isWaited = true;
    return true;
  };
  const earlierFirst: PublicReader = async (url, headers) =>
    url === CHECKPOINT && !isWaited ? earlier : await read(url, headers);
  expect(await found(earlierFirst, { seen })).toEqual([`fork ${CHECKPOINT}`]);
  expect(await check(earlierFirst, { seen, pause })).toMatchObject({ findings: [], checkpoint: seen });
  isWaited = false;
  const earlierLater: PublicReader = async (url, headers) => {
    if (url === CHECKPOINT && isWaited) return earlier;
    const answer = await read(url, headers);
    return url === '/api/v1/markets/a' && !isWaited ? { ...answer, status: 503 } : answer;
  };
  expect((await check(earlierLater, { pause })).findings).toEqual([]);
  expect(isWaited).toBe(true);
});
