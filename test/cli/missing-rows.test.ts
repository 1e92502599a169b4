/** `tidemark ingest --complete`: rows that are missing from a file that is sent again. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';
import type { Run } from './tidemark.ts';

const served = serverForAll();

const market = (slug: string) => ({
  ...{ type: 'market', slug, name: slug, kind: 'metal', nativeCurrency: 'USD' },
  unit: { quantity: 1, of: 'kilogram' },
});
const price = (slug: string, day: number, more: object = {}) => ({
  ...{ type: 'observation', market: slug, metric: 'price', amountMinor: 1000 + (day % 7), currency: 'USD' },
  ...{ sourceLabel: 'A source', sourceUrl: `https://source.example/${slug}`, confidence: 'high', status: 'final' },
  observedAt: new Date(Date.UTC(2025, 0, 1) + day * 3_600_000).toISOString().replace('.000Z', 'Z'),
  ...more,
});
const retractionOf = (slug: string, day: number) => {
  const {
    market: of,
    metric,
    observedAt,
    sourceUrl,
  } = price(slug, day) as ReturnType<typeof price> & { metric: string };
  return { type: 'retraction', market: of, metric, observedAt, sourceUrl, kind: 'withdrawn', reason: 'It is gone.' };
};
const days = (slug: string, count: number) => Array.from({ length: count }, (_, day) => price(slug, day));

async function ingest(name: string, records: readonly unknown[], ...words: string[]): Promise<Run> {
  const path = join(served.folder, name);
  const text = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record)));
  await writeFile(path, `${text.join('\n')}\n`);
  return await tidemark(['ingest', path, ...words, '--data', served.data]);
}

const COMPLETE = ['--mode', 'correct', '--complete'];
const WITHDRAW = [...COMPLETE, '--retract-missing'];

const fieldsOf = ({ code, output }: Run) => {
  const fields = Object.fromEntries(output.split('\n').map((line) => line.split('\t')));
  return {
    ...{ code, missing: fields['published, and missing in the file'] },
    ...{ withdrawn: fields.withdrawn, wouldBeWithdrawn: fields['would be withdrawn'] },
    returned: fields['withdrawn, and in the file again'],
  };
};

const storedOf = ({ output }: Run) => /^stored\t(\d+)$/m.exec(output)?.[1];

/** `observedAt` of each observation whose newest version says that its source took it back. */
async function withdrawnOf(slug: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/api/v1/markets/${slug}/history${cursor === '' ? '' : `?cursor=${cursor}`}`;
    const page = (await (await fetch(served.url + path)).json()) as {
      data: PublicObservation[];
      page: { nextCursor: string | null };
    };
    const taken = page.data.filter(
      ({ retraction, supersededBy }) => retraction === 'withdrawn' && supersededBy === null,
    );
    found.push(...taken.map(({ observedAt }) => observedAt));
    cursor = page.page.nextCursor;
  }
  return found.sort();
}

test('a missing row is counted, and withdrawn if asked; other sources, metrics and markets are left alone', async () => {
  const rows = [...days('a', 6), ...days('b', 3)];
  const volume = { metric: 'volume', amountMinor: undefined, currency: undefined, value: '5', unit: 'tonne' };
  const others = [
    ...[price('a', 9, { sourceLabel: 'Another', sourceUrl: 'https://another.example/' }), price('a', 10, volume)],
    ...[market('c'), price('c', 1)],
  ];
  expect((await ingest('all.ndjson', [market('a'), market('b'), ...rows, ...others])).code).toBe(0);

  const fewer = rows.filter((_, index) => index !== 2 && index !== 7);
  const missing = [rows[2], rows[7]].map((row) => (row as { observedAt: string }).observedAt);
  expect(fieldsOf(await ingest('again.ndjson', fewer, '--mode', 'correct'))).toEqual({ code: 0 });
  const report = join(served.folder, 'report.ndjson');
  expect(fieldsOf(await ingest('again.ndjson', fewer, ...COMPLETE, '--report', report))).toEqual({
    code: 0,
    missing: '2',
  });
  const named = (await readFile(report, 'utf8')).split('\n').flatMap((line) => {
    const { missing: row } = JSON.parse(line || '{}');
    return row === undefined ? [] : [[row.market, row.observedAt]];
  });
  expect(named.sort()).toEqual([
    ['a', missing[0]],
    ['b', missing[1]],
  ]);
  expect(fieldsOf(await ingest('again.ndjson', fewer, ...WITHDRAW, '--dry-run'))).toEqual({
    ...{ code: 0, missing: '2', wouldBeWithdrawn: '2' },
  });
  expect([await withdrawnOf('a'), await withdrawnOf('b')]).toEqual([[], []]);

  const reason = 'The source has left it out since.';
  const withdrawing = await ingest('again.ndjson', fewer, ...WITHDRAW, '--public-reason', reason);
  expect(fieldsOf(withdrawing)).toEqual({ code: 0, missing: '2', withdrawn: '2' });
  // The batch of the rows, and the one of the withdrawals.
  const ids = /^sent as\t(.*)$/m.exec(withdrawing.output)?.[1]?.split(' ') ?? [];
  const undone = await tidemark(['undo', ...ids, '--json', '--data', served.data]);
  expect([ids.length, JSON.parse(undone.output)[0].accepted]).toEqual([2, 2]);
  expect([await withdrawnOf('a'), await withdrawnOf('b'), await withdrawnOf('c')]).toEqual([
    [missing[0]],
    [missing[1]],
    [],
  ]);
  const history = (await (await fetch(`${served.url}/api/v1/markets/a/history`)).json()) as {
    data: PublicObservation[];
  };
  expect(history.data.flatMap(({ publicReason }) => publicReason ?? [])).toEqual([reason]);
  expect((await ingest('again.ndjson', fewer, ...COMPLETE, '--public-reason', reason)).code).toBe(2);
  expect(fieldsOf(await ingest('again.ndjson', fewer, ...WITHDRAW))).toMatchObject({ missing: '0', withdrawn: '0' });

  // The source gives it again with another value.
  const back = { ...(rows[2] as object), amountMinor: 1009 };
  expect(fieldsOf(await ingest('back.ndjson', [...fewer, back], ...COMPLETE))).toEqual({ code: 0, missing: '0' });
  expect(await withdrawnOf('a')).toEqual([]);
});

test('a withdrawn row that is in the file again is named, and stands again if asked', async () => {
  const rows = days('e', 60);
  const gone = [rows[7], rows[40]].map((row) => (row as { observedAt: string }).observedAt);
  const fewer = rows.filter(({ observedAt }) => !gone.includes(observedAt));
  const mistake = { ...retractionOf('e', 50), kind: 'mistake' };
  await ingest('e.ndjson', [market('e'), ...rows]);
  expect(fieldsOf(await ingest('e.ndjson', fewer, ...WITHDRAW))).toMatchObject({ withdrawn: '2' });
  await ingest('e.ndjson', [mistake], '--mode', 'correct');

  const report = join(served.folder, 'returned.ndjson');
  const known = await ingest('e.ndjson', rows, ...COMPLETE, '--report', report);
  expect(storedOf(known)).toBe('0');
  for (const words of [[], ['--mode', 'correct'], ['--mode', 'correct', '--dry-run', '--partial']]) {
    const again = await ingest('e.ndjson', rows, ...words);
    expect(again.output).toContain('known already\t60\nof them retracted earlier, and still retracted\t3\n');
    expect(again.errors).toMatch(/3 rows give values .* --mode correct --reinstate\.$/m);
  }
  expect(fieldsOf(known)).toEqual({ code: 0, missing: '0', returned: '2' });
  const named = (await readFile(report, 'utf8')).split('\n').flatMap((line) => {
    const { returned: row } = JSON.parse(line || '{}');
    return row === undefined ? [] : [row.observedAt];
  });
  expect(named.sort()).toEqual(gone);
  const retractions = [...fewer, ...[7, 40].map((day) => retractionOf('e', day))];
  expect(fieldsOf(await ingest('e.ndjson', retractions, ...COMPLETE)).returned).toBeUndefined();

  // Rows that were never withdrawn are known as before.
  const back = rows.filter((_, day) => day < 45);
  const dryRun = await ingest('e.ndjson', back, '--mode', 'correct', '--reinstate', '--dry-run');
  expect(dryRun.output).toMatch(
    /would be stored\t2\nof them corrections\t2\ncorrections of retracted values\t2\nknown already\t43\n/,
  );
  expect(await withdrawnOf('e')).toEqual(gone);
  const reinstated = await ingest('e.ndjson', back, ...COMPLETE, '--reinstate');
  expect([reinstated.code, storedOf(reinstated), fieldsOf(reinstated).returned]).toEqual([0, '2', undefined]);
  expect(await withdrawnOf('e')).toEqual([]);
  expect(storedOf(await ingest('e.ndjson', back, '--mode', 'correct', '--reinstate'))).toBe('0');
});

test('an announced row that is missing is withdrawn before its moment, and stands again if asked', async () => {
  const ahead = [1, 2, 3].map((hours) =>
    price('i', hours, { observedAt: new Date(Date.now() + hours * 3_600_000).toISOString(), announced: 'when-ahead' }),
  );
  const rows = [...days('i', 2), ...ahead];
  const announcedAt = async () => {
    const market = (await (await fetch(`${served.url}/api/v1/markets/i`)).json()) as Market;
    return market.announced?.price?.observedAt;
  };
  await ingest('i.ndjson', [market('i'), ...rows]);
  expect(await announcedAt()).toBe(ahead[0]?.observedAt);
  const dryRun = await ingest('i.ndjson', rows.toSpliced(2, 2), ...WITHDRAW, '--dry-run');
  expect(fieldsOf(dryRun)).toMatchObject({ code: 0, missing: '2', wouldBeWithdrawn: '2' });
  expect(dryRun.errors).toContain(`i price ${ahead[0]?.observedAt} from https://source.example/i is published, but`);
  expect(fieldsOf(await ingest('i.ndjson', rows.toSpliced(2, 2), ...WITHDRAW))).toMatchObject({ withdrawn: '2' });
  expect(await withdrawnOf('i')).toEqual(ahead.slice(0, 2).map(({ observedAt }) => observedAt));
  expect(fieldsOf(await ingest('i.ndjson', rows, ...COMPLETE))).toMatchObject({ missing: '0', returned: '2' });
  expect(storedOf(await ingest('i.ndjson', rows, ...COMPLETE, '--reinstate'))).toBe('2');
  expect([await withdrawnOf('i'), await announcedAt()]).toEqual([[], ahead[0]?.observedAt]);
});

test('--reinstate is also said of the rows of a CSV, unless a record says otherwise itself', async () => {
  const sample = join(import.meta.dirname, '../../mapping/sample');
  const [header = ''] = (await readFile(join(sample, 'currency-api.csv'), 'utf8')).split('\n');
  const rows = [header, '2024.3.2,2024-03-02,eur,usd,1.08', '2024.3.3,2024-03-03,eur,usd,1.09'];
  const words = ['--format', 'csv', '--mapping', join(sample, 'mapping.json')];
  await ingest('sample.csv', rows, ...words);
  const fewer = fieldsOf(await ingest('sample.csv', rows.slice(0, 2), ...words, ...WITHDRAW));
  expect(fewer).toMatchObject({ code: 0, missing: '1', withdrawn: '1' });
  expect(fieldsOf(await ingest('sample.csv', rows, ...words, ...COMPLETE)).returned).toBe('1');
  expect(storedOf(await ingest('sample.csv', rows, ...words, ...COMPLETE, '--reinstate'))).toBe('1');

  await ingest('f.ndjson', [market('f'), ...days('f', 3)]);
  await ingest('f.ndjson', days('f', 2), ...WITHDRAW);
  const own = [...days('f', 2), price('f', 2, { reinstated: false })];
  expect(fieldsOf(await ingest('f.ndjson', own, ...COMPLETE, '--reinstate')).returned).toBe('1');
});

test('a dry run does not promise a withdrawal that the run would not make', async () => {
  const rows = days('g', 5);
  await ingest('g.ndjson', [market('g'), ...rows]);
  const refused = [...rows.slice(0, 3), price('g', 3, { amountMinor: 99_999_999 })];
  const dryRun = fieldsOf(await ingest('g.ndjson', refused, ...WITHDRAW, '--dry-run'));
  expect(dryRun).toEqual({ code: 4, missing: '1' });
  const partial = fieldsOf(await ingest('g.ndjson', refused, ...WITHDRAW, '--dry-run', '--partial'));
  expect(partial).toEqual({ code: 4, missing: '1', wouldBeWithdrawn: '1' });
});

test('a file that has less than half of what is published withdraws nothing, unless the run says that it is right', async () => {
  await ingest('h.ndjson', [market('h'), ...days('h', 9)]);
  for (const words of [WITHDRAW, [...WITHDRAW, '--dry-run']]) {
    expect(fieldsOf(await ingest('h.ndjson', days('h', 4), ...words))).toEqual({ code: 4, missing: '5' });
  }
  const others = days('h', 9).map((row) => ({ ...row, sourceUrl: 'https://source.example/moved' }));
  expect(fieldsOf(await ingest('h.ndjson', others, ...WITHDRAW))).toEqual({ code: 4, missing: '9' });
  expect(await withdrawnOf('h')).toEqual([]);
  const right = [...WITHDRAW, '--minimum-share', '0.2'];
  expect(fieldsOf(await ingest('h.ndjson', days('h', 4), ...right))).toMatchObject({ code: 0, withdrawn: '14' });
}, 60_000);

test('a new market has nothing to lose, also in a dry run', async () => {
  const file = [market('new'), ...days('new', 3)];
  expect(fieldsOf(await ingest('new.ndjson', file, ...WITHDRAW, '--dry-run'))).toEqual({
    ...{ code: 0, missing: '0', wouldBeWithdrawn: '0' },
  });
  expect(fieldsOf(await ingest('new.ndjson', file, ...WITHDRAW))).toEqual({ code: 0, missing: '0', withdrawn: '0' });
});

test('nothing is withdrawn while a row has no meaning, or the file was not taken in', async () => {
  const rows = days('d', 5);
  await ingest('d.ndjson', [market('d'), ...rows]);
  const damaged = [...rows.slice(0, 3), '{"type":"observation","market":'];
  expect(fieldsOf(await ingest('damaged.ndjson', damaged, ...WITHDRAW, '--partial'))).toEqual({
    code: 4,
    missing: '2',
  });
  const refused = [...rows.slice(0, 3), price('d', 3, { amountMinor: 99_999_999 })];
  expect(fieldsOf(await ingest('refused.ndjson', refused, ...WITHDRAW))).toEqual({ code: 4 });
  expect(await withdrawnOf('d')).toEqual([]);
  // A refused row is in the file: its observation stays.
  expect(fieldsOf(await ingest('refused.ndjson', refused, ...WITHDRAW, '--partial'))).toEqual({
    code: 4,
    missing: '1',
    withdrawn: '1',
  });
  expect(await withdrawnOf('d')).toEqual([(rows[4] as { observedAt: string }).observedAt]);
});
