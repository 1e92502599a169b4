/** `tidemark restore --from-log`, as an operator types it after a ledger and its backups are lost. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ALL_PROJECTIONS } from '../../contract/files/projections.ts';
import { privateNoteKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { listeningForTest } from '../listening.ts';
import { LOG_ORIGIN, testSigner, withLog } from '../publisher/log/test-log.ts';
import { removeMarket } from '../publisher/remove-market.ts';
import { createWorld, dependenciesOn, market, price, readerOf } from '../publisher/world.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';
import { publicFiles } from './public-files.ts';

/** The folder whose ledger is lost. */
let data: string;
/** A folder that has nothing but the key. */
let empty: string;

const NOW_MS = Date.parse('2026-11-24T12:00:00Z');
const names = async (folder: string) => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name)).sort();
const keep = (folder: string, seed = 1, origin = LOG_ORIGIN) =>
  writeFile(join(folder, 'log-key'), privateNoteKey(origin, Buffer.alloc(32, seed)), { mode: 0o600 });
const restore = (folder: string, source: string, ...words: readonly string[]) =>
  tidemark(['restore', '--from-log', source, '--data', folder, '--config', join(folder, 'config.json'), ...words]);

/** Uses the folder as a server does, and publishes what is due. */
async function use(
  folder: string,
  change: (world: ReturnType<typeof createWorld>) => Promise<unknown> = async () => {},
) {
  const { ledger, objects, close } = await openDataFolder(folder);
  try {
    const plain = dependenciesOn(ledger, objects, { nowMs: NOW_MS }, DEFAULT_PAGE_SIZES);
    const dependencies = { ...withLog(plain), projections: ALL_PROJECTIONS };
    const world = createWorld(DEFAULT_PAGE_SIZES, ledger);
    await change({ ...world, dependencies });
    while ((await publish(dependencies)).isMoreDue);
    const options = { vkeys: [testSigner().vkey], seen: null };
    expect((await verifyLog(readerOf(objects), options)).findings).toEqual([]);
    expect((await verify(readerOf(objects))).findings).toEqual([]);
  } finally {
    close();
  }
}

const temporary = folderForAll();
beforeAll(async () => {
  const made = join(temporary.folder, 'data');
  await use(made, async (world) => {
    await world.ingest(['gold', 'tin', 'gone'].map((slug) => market(slug)));
    await world.ingest(Array.from({ length: 150 }, (_, day) => price('gold', day, 100 + day)));
    await world.ingest([price('tin', 0, 3), price('gone', 0, 1)]);
    await publish(world.dependencies);
    await world.ingest([price('gold', 70, 9)], 'correct');
    await removeMarket(world, 'gone', 'tin');
  });
  await keep(made);
});

beforeEach(async () => {
  data = join(await temporaryFolder(), 'data');
  empty = join(await temporaryFolder(), 'data');
  await mkdir(empty, { mode: 0o700 });
  await keep(empty);
  await cp(join(temporary.folder, 'data'), data, { recursive: true });
});

describe('tidemark restore --from-log', () => {
  test('goes on in place: after the next publications nothing but the snapshot differs', async () => {
    const before = await publicFiles(data);
    const { code, output, errors } = await restore(data, join(data, 'public'), '--replace', '--json');
    expect([code, errors]).toEqual([0, '']);
    const report = JSON.parse(output);
    expect(report).toMatchObject({ origin: LOG_ORIGIN, markets: 2, removed: 1, observations: 152, lostNames: [] });
    expect(await names(report.replaced)).toContain('ledger.sqlite');
    // Readers see all of it at every moment.
    expect(await publicFiles(data)).toEqual(before);
    await use(data);
    expect(await publicFiles(data)).toEqual(before);
    await use(data, (world) => world.ingest([price('tin', 1, 4)]));
  });

  test('begins in a new folder from a web server with plain files, and goes on with the log', async () => {
    const host = createServer(async (request, response) => {
      const body = await readFile(join(data, 'public', request.url ?? '')).catch(() => null);
      response.writeHead(body === null ? 404 : 200).end(body);
    });
    const { code, errors } = await restore(empty, await listeningForTest(host));
    expect([code, errors]).toEqual([0, expect.stringContaining('accounts')]);
    await use(empty);
    expect((await publicFiles(empty)).get('/api/v1/log/checkpoint')).toBe(
      (await publicFiles(data)).get('/api/v1/log/checkpoint'),
    );
    expect((await publicFiles(empty)).get('/api/v1/markets/tin.json')).toBe(
      (await publicFiles(data)).get('/api/v1/markets/tin.json'),
    );
    await use(empty, (world) => world.ingest([price('tin', 1, 4), market('zinc')]));
  });

  test('changes nothing if it is refused', async () => {
    const source = join(data, 'public');
    const [mine, theirs] = [await names(data), await names(empty)];
    const refused = async (...words: Parameters<typeof restore>) => {
      const { code, output, errors } = await restore(...words);
      expect([code === 0, output, errors.trim().split('\n')]).toEqual([false, '', [expect.anything()]]);
      expect([await names(data), await names(empty)]).toEqual([mine, theirs]);
    };
    // A ledger is there, and nobody says that it is lost.
    await refused(data, source);
    // Nothing is published there.
    await refused(empty, join(data, 'store'));
    await refused(empty, 'http://127.0.0.1:9');
    const inUse = await openDataFolder(data);
    await refused(data, source, '--replace');
    inUse.close();
    await keep(empty, 2);
    await refused(empty, source);
    await keep(empty, 1, 'other.example/log');
    await refused(empty, source);
    await rm(join(empty, 'log-key'));
    theirs.splice(theirs.indexOf('log-key'), 1);
    await refused(empty, source);
  });

  test('refuses a copy that has fewer entries than the folder itself has published', async () => {
    const copy = await temporaryFolder();
    await cp(join(data, 'public'), copy, { recursive: true });
    await use(data, (world) => world.ingest([price('tin', 1, 4)]));
    expect(await restore(data, copy, '--replace')).toMatchObject({ code: 1 });
    expect(await restore(data, join(data, 'public'), '--replace')).toMatchObject({ code: 0 });
    await use(data);
  });

  test('takes no words that are about backups', async () => {
    for (const words of [['--keep-keys'], ['--from', 'x'], [await temporaryFolder()]]) {
      expect(await restore(empty, join(data, 'public'), ...words)).toMatchObject({ code: 2 });
    }
    expect(await tidemark(['restore', '--data', empty])).toMatchObject({ code: 2 });
  });
});
