import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import { type IngestFile, ingestFile } from '../../server/commands/ingest-file.ts';
import { StartError } from '../../server/service/start-error.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { MARKET_INDEX, marketKey } from '../../storage/records/markets.ts';
import { openRecordedLedger, type RecordedLedger, recordsOf } from '../ingest/recorded-ledger.ts';
import { ProcessDied } from '../publisher/faulty-storage.ts';
import { START_MS } from '../publisher/world.ts';
import { sampled } from '../runs.ts';

/** The sample's mapping and the first 2,399 rows of its file: all pairs on 13 dates, and a few more. */
const [mapping, csv] = await Promise.all(
  ['mapping.json', 'currency-api.csv'].map((name) =>
    readFile(new URL(`../../mapping/sample/${name}`, import.meta.url), 'utf8'),
  ),
);
const lines = (csv as string).trimEnd().split('\n');
const file: IngestFile = {
  name: 'currencies',
  path: 'sample.csv',
  csv: `${lines.slice(0, 2400).join('\n')}\n`,
  mapping: mapping as string,
};

let attempts = 0;

function ingest(ledger: Ledger, changed: Partial<IngestFile> = {}, progress: (records: number) => void = () => {}) {
  const dependencies = { ledger, nowMs: () => START_MS, newAttemptId: () => `attempt-${++attempts}` };
  return ingestFile(dependencies, { ...file, ...changed }, progress);
}

async function marketsIn(ledger: RecordedLedger): Promise<number> {
  return (await ledger.query(MARKET_INDEX.partition, { limit: 1000 })).items.length;
}

test('a file is taken in to its last row, with progress in between', async () => {
  const ledger = openRecordedLedger();
  const told: number[] = [];
  const value = await ingest(ledger, {}, (records) => told.push(records));
  const markets = await marketsIn(ledger);
  expect(value).toMatchObject({ accepted: 2399 + markets, unchanged: 0 });
  expect(told).toEqual([BATCH_RECORDS_MAX, 2 * BATCH_RECORDS_MAX, 2399 + markets]);
});

test('a known file is not read again', async () => {
  const ledger = openRecordedLedger();
  await ingest(ledger);
  const before = ledger.transactions.length;
  const told: number[] = [];
  expect(await ingest(ledger, {}, (records) => told.push(records))).toBeNull();
  expect(told).toEqual([]);
  expect(ledger.transactions).toHaveLength(before);
});

test('a file with one more row is a new file with one new row', async () => {
  const ledger = openRecordedLedger();
  await ingest(ledger);
  const longer = `${file.csv}${lines[2400]}\n`;
  expect(await ingest(ledger, { csv: longer })).toMatchObject({ accepted: expect.any(Number) });
  const { accepted, unchanged } = (await ingest(ledger, { csv: `${longer}${lines[2401]}\n` })) ?? {};
  expect((accepted ?? 0) + (unchanged ?? 0)).toBeGreaterThan(2401);
  expect(accepted).toBeLessThanOrEqual(2);
});

test('if a process dies after any transaction, the next one completes the file', async () => {
  const undisturbed = openRecordedLedger();
  await ingest(undisturbed);
  const expected = await undisturbed.dump();
  const total = undisturbed.transactions.length;
  for (const share of sampled([0, 0.1, 0.6, 0.35, 0.99, 1], 2)) {
    const ledger = openRecordedLedger();
    const deadly = Math.round(share * (total - 1));
    let transactions = 0;
    const dying: Ledger = {
      get: (key) => ledger.get(key),
      getMany: (keys) => ledger.getMany(keys),
      query: (partition, options) => ledger.query(partition, options),
      async transact(changes, options) {
        if (transactions > deadly) throw new ProcessDied('after its death');
        const result = await ledger.transact(changes, options);
        if (transactions++ === deadly) throw new ProcessDied('after a transaction');
        return result;
      },
    };
    await expect(ingest(dying)).rejects.toThrow(ProcessDied);
    await ingest(ledger);
    expect(withoutCounts(await ledger.dump())).toEqual(withoutCounts(expected));
  }
});

test('a batch that could not be applied is started again by the next start', async () => {
  const undisturbed = openRecordedLedger();
  await ingest(undisturbed);
  const ledger = openRecordedLedger();
  let transactions = 0;
  const faulty: Ledger = {
    get: (key) => ledger.get(key),
    getMany: (keys) => ledger.getMany(keys),
    query: (partition, options) => ledger.query(partition, options),
    async transact(changes, options) {
      if (transactions++ === 5) throw new TypeError('a fault of ours');
      return await ledger.transact(changes, options);
    },
  };
  await expect(ingest(faulty)).rejects.toThrow('a fault of ours');
  await ingest(ledger);
  expect(withoutCounts(recordsOf(await ledger.dump()))).toEqual(withoutCounts(recordsOf(await undisturbed.dump())));
});

/** After a death, the counts of accepted and unchanged records differ, but the ledger does not. */
function withoutCounts(dump: Map<string, { value: unknown }>) {
  return new Map([...dump].map(([key, item]) => (key.startsWith('ingested-files') ? [key, null] : [key, item])));
}

describe('a refused file is a StartError that names the file and the line', () => {
  async function refusalOf(changed: Partial<IngestFile>): Promise<string> {
    const error = await ingest(openRecordedLedger(), changed).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  }

  const replaceLine = (number: number, by: (line: string) => string) => ({
    csv: lines.map((line, index) => (index === number - 1 ? by(line) : line)).join('\n'),
  });

  test.each<[string, Partial<IngestFile>, readonly string[]]>([
    ['a mapping that is not JSON', { mapping: '{\n"a": ,}' }, ['sample.csv']],
    ['a mapping that is not an object', { mapping: '[]' }, ['sample.csv']],
    ['a mapping with an unknown field', { mapping: '{"unknown": 1}' }, ['sample.csv']],
    ['an empty file', { csv: '' }, ['sample.csv', 'line 1']],
    ['a file of other columns', { csv: 'a,b\n1,2\n' }, ['sample.csv', 'line 1']],
    ['a row with an extra field', replaceLine(7, (line) => `${line},1`), ['sample.csv', 'line 7']],
    ['a row with a value that is not a number', replaceLine(9, (line) => line.replace(/[\d.]+$/, 'n/a')), ['line 9']],
    [
      'a row of the far future',
      replaceLine(1500, (line) => line.replace(/\b20\d\d-/, '2999-')),
      ['line 1500', 'date.future'],
    ],
    ['the same row twice in one batch', replaceLine(11, () => lines[9] ?? ''), ['line 11', 'duplicate.in-batch']],
  ])('%s', async (_, changed, parts) => {
    const message = await refusalOf(changed);
    for (const part of parts) expect(message).toContain(part);
  });

  test('a row that contradicts a known one', async () => {
    const ledger = openRecordedLedger();
    await ingest(ledger);
    const contradiction = replaceLine(1200, (line) => line.replace(/([\d.]+)$/, '9$1'));
    const error = await ingest(ledger, contradiction).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toContain('line 1200');
    expect((error as Error).message).toContain('conflict.existing');
  });

  test('a row of the future is refused at each start, until the clock is right', async () => {
    const ledger = openRecordedLedger();
    const early = {
      ledger,
      nowMs: () => Date.parse('2024-06-01T00:00:00Z'),
      newAttemptId: () => `early-${++attempts}`,
    };
    for (let start = 0; start < 2; start++) {
      const error = await ingestFile(early, file, () => {}).catch((thrown: unknown) => thrown);
      expect((error as Error).message).toContain('clock');
    }
    const undisturbed = openRecordedLedger();
    await ingest(undisturbed);
    await ingest(ledger);
    expect(recordsOf(await ledger.dump())).toEqual(recordsOf(await undisturbed.dump()));
  });

  test('batches before the refused one are kept, and the rest follows once the file is corrected', async () => {
    const ledger = openRecordedLedger();
    const broken = replaceLine(2300, (line) => `${line},1`);
    await expect(ingest(ledger, broken)).rejects.toThrow(StartError);
    expect(await marketsIn(ledger)).toBeGreaterThan(0);
    const value = await ingest(ledger, { csv: lines.join('\n') });
    expect(value?.unchanged).toBeGreaterThan(BATCH_RECORDS_MAX);
    expect(await ledger.get(marketKey('gold-usd'))).not.toBeNull();
  });
});
