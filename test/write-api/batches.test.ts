import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { batchReportSchema } from '../../contract/ingest/ingest-records.ts';
import { operationOf } from '../../contract/operations/operations.ts';
import type { Feature } from '../../contract/values/features.ts';
import { unpackRaw } from '../../lambdas/ingest/stored-batch.ts';
import { maxBodyBytesOf } from '../../lambdas/pipeline/validate.ts';
import { publish } from '../../publisher/publish.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { type EntitlementsValue, entitlementsKey, usageKey } from '../../storage/records/accounts.ts';
import { auditOfTarget } from '../../storage/records/audit.ts';
import { type BatchValue, batchPartition, RAW_PREFIX, WORK_QUEUE, workKey } from '../../storage/records/batches.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { generationOfKey } from '../../storage/records/publication.ts';
import { workOff } from '../ingest/work-off.ts';
import { dependenciesOn, market, price } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { putItem } from '../storage/put-item.ts';
import { type Answer, type ApiWorld, type Call, openApiWorld, START_MS } from './world.ts';

const MAX_BODY_BYTES = maxBodyBytesOf(operationOf('createIngestBatch'));

const URL = '/api/v1/ingest/batches';
const NDJSON = { 'content-type': 'application/x-ndjson' };
const DAY = new Date(START_MS).toISOString().slice(0, 10);

let world: ApiWorld;

beforeEach(() => {
  world = openApiWorld();
});

function send(body: unknown, more: Partial<Call> = {}): Promise<Answer> {
  return world.call({ method: 'POST', path: URL, body, ...more });
}

function sendLines(text: string, query = ''): Promise<Answer> {
  return send(text, { headers: NDJSON, query });
}

async function counted(feature: Feature, subject = 'user:alice'): Promise<number> {
  return Number((await world.ledger.get(usageKey(subject, feature, DAY)))?.value ?? 0);
}

function countedRows(subject?: string): Promise<number> {
  return counted('ingest-rows-per-day', subject);
}

async function work(): Promise<void> {
  const outcome = await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
  expect(outcome.failed).toBe(0);
}

async function expectNothingKept(): Promise<void> {
  expect(await readAll(world.ledger, WORK_QUEUE)).toEqual([]);
  expect([await countedRows(), await counted('ingest-bytes-per-day')]).toEqual([0, 0]);
}

describe('a batch that is accepted', () => {
  const records = [market('gold-usd'), price('gold-usd', 0, 412345)];

  it('is queued, with a report that can be read again', async () => {
    const answer = await send({ records });
    const { id } = answer.json;
    expect(answer.status).toBe(202);
    expect(answer.headers.location).toBe(`${URL}/${id}`);
    expect(answer.json).toMatchObject({ state: 'queued', records: 2, mode: 'append', dryRun: false, partial: false });
    const read = await world.call({ path: `${URL}/${id}` });
    expect(read.status).toBe(200);
    expect(read.json).toEqual(answer.json);
    expect(batchReportSchema.parse(read.json)).toEqual(read.json);
  });

  it('is kept as it came, with its digest, and is on the queue and in the audit', async () => {
    const text = ` { "records" : ${JSON.stringify(records)}\n}`;
    const { json } = await send(text);
    const { items } = await world.ledger.query(batchPartition(json.id), { prefix: RAW_PREFIX, limit: 10 });
    expect(Buffer.from(unpackRaw(items.map(({ value }) => value as string))).toString()).toBe(text);
    expect(json).toMatchObject({ sha256: sha256Hex(text), bytes: text.length });
    expect((await world.ledger.get(workKey(json.id, 'user:alice')))?.value).toEqual({
      kind: 'ingest',
      batch: json.id,
      lane: 'user:alice',
      lease: null,
    });
    const audit = await world.ledger.query(auditOfTarget(`batch/${json.id}`).partition, { limit: 10 });
    expect(audit.items.map(({ value }) => value)).toMatchObject([{ actor: 'user:alice', action: 'createIngestBatch' }]);
  });

  it.each<[string, Partial<Call>, Partial<BatchValue>]>([
    [
      'a JSON body',
      { body: { records, dryRun: true, mode: 'correct', partial: true } },
      { dryRun: true, partial: true },
    ],
    [
      'the query of lines',
      {
        body: records.map((record) => JSON.stringify(record)).join('\n'),
        headers: NDJSON,
        query: 'dryRun=true&mode=correct&partial=true',
      },
      { dryRun: true, partial: true },
    ],
    [
      'the query of lines, where they say no',
      { body: JSON.stringify(records[0]), headers: NDJSON, query: 'dryRun=false&mode=correct&partial=false' },
      { dryRun: false, partial: false },
    ],
  ])('takes its options from %s', async (_, call, options) => {
    const answer = await send(call.body, call);
    expect(answer.json).toMatchObject({ ...options, mode: 'correct' });
  });

  it.each([
    ['LF', '\n', ''],
    ['LF at the end too', '\n', '\n'],
    ['CRLF', '\r\n', '\r\n'],
    ['CRLF, with blank lines at the end', '\r\n', '\r\n\r\n'],
  ])('may be lines that end with %s', async (_, between, end) => {
    const { json } = await sendLines(records.map((record) => JSON.stringify(record)).join(between) + end);
    expect(json).toMatchObject({ state: 'queued', records: 2 });
    await work();
    expect((await world.call({ path: `${URL}/${json.id}` })).json).toMatchObject({ state: 'applied', errors: [] });
  });

  it('may have the size of the limit, and be such that it cannot be compressed', async () => {
    const noise = randomBytes(MAX_BODY_BYTES).toString('base64url');
    const text = JSON.stringify({ records: [noise] });
    const body = JSON.stringify({ records: [noise.slice(0, noise.length - (text.length - MAX_BODY_BYTES))] });
    expect(body).toHaveLength(MAX_BODY_BYTES);
    expect((await send(body)).status).toBe(202);
  });

  it('comes out in a generation, which its report names', async () => {
    const { json } = await send({ records });
    await work();
    const applied = await world.call({ path: `${URL}/${json.id}` });
    expect(applied.json).toMatchObject({
      state: 'applied',
      counts: { accepted: 2, unchanged: 0, refused: 0 },
      markets: ['gold-usd'],
      generation: null,
    });
    const dependencies = dependenciesOn(world.ledger, openMemoryObjects(), world);
    const { generation } = await publish(dependencies);
    const published = await world.call({ path: `${URL}/${json.id}` });
    expect(published.json).toEqual({ ...applied.json, generation, publishedAt: new Date(world.nowMs).toISOString() });
    expect(published.headers.etag).not.toBe(applied.headers.etag);
  });

  it('changes nothing when it is a dry run, but counts like any other', async () => {
    const { json } = await send({ records, dryRun: true });
    await work();
    const { json: report } = await world.call({ path: `${URL}/${json.id}` });
    expect(report).toMatchObject({ state: 'examined', dryRun: true, counts: { accepted: 2 }, generation: null });
    expect(batchReportSchema.parse(report)).toEqual(report);
    expect(await world.ledger.get(marketKey('gold-usd'))).toBeNull();
    expect(await world.ledger.get(generationOfKey(`batch/${json.id}`))).toBeNull();
    expect(await countedRows()).toBe(2);
    expect(await counted('ingest-bytes-per-day')).toBe(json.bytes);
  });

  it.each([
    ['for good', false, null],
    ['for 30 days when it is a dry run, whose report stays', true, START_MS + 30 * 24 * 60 * 60 * 1000],
  ])('is kept as it came %s', async (_, dryRun, expiresAtMs) => {
    const { json } = await send({ records: [randomBytes(400_000).toString('base64')], dryRun });
    await work();
    const { items } = await world.ledger.query(batchPartition(json.id), { limit: 100 });
    const raw = items.filter(({ sort }) => sort.startsWith(RAW_PREFIX));
    expect(raw.length).toBeGreaterThan(1);
    expect(raw.map((item) => item.expiresAtMs)).toEqual(raw.map(() => expiresAtMs));
    const others = items.filter((item) => !raw.includes(item));
    expect(others.map(({ sort }) => sort)).toEqual(expect.arrayContaining(['checkpoint', 'record']));
    expect(others.filter((item) => item.expiresAtMs !== null)).toEqual([]);
  });
});

describe('a batch is refused', () => {
  const record = JSON.stringify(market('gold-usd'));
  const lines = (count: number) => Array.from({ length: count }, () => '0').join('\n');

  const ofLines = (body: string, query = ''): Partial<Call> => ({ body, query, headers: NDJSON });
  const large = JSON.stringify({ records: ['x'.repeat(MAX_BODY_BYTES - 15)] });
  const badLines = `${record}\r\n{"type":"market","type":"wish"}\r\n{"a":1e999}`;

  /** Each fault as `line pointer code`. The code `invalid` is left out. */
  it.each<[string, Partial<Call>, string, ...faults: string[]]>([
    ['without records', { body: { records: [] } }, '422 validation-failed', '/records'],
    ['with 1,001 records', { body: { records: Array(1001).fill(0) } }, '422 validation-failed', '/records'],
    ['with 1,001 lines', ofLines(lines(1001)), '422 validation-failed', '1001  json.too-many-records'],
    ['with blank lines only', ofLines('\n\n'), '422 validation-failed'],
    ['of more than 1 MiB', { body: large }, '413 content-too-large'],
    ['of more than 1 MiB of lines', ofLines(' '.repeat(MAX_BODY_BYTES + 1)), '413 content-too-large'],
    [
      'with a member twice',
      { body: '{"records":[{"type":"market","type":"wish"}]}' },
      ...(['400 malformed-body', '/records/0/type json.duplicate-name'] as const),
    ],
    [
      'with a member twice on a line',
      ofLines(badLines),
      ...(['400 malformed-body', '2 /type json.duplicate-name', '3 /a json.number-out-of-range'] as const),
    ],
    ['with a blank line in the middle', ofLines(`${record}\n\n${record}`), '400 malformed-body', '2  json.malformed'],
    [
      'with an array where lines should be',
      ofLines(`[\n${record}\n]`),
      ...(['400 malformed-body', '1  json.malformed', '3  json.malformed'] as const),
    ],
    [
      'with options in both places',
      { body: { records: [0] }, query: 'dryRun=true&mode=append' },
      ...(['400 invalid-request', '/dryRun', '/mode'] as const),
    ],
    ['with an option that is not a boolean', ofLines(record, 'dryRun=1'), '400 invalid-request', '/dryRun'],
    ['of another type', { body: record, headers: { 'content-type': 'text/csv' } }, '415 unsupported-media-type'],
  ])('%s', async (_, call, expected, ...faults) => {
    const { status, json } = await send(call.body, call);
    expect(`${status} ${json.code}`).toBe(expected);
    const told = (json.errors ?? []).map(({ line, pointer, code }: { line?: number; pointer: string; code: string }) =>
      [line, pointer, code === 'invalid' ? undefined : code].filter((part) => part !== undefined).join(' '),
    );
    expect(told).toEqual(faults);
    await expectNothingKept();
  });
});

function grant(limit: number, revision: number, feature: Feature = 'ingest-rows-per-day') {
  const granted = { limit, revision, grantedAt: '2026-11-01T00:00:00.000Z', expiresAt: null };
  const value: EntitlementsValue = { features: { [feature]: granted } };
  return putItem(world.ledger, entitlementsKey('user:alice'), value, revision);
}

describe('the bytes of a day', () => {
  const lines = (bytes: number, query = '') => sendLines(`${' '.repeat(bytes - 1)}0`, query);

  it('are the bytes of all bodies, with dry runs, up to the limit, and begin again at midnight', async () => {
    await grant(1000, 1, 'ingest-bytes-per-day');
    expect((await lines(600)).status).toBe(202);
    expect((await lines(300, 'dryRun=true')).status).toBe(202);
    const refused = await lines(101, 'dryRun=true');
    expect(refused.json).toMatchObject({ status: 429, code: 'daily-quota-exceeded' });
    expect(refused.headers['retry-after']).toBe(String(12 * 60 * 60));
    expect(await counted('ingest-bytes-per-day')).toBe(900);
    // A batch that was refused because of its bytes does not count as rows either.
    expect(await countedRows()).toBe(2);
    expect((await lines(100)).status).toBe(202);
    world.nowMs += 12 * 60 * 60 * 1000;
    expect((await lines(1000)).status).toBe(202);
  });

  it('are bytes, not characters', async () => {
    const { json } = await sendLines('"€"');
    expect(json.bytes).toBe(5);
    expect(await counted('ingest-bytes-per-day')).toBe(5);
  });
});

describe('the rows of a day', () => {
  const rows = (count: number) => ({ records: Array.from({ length: count }, () => 0) });

  it('are of the subject, not of the credential', async () => {
    await send(rows(2), { as: 'acme/k1' });
    await send(rows(3), { as: 'acme/k2' });
    expect(await countedRows('account:acme')).toBe(5);
    expect(await countedRows()).toBe(0);
  });
});

describe('the report on a batch', () => {
  it.each([
    ['alice', 'alice', 200],
    ['alice', 'operator', 200],
    ['acme/k1', 'acme/k2', 200],
  ])('that %s has sent is answered to %s with %i', async (sender, reader, status) => {
    const { json } = await send({ records: [0] }, { as: sender });
    const answer = await world.call({ path: `${URL}/${json.id}`, as: reader });
    expect(answer.status).toBe(status);
  });
});
