/** Takedowns: through the write API and the publisher, to what readers and `verify --log` see. */
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { takenDownHash } from '../../contract/log/entry-bundle.ts';
import { ndjsonPath, TILE_WIDTH, tilePath } from '../../contract/log/tiles.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../../publisher/dependencies.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { auditOfTarget } from '../../storage/records/audit.ts';
import { ingest } from '../ingest/ingest.ts';
import { rowsOf } from '../publisher/exports/exported.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../publisher/faulty-storage.ts';
import { logKey, testSigner, withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { dependenciesOn, market, price, SMALL_PAGES } from '../publisher/world.ts';
import { type MemoryObjects, openMemoryObjects } from '../storage/memory-objects.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/takedowns';
const REASON = 'Order of a court.';

let world: ApiWorld;
let objects: MemoryObjects;
let pageSizes: PageSizes;

const dependencies = () => withLog(dependenciesOn(world.ledger, objects, world, pageSizes));

async function publishAll(): Promise<void> {
  while ((await publish(dependencies())).isMoreDue);
}

const post = (path: string, body: unknown, as = 'operator') => world.call({ method: 'POST', path, body, as });
const create = (body: object, as?: string) => post(URL, { market: 'b', reason: REASON, ...body }, as);
const remove = (slug: string) => post(`/api/v1/markets/${slug}/removal`, { reason: 'Over.' });
const list = async () => (await world.call({ path: URL, as: 'operator' })).json.data;
const verified = () => verifyLog(loggedReader(objects), { vkeys: [testSigner().vkey], seen: null, pageSizes });

/** The newest lines of all tiles. */
async function lines(): Promise<readonly string[]> {
  const { size } = await verified();
  const texts: string[] = [];
  for (let n = 0; n * TILE_WIDTH < size; n++) {
    const found = await objects.get(logKey(ndjsonPath(n, Math.min(TILE_WIDTH, size - n * TILE_WIDTH))));
    if (found.kind === 'found') texts.push(...gunzipSync(found.body).toString('utf8').trim().split('\n'));
  }
  return texts;
}

const isHidden = (line: string) => takenDownHash(line) !== null;
const isTakedown = (line: string) => line.includes('"type":"takedown"');
/** What no file of the log may hold any more. */
const isOfB = (line: string) => line.includes('"market":"b"') && !/"type":"(removal|takedown)"/.test(line);

/** Every file of the log, unpacked. */
function publicTexts(): string {
  const files = [...objects.snapshot()].filter(([key]) => key.startsWith(logKey('')));
  return files
    .map(([key, { body }]) => (key.endsWith('.gz') ? gunzipSync(body) : Buffer.from(body)).toString('latin1'))
    .join('\n');
}

/** A log with entries of the markets `a` and `b`, of two generations. */
async function open(prices: number, pages = SMALL_PAGES): Promise<void> {
  pageSizes = pages;
  world = openApiWorld({ scopes: { reader: ['publications:write'] } });
  objects = openMemoryObjects();
  await ingest(dependencies(), [market('a'), market('b'), price('a', 0, 1)]);
  await publishAll();
  const some = Array.from({ length: prices }, (_, day) => price('b', -day, day + 1));
  await ingest(dependencies(), [...some, price('a', 1, 2)]);
  await publishAll();
}

beforeEach(() => open(3));

describe('a takedown', () => {
  it('replaces the texts by their hashes, and the log still verifies', async () => {
    // A full tile, and an open one.
    await open(254);
    await remove('b');
    const asked = await create({});
    expect([asked.status, asked.headers.location]).toEqual([202, URL]);
    expect(asked.json).toMatchObject({ market: 'b', first: 0, last: null, state: 'waiting', entries: 0 });
    await publishAll();
    expect(await list()).toMatchObject([{ id: asked.json.id, state: 'done', reason: REASON }]);

    const texts = await lines();
    expect(texts.filter(isOfB)).toEqual([]);
    const hidden = texts.filter(isHidden).length;
    expect(hidden).toBe((await list())[0].entries);
    expect(hidden).toBeGreaterThan(254);
    expect(await verified()).toMatchObject({ findings: [], takenDown: hidden });
    // The tiles that the log has outgrown too.
    expect(publicTexts()).not.toContain('"observation","market":"b"');
    expect(publicTexts().split('\n').filter(isOfB)).toEqual([]);
    const read = loggedReader(objects);
    for (const [n, width] of [
      [0, TILE_WIDTH],
      [1, texts.length - TILE_WIDTH],
    ] as const) {
      const { status, body } = await read(`${LOG_ROOT}/${tilePath('entries', n, width)}`);
      expect([status, JSON.parse(Buffer.from(body).toString('utf8')).code]).toEqual([410, 'taken-down']);
    }
    const audit = await readAll(world.ledger, auditOfTarget(`takedown/${asked.json.id}`));
    expect(audit.map(({ value }) => value.action)).toEqual(['createTakedown']);
  });

  it('of several generations counts the entries of all of them', async () => {
    // A generation looks at 8,192 entries.
    await open(8_300, DEFAULT_PAGE_SIZES);
    await remove('b');
    await create({});
    await publishAll();
    const { takenDown, findings } = await verified();
    expect(findings).toEqual([]);
    expect(takenDown).toBeGreaterThan(8_300);
    expect(await list()).toMatchObject([{ state: 'done', entries: takenDown }]);
  });

  it('stays, when the log grows, when the store is lost, and when an older ledger is restored', async () => {
    await remove('b');
    await create({});
    await publishAll();
    const before = (await lines()).filter(isHidden);
    await ingest(
      dependencies(),
      Array.from({ length: 250 }, (_, day) => price('a', -day - 1, day)),
    );
    await publishAll();
    expect((await lines()).filter(isHidden)).toEqual(before);
    expect((await verified()).findings).toEqual([]);
    objects = openMemoryObjects();
    await rebuild(dependencies());
    expect((await lines()).filter(isHidden)).toEqual(before);
    expect((await verified()).findings).toEqual([]);
    await restore(dependencies());
    await publishAll();
    expect((await lines()).filter(isHidden)).toEqual(before);
    expect((await verified()).findings).toEqual([]);
  });

  it('leaves the daily exports verifiable: the one before it, and the next one without the texts', async () => {
    const storage = dependencies();
    const exported = () => makeExport({ storage });
    expect((await exported()).kind).toBe('made');
    await remove('b');
    await create({ first: 2, last: 6 });
    await publishAll();
    const before = await verified();
    expect([before.findings, before.takenDown]).toEqual([[], 3]);
    world.nowMs += 24 * 60 * 60 * 1000;
    expect((await exported()).kind).toBe('made');
    expect((await verified()).findings).toEqual([]);
    const rows = await rowsOf(loggedReader(objects), 'observations');
    expect(rows.filter(({ market }) => market === 'b')).toHaveLength(1);
  });

  it('waits until readers see that the market is removed, and takes only the entries of its range', async () => {
    await remove('b');
    await create({ first: 5, last: 6 });
    await publishAll();
    const texts = await lines();
    expect(texts.flatMap((text, index) => (isHidden(text) ? [index] : []))).toEqual([5, 6]);
    await create({ first: 6, last: 300_000 });
    await publishAll();
    expect((await list()).map(({ state }: { state: string }) => state)).toEqual(['done', 'done']);
    expect((await lines()).flatMap((text, index) => (isHidden(text) ? [index] : []))).toEqual([5, 6, 7]);
    expect((await verified()).findings).toEqual([]);
  });

  it('survives the death of the publisher after each write', async () => {
    for (let writes = 1; ; writes++) {
      await open(3);
      await remove('b');
      await publishAll();
      await create({});
      let left = writes;
      const storage = faultyStorage(world.ledger, objects, 'all', (operation) =>
        operation.isWrite && --left === 0 ? diesAfter(operation) : operation.run(),
      );
      const dying = publish({ ...dependencies(), ledger: storage.ledger, objects: storage.objects });
      const hasDied = await dying.then(
        () => false,
        (error: unknown) => error instanceof ProcessDied,
      );
      await publishAll();
      const texts = await lines();
      expect([texts.filter(isHidden).length, texts.filter(isOfB)], `after ${writes} writes`).toEqual([4, []]);
      expect(texts.filter(isTakedown).length).toBe(2);
      expect(await list()).toMatchObject([{ state: 'done', entries: 4 }]);
      expect((await verified()).findings).toEqual([]);
      if (hasDied) continue;
      expect(writes).toBeGreaterThan(6);
      return;
    }
  });
});

describe('a takedown is refused', () => {
  it('while the market is public, or unknown', async () => {
    expect(await create({})).toMatchObject({ status: 409, json: { code: 'state-transition' } });
    expect(await create({ market: 'nobody' })).toMatchObject({ status: 422, json: { code: 'validation-failed' } });
    await publishAll();
    expect((await lines()).some(isHidden)).toBe(false);
  });

  it.each([
    ['a range that ends before it begins', { first: 5, last: 4 }, 422],
    ['a negative index', { first: -1 }, 422],
    ['an index that is no number', { last: '7' }, 422],
    ['no reason', { reason: ' ' }, 422],
    ['a member that is not known', { force: true }, 422],
  ])('with %s', async (_, body, status) => {
    await remove('b');
    expect((await create(body)).status).toBe(status);
    expect(await list()).toEqual([]);
  });
});
