/** A large file is applied like batches of its lines, each line once, wherever workers stop or die. */
import { beforeEach, describe, expect, test } from 'vitest';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { createUploadRunner, type UploadDependencies } from '../../lambdas/ingest/run-upload.ts';
import { PART_LIMITS, type PartLimits } from '../../lambdas/ingest/upload-parts.ts';
import { newUpload } from '../../lambdas/ingest/uploads.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { batchKey, partBatchId, rawPartKey, type UploadValue, uploadKey } from '../../storage/records/batches.ts';
import { marketKey, marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import {
  diesAfter,
  type Fault,
  failsWithEffect,
  failsWithoutEffect,
  faultyStorage,
  ProcessDied,
} from '../publisher/faulty-storage.ts';
import { market, price } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { deleteItem, putItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { overtakenLedger } from '../write-api/overtaken-ledger.ts';
import { queuedWork } from './queued-batch.ts';
import { workOff } from './work-off.ts';

const ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const START_MS = Date.parse('2026-10-01T12:00:00Z');

let ledger: Ledger;
let clock: { nowMs: number };
let attempts = 0;

beforeEach(() => {
  ledger = openSqliteLedger(':memory:');
  clock = { nowMs: START_MS };
});

/** Counts the chunks that are read. */
function contentOf(text: string | Uint8Array, chunkBytes = 64) {
  const bytes = Buffer.from(text);
  const content = {
    chunksRead: 0,
    isEnded: false,
    markEnded: async () => {
      content.isEnded = true;
    },
    head: async () => ({ bytes: bytes.length }),
    async *read(_: string, fromByte: number) {
      for (let start = fromByte; start < bytes.length; start += chunkBytes) {
        content.chunksRead++;
        yield bytes.subarray(start, start + chunkBytes);
      }
    },
  };
  return content;
}

function dependenciesOn(
  uploads: UploadDependencies['uploads'],
  more: Partial<UploadDependencies> = {},
): UploadDependencies {
  return {
    ledger,
    uploads,
    nowMs: () => clock.nowMs,
    newAttemptId: () => `attempt-${++attempts}`,
    limits: { ...PART_LIMITS, maxLines: 3 },
    ...more,
  };
}

async function createUpload(text: string | Uint8Array, more: Partial<UploadValue> = {}, id = ID): Promise<void> {
  const announced = newUpload({
    id,
    subject: 'operator',
    mode: 'append',
    sha256: sha256Hex(text),
    bytes: Buffer.byteLength(text),
    records: 1_000,
    createdAt: '2026-10-01T12:00:00.000Z',
  });
  await putItem(ledger, uploadKey(id), { ...announced, ...more });
}

/** Applies parts to the end of the file, or until another worker is ahead. */
async function runUpload(dependencies: UploadDependencies, id: string): Promise<'done' | 'later'> {
  const run = createUploadRunner(dependencies);
  for (;;) {
    const outcome = await run(id);
    if (typeof outcome === 'string') return outcome;
  }
}

const upload = async () => (await ledger.get(uploadKey(ID)))?.value as UploadValue;

const linesOf = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Ten lines: a market, eight prices, and a refused line. */
const RECORDS = [
  market('gold-usd'),
  ...Array.from({ length: 8 }, (_, day) => price('gold-usd', day, 100 + day)),
  price('unknown', 0, 1),
];
const FILE = linesOf(RECORDS);

/** The same with three blank lines. A line that is taken in twice is unchanged the second time. */
const SPACED = FILE.replace(/(\n[^\n]*)\n/, '$1\n\n \n').replace(/\n$/, '\n\n');

async function observations(): Promise<number> {
  return (await ledger.query(marketPartition('gold-usd'), { prefix: OBSERVATION_PREFIX, limit: 100 })).items.length;
}

const DONE = { state: 'applied', partsDone: 4, recordsDone: 10, accepted: 9, unchanged: 0, refused: 1 };

describe('an upload', () => {
  test('is queued once when its content has arrived', async () => {
    await createUpload(FILE);
    await queueUpload(
      { ...dependenciesOn(contentOf(FILE)), uploads: { ...contentOf(FILE), head: async () => null } },
      ID,
    );
    expect(await queuedWork(ledger)).toEqual([]);
    for (let times = 0; times < 2; times++) await queueUpload(dependenciesOn(contentOf(FILE)), ID);
    expect(await queuedWork(ledger)).toEqual([ID]);
    expect((await upload()).state).toBe('queued');
  });

  test('is applied even if an older copy of the ledger has the body of its first part, but not the part', async () => {
    await createUpload(FILE);
    await queueUpload(dependenciesOn(contentOf(FILE)), ID);
    await putItem(ledger, rawPartKey(partBatchId(ID, 0), 0), 'torn');
    expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
    expect(await upload()).toMatchObject(DONE);
  });

  test('is applied even if an older copy of the ledger has its first part, but not the body of it', async () => {
    await createUpload(FILE);
    await queueUpload(dependenciesOn(contentOf(FILE)), ID);
    let isKept = false;
    const dying = {
      ...dependenciesOn(contentOf(FILE)),
      ledger: wrappedLedger(ledger, {
        transact: async (changes, options) => {
          if (isKept) throw new StorageUnavailable('the process dies');
          isKept = true;
          return await ledger.transact(changes, options);
        },
      }),
    };
    await expect(createUploadRunner(dying)(ID)).rejects.toBeInstanceOf(StorageUnavailable);
    const lost = rawPartKey(partBatchId(ID, 0), 0);
    expect(await ledger.get(lost)).not.toBeNull();
    await deleteItem(ledger, lost);
    expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
    expect(await upload()).toMatchObject(DONE);
  });

  test('is marked as ended once its last part is taken in, and not before', async () => {
    await createUpload(FILE);
    const content = contentOf(FILE);
    await queueUpload(dependenciesOn(content), ID);
    const run = createUploadRunner(dependenciesOn(content));
    for (let part = 1; part < DONE.partsDone; part++) {
      expect(await run(ID)).not.toBe('done');
      expect(content.isEnded).toBe(false);
    }
    expect(await run(ID)).toBe('done');
    expect([content.isEnded, await queuedWork(ledger)]).toEqual([true, []]);
  });

  test('is marked by the next worker if one dies between its end and its mark', async () => {
    await createUpload(FILE);
    const content = contentOf(FILE);
    await queueUpload(dependenciesOn(content), ID);
    const dying = { ...content, markEnded: () => Promise.reject(new StorageUnavailable('the process dies')) };
    await expect(runUpload(dependenciesOn(dying), ID)).rejects.toBeInstanceOf(StorageUnavailable);
    expect((await upload()).state).toBe('applied');
    expect([content.isEnded, await queuedWork(ledger)]).toEqual([false, [ID]]);
    expect(await runUpload(dependenciesOn(content), ID)).toBe('done');
    expect([content.isEnded, await queuedWork(ledger)]).toEqual([true, []]);
    expect(await upload()).toMatchObject(DONE);
  });

  test('is applied in parts, each a batch with its own report', async () => {
    await createUpload(FILE);
    await queueUpload(dependenciesOn(contentOf(FILE)), ID);
    expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
    expect(await upload()).toMatchObject({
      ...DONE,
      bytesDone: FILE.length,
      linesDone: 10,
      finishedAt: expect.any(String),
    });
    expect(await observations()).toBe(8);
    expect(await queuedWork(ledger)).toEqual([]);
    const [refused] = (await upload()).refusedIn;
    expect(refused).toEqual({ batch: partBatchId(ID, 3), firstLine: 10, refused: 1 });
    const report = await readReport(ledger, refused?.batch ?? '');
    expect(report).toMatchObject({ state: 'applied', partial: true, errors: [{ line: 10, code: 'market.unknown' }] });
  });

  test('has parts of no more bytes than a batch may have', async () => {
    await createUpload(FILE);
    const limits = { ...PART_LIMITS, maxBytes: 700 };
    expect(await runUpload(dependenciesOn(contentOf(FILE), { limits }), ID)).toBe('done');
    const { partsDone, recordsDone } = await upload();
    const parts = await ledger.getMany(Array.from({ length: partsDone }, (_, part) => batchKey(partBatchId(ID, part))));
    const bytes = parts.map((part) => part?.value.bytes ?? 0);
    expect([recordsDone, partsDone < 10, Math.max(...bytes) <= 700]).toEqual([10, true, true]);
  });

  test('refuses lines that are not records, or not I-JSON, and skips blank lines', async () => {
    const line = JSON.stringify(market('b'));
    const text = Buffer.concat([
      Buffer.from(`${JSON.stringify(market('a'))}\r\n \t\r\nnot json\n${'"x'.repeat(200_000)}\n{"type":"market"}\n\n`),
      // A name twice, a carriage return between two names, a byte order mark, and a byte that is not UTF-8.
      Buffer.from(`${line.replace('{', '{"name":"B",')}\n${line.replace(',', ',\r')}\n\ufeff${line}\n`),
      Buffer.from(line.replace('Market b', '\xff'), 'latin1'),
    ]);
    for (const chunkBytes of [64, 7]) {
      ledger = openSqliteLedger(':memory:');
      await createUpload(text);
      expect(await runUpload(dependenciesOn(contentOf(text, chunkBytes)), ID)).toBe('done');
      expect(await upload()).toMatchObject({ recordsDone: 8, accepted: 1, refused: 7, linesDone: 10 });
      expect(await ledger.get(marketKey('b'))).toBeNull();
    }
  });

  test('of blank lines only is applied', async () => {
    await createUpload('\n\n');
    expect(await runUpload(dependenciesOn(contentOf('\n\n')), ID)).toBe('done');
    expect(await upload()).toMatchObject({ state: 'applied', recordsDone: 0, lastBatch: null });
  });

  test('with more records than announced stops before the extra ones, and is marked', async () => {
    await createUpload(FILE, { records: 7 });
    const content = contentOf(FILE);
    await queueUpload(dependenciesOn(content), ID);
    expect(await runUpload(dependenciesOn(content), ID)).toBe('done');
    expect(await upload()).toMatchObject({ state: 'stopped', recordsDone: 6 });
    expect([content.isEnded, await queuedWork(ledger)]).toEqual([true, []]);
  });

  test('is done one part at a time, and another worker continues without reading the earlier parts', async () => {
    await createUpload(FILE);
    for (let part = 1; part <= 4; part++) {
      const content = contentOf(FILE);
      expect(await createUploadRunner(dependenciesOn(content))(ID)).toEqual(part < 4 ? { more: ['gold-usd'] } : 'done');
      expect((await upload()).partsDone).toBe(part);
      expect(content.chunksRead).toBeLessThan(Math.ceil(FILE.length / 64) - (part - 1) * 5 + 1);
    }
    expect(await upload()).toMatchObject(DONE);
  });

  test('is read once by a worker that does all of it, even with another upload in between', async () => {
    const other = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3B';
    await createUpload(FILE);
    const content = contentOf(FILE);
    expect(await runUpload(dependenciesOn(content), ID)).toBe('done');
    expect(content.chunksRead).toBe(Math.ceil(FILE.length / 64));
    ledger = openSqliteLedger(':memory:');
    for (const id of [ID, other]) await createUpload(FILE, {}, id);
    const run = createUploadRunner(dependenciesOn(contentOf(FILE)));
    for (const id of [ID, other, ID, other, ID, other])
      expect(await run(id)).toMatchObject({ more: expect.anything() });
    for (const id of [ID, other]) expect(await run(id)).toBe('done');
    expect(await upload()).toMatchObject(DONE);
    expect((await ledger.get(uploadKey(other)))?.value).toMatchObject({ ...DONE, accepted: 0, unchanged: 9 });
  });

  test.each([
    ['is not there', { head: async () => null }],
    ['has another length', { head: async () => ({ bytes: 3 }) }],
  ])('whose content %s is reported to an operator', async (_, wrong) => {
    await createUpload(FILE);
    await expect(runUpload(dependenciesOn({ ...contentOf(FILE), ...wrong }), ID)).rejects.toThrow(StorageCorrupt);
  });

  test.each([
    ['ends in the middle of a line', FILE.slice(0, FILE.length / 2 + 5)],
    ['ends after a line', FILE.slice(0, FILE.lastIndexOf('\n', FILE.length - 2) + 1)],
    ['goes on', `${FILE}${FILE}`],
  ])(
    'whose content %s while it is read is never reported as applied, and none of its unannounced lines is taken in',
    async (_, read) => {
      await createUpload(FILE, { records: 100 });
      const content = { ...contentOf(read), head: contentOf(FILE).head };
      await expect(runUpload(dependenciesOn(content), ID)).rejects.toThrow(StorageCorrupt);
      const { state, bytesDone, recordsDone } = await upload();
      expect(state).toBe('applying');
      expect(bytesDone).toBeLessThan(FILE.length);
      expect(linesOf(RECORDS.slice(0, recordsDone))).toBe(FILE.slice(0, bytesDone));
      expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
      expect(await upload()).toMatchObject({ ...DONE, bytesDone: FILE.length });
      expect(await observations()).toBe(8);
    },
  );
});

describe('wherever a worker fails', () => {
  test.each<[string, Fault]>([
    ['without effect', failsWithoutEffect],
    ['after its effect', failsWithEffect],
    ['and dies', diesAfter],
  ])('%s, the next worker completes it, and no line is taken in twice', async (_, fault) => {
    const run = async (at: number): Promise<number> => {
      const faulty = faultyStorage(ledger, openMemoryObjects(), at, fault);
      const dependencies = dependenciesOn(contentOf(FILE), { ledger: faulty.ledger });
      await runUpload(dependencies, ID).catch((error: unknown) => {
        if (!(error instanceof ProcessDied) && (error as Error).name !== 'StorageUnavailable') throw error;
      });
      return faulty.operations.length;
    };
    await createUpload(FILE, { mode: 'correct' });
    const operations = await run(Number.POSITIVE_INFINITY);
    for (let at = 0; at < operations; at++) {
      ledger = openSqliteLedger(':memory:');
      await createUpload(FILE, { mode: 'correct' });
      await run(at);
      expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
      expect(await upload(), `after operation ${at}`).toMatchObject(DONE);
      expect(await observations()).toBe(8);
    }
  });

  test.each<[string, Partial<PartLimits>, Partial<UploadValue>]>([
    ['more lines', { maxLines: 7 }, { accepted: 9 }],
    ['fewer bytes', { maxBytes: 400 }, { accepted: 9 }],
    ['shorter lines, which refuses the rest,', { maxLineBytes: 20 }, {}],
  ])('the next worker, with parts of %s takes each line once', async (_, changed, counts) => {
    const limits = { ...PART_LIMITS, maxLines: 3, ...changed };
    let hasDied = true;
    for (let at = 0; hasDied; at++) {
      ledger = openSqliteLedger(':memory:');
      await createUpload(SPACED);
      const faulty = faultyStorage(ledger, openMemoryObjects(), at, diesAfter);
      const dying = runUpload(dependenciesOn(contentOf(SPACED), { ledger: faulty.ledger }), ID);
      await dying.catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
      });
      hasDied = faulty.operations.length > at;
      expect(await runUpload(dependenciesOn(contentOf(SPACED), { limits }), ID)).toBe('done');
      const value = await upload();
      const taken = { bytesDone: SPACED.length, linesDone: 13, recordsDone: 10, unchanged: 0 };
      expect(value, `after operation ${at}`).toMatchObject({ state: 'applied', ...taken, ...counts });
      expect(value.accepted + value.refused).toBe(10);
      expect(await observations()).toBe(Math.max(value.accepted - 1, 0));
    }
  });

  test('with a permanent failure, that part is refused, and the next run continues after it', async () => {
    await createUpload(FILE);
    const content = contentOf(FILE);
    await queueUpload(dependenciesOn(content), ID);
    let broken = 1;
    const faulty = wrappedLedger(ledger, {
      transact: async (changes, options) => {
        const isPart = changes.some(({ key }) => key.partition === marketPartition('gold-usd'));
        if (isPart && (await upload()).partsDone === 1 && broken-- > 0) throw new TypeError('a fault of ours');
        return await ledger.transact(changes, options);
      },
    });
    const failures: unknown[] = [];
    const failed = (_: unknown, error: unknown) => void failures.push(error);
    expect(await workOff({ ...dependenciesOn(content), ledger: faulty, failed })).toMatchObject({ done: 0, failed: 1 });
    expect(failures).toEqual([new TypeError('a fault of ours')]);
    expect(await upload()).toMatchObject({ state: 'applying', partsDone: 2, accepted: 3, refused: 3 });
    expect(await workOff({ ...dependenciesOn(content), failed })).toMatchObject({ done: 1, failed: 0 });
    expect(await upload()).toMatchObject({ state: 'applied', accepted: 6, refused: 4 });
  });

  test('a worker that finds other lines stored for a part leaves the part to the worker that stored them', async () => {
    await createUpload(FILE);
    const limits = { ...PART_LIMITS, maxLines: 4 };
    const keepsAndDies = async () => {
      const { ledger: faulty } = faultyStorage(ledger, openMemoryObjects(), 2, diesAfter);
      const dying = runUpload(dependenciesOn(contentOf(FILE), { ledger: faulty, limits }), ID);
      await expect(dying).rejects.toThrow(ProcessDied);
      expect(await ledger.get(batchKey(partBatchId(ID, 0)))).not.toBeNull();
    };
    const late = overtakenLedger(ledger, keepsAndDies);
    expect(await runUpload(dependenciesOn(contentOf(FILE), { ledger: late }), ID)).toBe('later');
    expect(await upload()).toMatchObject({ partsDone: 0 });
    expect(await runUpload(dependenciesOn(contentOf(FILE)), ID)).toBe('done');
    expect(await upload()).toMatchObject({ ...DONE, partsDone: 3, bytesDone: FILE.length });
    expect(await observations()).toBe(8);
  });
});
