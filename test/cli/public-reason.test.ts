/** Reasons for the public on a real service: sent over HTTP and by the command line, and read as everybody reads them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sax from 'sax';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { faultsOfHtml } from '../clients/web/html-faults.ts';
import { formulasIn } from '../formulas-in.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  ']]></summary></entry><entry>',
  '=HYPERLINK("https://evil.example";"x")',
  "@SUM(A1) & 'quoted'",
  'x;=1+1',
  '&lt;b&gt; &#60;i&#62;',
  'مصدر البيانات صحّح الرقم',
  'x'.repeat(280),
];

const served = serverForAll({ TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'all' });

const dayOf = (day: number) => new Date(Date.UTC(2025, 0, 1 + day)).toISOString().replace('.000Z', 'Z');
const identityOf = (day: number) => ({
  ...{ market: 'tin-usd', metric: 'price', observedAt: dayOf(day), sourceUrl: 'https://source.example/tin' },
});
const price = (day: number, amountMinor: number, more: object = {}) => ({
  ...{ type: 'observation', ...identityOf(day), amountMinor, currency: 'USD', sourceLabel: 'A source' },
  ...{ confidence: 'high', status: 'final', outlierConfirmed: true, ...more },
});
const withdrawal = (day: number, more: object) => ({
  ...{ type: 'retraction', ...identityOf(day), kind: 'withdrawn', reason: 'NOT-PUBLIC', ...more },
});

let sent = 0;

/** By HTTP; waits until it is published or refused. */
async function send(records: readonly object[], mode = 'correct'): Promise<BatchReport> {
  const headers = { Authorization: `Bearer ${(await readFile(join(served.data, 'operator-key'), 'utf8')).trim()}` };
  const answer = await fetch(`${served.url}/api/v1/ingest/batches`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': `public-reason-of-test-${++sent}` },
    body: JSON.stringify({ records, mode }),
  });
  expect(answer.status).toBe(202);
  const report = new URL(answer.headers.get('Location') as string, served.url);
  for (;;) {
    const found = (await (await fetch(report, { headers })).json()) as BatchReport;
    if (found.state === 'refused' || found.publishedAt !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const read = async (path: string): Promise<string> => (await fetch(served.url + path)).text();
const rowsOf = async () =>
  (JSON.parse(await read('/api/v1/markets/tin-usd/history')).data ?? []) as PublicObservation[];
const versionsOf = async (day: number) =>
  (await rowsOf()).filter(({ observedAt }) => observedAt === dayOf(day)).toReversed();

/** Each text of an element of this name, as a feed reader has it. */
function textsIn(xml: string, name: string): readonly string[] {
  const parser = sax.parser(true);
  const texts: string[] = [];
  let isIn = false;
  parser.onopentag = (tag) => {
    isIn = tag.name === name;
    if (isIn) texts.push('');
  };
  parser.onclosetag = () => {
    isIn = false;
  };
  parser.ontext = (text) => {
    if (isIn) texts.push((texts.pop() as string) + text);
  };
  parser.onerror = (error) => {
    throw error;
  };
  parser.write(xml).close();
  return texts;
}

beforeAll(async () => {
  const unit = { quantity: 1, of: 'tonne' };
  const market = { type: 'market', slug: 'tin-usd', name: 'Tin', kind: 'metal', nativeCurrency: 'USD', unit };
  await send([market, ...Array.from({ length: 24 }, (_, day) => price(day, 100 + day))], 'append');
});

describe('hostile reasons', () => {
  beforeAll(async () => {
    const records = HOSTILE.map((publicReason, index): object => {
      if (index % 2 === 0) return price(index, 900 + index, { publicReason });
      return withdrawal(index, index % 3 === 0 ? { publicReason, kind: 'mistake' } : { publicReason });
    });
    expect(await send(records)).toMatchObject({ state: 'applied', counts: { accepted: HOSTILE.length, refused: 0 } });
  });

  test('are in the history as they were sent', async () => {
    for (const [index, reason] of HOSTILE.entries()) {
      const versions = await versionsOf(index);
      expect(versions.map(({ publicReason }) => publicReason)).toEqual([undefined, reason]);
    }
    const lines = (await read('/api/v1/markets/tin-usd/history.ndjson')).trim().split('\n');
    expect(lines.flatMap((line) => JSON.parse(line).publicReason ?? [])).toEqual(HOSTILE);
  });

  test.each(['/feeds/corrections.atom', '/feeds/changes.atom', '/feeds/markets/tin-usd.atom'])(
    'are texts of %s, and nothing else',
    async (path) => {
      const summaries = textsIn(await read(path), 'summary');
      const reasons = summaries.flatMap((text) => (text.includes(' Reason: ') ? [text.split(' Reason: ')[1]] : []));
      expect(reasons.sort()).toEqual(HOSTILE.toSorted());
    },
  );

  test('are no markup of the page of the market, and no formula of its CSV, whose columns stay', async () => {
    await send([
      price(23, 1, { publicReason: HOSTILE[0] }),
      withdrawal(22, { publicReason: HOSTILE[1] }),
      withdrawal(21, { publicReason: HOSTILE[2], kind: 'mistake' }),
    ]);
    const page = await read('/markets/tin-usd.html');
    expect(faultsOfHtml(page)).toEqual([]);
    expect(page).not.toMatch(/<script>alert|<img src=x|<entry>/);
    expect(page).toContain('corrected: &lt;script&gt;alert(1)&lt;/script&gt;</span>');
    expect(page).toContain('retracted: &quot;&gt;&lt;img src=x onerror=alert(1)&gt;</span>');
    expect(page).toContain('<td>retracted: ]]&gt;&lt;/summary&gt;&lt;/entry&gt;&lt;entry&gt;</td>');
    const csv = await read('/api/v1/markets/tin-usd/history.csv');
    expect(csv.split('\r\n')[0]).not.toContain('publicReason');
    expect(formulasIn(csv)).toEqual([]);
  });

  test('leave nothing for verify to find, by the log either; the private reason is nowhere', async () => {
    const run = await tidemark(['verify', served.url, '--log', '--json', '--data', served.data]);
    expect({ code: run.code, errors: run.errors }).toMatchObject({ code: 0 });
    for (const path of ['/api/v1/markets/tin-usd/history', '/feeds/changes.atom', '/markets/tin-usd.html']) {
      expect(await read(path)).not.toContain('NOT-PUBLIC');
    }
  });
});

test('a reason with something personal is refused at the door, and its row named', async () => {
  const records = [
    price(10, 5, { publicReason: 'Write to desk@source.example.' }),
    withdrawal(11, { publicReason: 'two\nlines' }),
    price(12, 5, { publicReason: 'turned \u202e around' }),
    price(200, 5, { publicReason: 'Nothing is corrected.' }),
  ];
  const { state, errors } = await send(records);
  expect(state).toBe('refused');
  expect(errors.map(({ index, pointer, code }) => [index, pointer, code])).toEqual([
    [0, '/records/0/publicReason', 'record.invalid'],
    [1, '/records/1/publicReason', 'record.invalid'],
    [2, '/records/2/publicReason', 'record.invalid'],
    [3, '/records/3/publicReason', 'observation.unknown'],
  ]);
  expect(errors.map(({ detail }) => detail).join('\n')).toMatch(/e-mail[\s\S]*line break[\s\S]*invisible/);
});

describe('the command line', () => {
  const reason = 'The file of that day was of another market.';

  test('shows the reason in the history', async () => {
    await send([price(13, 5, { publicReason: reason }), withdrawal(14, { publicReason: reason })]);
    const { output } = await tidemark(['markets', 'history', 'tin-usd', '--data', served.data]);
    expect(output).toMatch(new RegExp(`2025-01-14.*corrected \\(${reason}\\)`));
    expect(output).toMatch(new RegExp(`2025-01-15.*withdrawn by the source \\(${reason}\\)`));
  });

  test('shows the reason of the value that stood at a moment', async () => {
    await send([price(40, 1)], 'append');
    await send([price(40, 2, { publicReason: reason })]);
    const { output } = await tidemark([
      'markets',
      'show',
      'tin-usd',
      '--as-of',
      new Date().toISOString(),
      '--data',
      served.data,
    ]);
    expect(output).toMatch(new RegExp(`^price\\t0\\.02 USD.*\\(${reason}\\)$`, 'm'));
  });

  test('undoes a correction of a correction: the first one stands again, with its reason', async () => {
    await send([price(17, 5, { publicReason: reason })]);
    const { id } = await send([price(17, 6, { publicReason: 'By mistake.' })]);
    const undone = await tidemark(['undo', id, '--apply', '--data', served.data, '--json']);
    expect(JSON.parse(undone.output)).toMatchObject([{ accepted: 1, refused: 0 }]);
    expect((await versionsOf(17)).map(({ publicReason }) => publicReason)).toEqual([
      undefined,
      reason,
      'By mistake.',
      reason,
    ]);
  });
});

test('of a removal without a replacement, it is what a reader of the market is told', async () => {
  await send([
    {
      ...{ type: 'market', slug: 'zinc-usd', name: 'Zinc', kind: 'metal', nativeCurrency: 'USD' },
      unit: { quantity: 1, of: 'kg' },
    },
  ]);
  const words = ['removals', 'create', 'zinc-usd', '--reason', 'Its prices are in tin-usd now', '--yes'];
  expect(await tidemark([...words, '--data', served.data])).toMatchObject({ code: 0 });
  await expect.poll(async () => (await fetch(`${served.url}/api/v1/markets/zinc-usd`)).status).toBe(410);
  const { code, errors } = await tidemark(['markets', 'show', 'zinc-usd', '--url', served.url]);
  expect(code).toBe(3);
  expect(errors).toContain('Its prices are in tin-usd now');
});
