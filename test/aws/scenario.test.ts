/**
 * The deployment on AWS, as far as it can be had without an account: the Lambda bundles, wired to engines as the stacks
 * wire them (shape/shape.ts), taken through the scenario that every deployment must pass, and through what may befall
 * this one. In order: each test goes on from where the one before it has ended.
 */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import { FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { ENVIRONMENT, PUBLISHER_METRICS } from '../../storage/aws/names.ts';
import { BULK_TIMEOUTS, createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { succeeded } from '../scenario/answers.ts';
import { erasureSteps } from '../scenario/erasure-steps.ts';
import { sendBatch } from '../scenario/ingest-steps.ts';
import { marketRecord, priceRecord } from '../scenario/records.ts';
import { STEPS } from '../scenario/scenario.ts';
import { openSession, type Session, type Step } from '../scenario/session.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { ENGINES_VARIABLE } from './engines/engine.ts';
import { everyUrl, keepReading, payloadIn, putBack, readRows, torn } from './restored-table.ts';
import { REGION } from './shape/references.ts';
import { CREDENTIALS, enginesOf, SHAPE_ENGINES } from './shape/resources.ts';
import { type Shape, startShape } from './shape/shape.ts';

/** Of EventBridge. */
const MINUTE_MS = 2_000;
/** The worker begins nothing in its last minute: this leaves it a second. */
const SHORT_TIMEOUT_SECONDS = 61;
/** A limit ends what hangs. On a busy machine, the publication after a restore takes more than a minute. */
const BUSY_MS = 4 * 60 * 1000;

for (const name of SHAPE_ENGINES) engineEndpoint(name);
const engines = enginesOf(JSON.parse(process.env[ENGINES_VARIABLE] ?? '{}'));

let shape: Shape;
/** For tests beside the scenario. */
let session: Session;
let scenario: Session;
let hasFailed = false;

beforeAll(async () => {
  if (engines === null) return;
  shape = await startShape({ engines, minuteMs: MINUTE_MS });
  session = openSession(shape);
  scenario = openSession(shape);
});

beforeEach(() => {
  if (hasFailed) throw new Error('an earlier test has failed, from which this one would go on');
});

afterEach(({ task }) => {
  hasFailed ||= task.result?.state === 'fail';
});

afterAll(async () => {
  if (engines === null) return;
  if (hasFailed) console.log(shape.log.join('\n'));
  await shape.stop();
});

test('every function has the variables of its stack, all of them known, its memory and time; the sweeps have been', () => {
  expect(shape.failures).toEqual([]);
  expect([...shape.deployed.functions.keys()].sort()).toEqual([...FUNCTION_NAMES].sort());
  const known = Object.values<string>(ENVIRONMENT);
  for (const { variables, memoryMegabytes, timeoutSeconds } of shape.deployed.functions.values()) {
    expect(Object.keys(variables).filter((name) => !known.includes(name))).toEqual([]);
    expect(Math.min(memoryMegabytes, timeoutSeconds)).toBeGreaterThan(0);
  }
});

test('the write host answers, its origin refuses everybody else, and problem types lead to the catalogue', async () => {
  const headers = { authorization: `Bearer ${shape.operatorKey}`, 'x-tidemark-viewer-address': '192.0.2.1' };
  const through = await fetch(`${shape.writeBaseUrl}/api/v1/me`, { headers });
  const past = await fetch(`${shape.httpApiUrl}/api/v1/me`, { headers });
  expect([through.status, past.status]).toEqual([200, 403]);
  const { type } = (await past.json()) as { type: string };
  const catalogue = await fetch(`${shape.writeBaseUrl}${type}`, { redirect: 'manual' });
  const { host } = new URL(shape.readBaseUrl);
  expect([catalogue.status, catalogue.headers.get('location')]).toEqual([302, `https://${host}${type}`]);
});

test('the first key is made once', async () => {
  await expect(shape.functions.named('first-key').invoke({})).rejects.toThrow();
});

/** The scenario's last steps wait for half a minute after those before them: all else is done meanwhile. */
const isLast = (step: Step) => erasureSteps.finished.includes(step);

describe('the scenario', () => {
  for (const step of STEPS.filter((each) => !isLast(each))) test(step.says, () => step.run(scenario));
});

test('a file that has arrived cannot be put again', async () => {
  // Small, so that all of it is sent before the answer, which closes the connection.
  const file = await sendFile({ name: 'again', markets: 1, days: 0 });
  expect(await file.putFile()).toMatchObject({ status: 412 });
  await until(file.id, ({ generation }) => generation !== null);
});

/** Checked later, because the next worker waits for half a minute. */
let killed: SentFile;

test('a worker that is killed in the middle of a file leaves it unfinished, for another', async () => {
  // So that it is the stream's ring that dies, which is tried again.
  shape.bus.isSweeping = false;
  killed = await sendFile({ name: 'killed', markets: 2, days: 250 });
  await until(killed.id, ({ done }) => done.batches >= 1);
  const worker = shape.functions.named('worker');
  const ended = worker.reports.length;
  worker.kill();
  await expect.poll(() => worker.reports.length).toBeGreaterThan(ended);
  expect(worker.reports[ended]?.spent).toBeNull();
  shape.bus.isSweeping = true;
  expect(await readUpload(killed.id)).toMatchObject({ state: 'applying', finishedAt: null });
});

let large: SentFile;

test('a file of 20 MB is taken in, each record once, by successive invocations that stop in time', async () => {
  const worker = shape.functions.named('worker');
  worker.update({ timeoutSeconds: SHORT_TIMEOUT_SECONDS });
  const ended = worker.reports.length;
  large = await sendFile({ name: 'large', markets: 4, days: 500 });
  expect(large.bytes).toBeGreaterThan(20_000_000);
  const upload = await until(large.id, ({ generation }) => generation !== null);
  expect(upload.counts).toMatchObject({ accepted: large.records, unchanged: 0, refused: 0 });
  await expectPublished(large);
  const reports = worker.reports.slice(ended);
  expect(reports.filter(({ durationMs }) => durationMs > 1_000).length).toBeGreaterThan(1);
  expect(reports.filter(({ spent }) => spent === null)).toEqual([]);
  const held = reports.map(({ spent }) => spent?.maxMegabytes ?? 0);
  const { memoryMegabytes } = shape.deployed.functions.get('worker') ?? { memoryMegabytes: 0 };
  expect(Math.max(...held)).toBeLessThan(memoryMegabytes / 2);
});

test.each(['the sweep', 'the stream'])('with %s alone, writes are published', async (alone) => {
  for (const mapping of shape.mappings) mapping.isEnabled = alone === 'the stream';
  shape.bus.isSweeping = alone === 'the sweep';
  const slug = session.slug(alone.replace(' ', '-'));
  const report = await sendBatch(session, { body: { records: [marketRecord(slug, 'EUR')] } });
  expect(report.counts.accepted).toBe(1);
  succeeded('getMarket', await session.read(marketUrl(slug)));
  for (const mapping of shape.mappings) mapping.isEnabled = true;
  shape.bus.isSweeping = true;
});

test('the file whose worker was killed is taken in, each record once', async () => {
  const upload = await until(killed.id, ({ generation }) => generation !== null);
  expect(upload.counts).toMatchObject({ accepted: killed.records, unchanged: 0, refused: 0 });
  await expectPublished(killed);
});

describe('the end of the scenario', () => {
  for (const step of STEPS.filter(isLast)) test(step.says, () => step.run(scenario));
});

test('an audit record that is replaced past the adapters is reported by the stream', async () => {
  const client = createDynamoDbClient(
    { endpoint: engines?.dynamoDb ?? '', region: REGION, credentials: CREDENTIALS },
    BULK_TIMEOUTS,
  );
  const TableName = shape.deployed.functions.get('publish')?.variables[ENVIRONMENT.tableName] ?? '';
  const rows = await readRows(client, TableName);
  const [, record] = [...rows].find(([key]) => key.startsWith('audit/day/')) ?? [];
  expect(record).toBeDefined();
  const isReported = () => shape.log.some((line) => line.includes(PUBLISHER_METRICS.auditChanged));
  expect(isReported()).toBe(false);
  // The one write that IAM cannot deny to a function that adds audit records.
  const Put = { TableName, Item: { ...record, attemptId: { S: 'somebody' } } };
  await client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
  client.destroy();
  await expect.poll(isReported, { timeout: BUSY_MS, interval: 200 }).toBe(true);
});

test('work continues in place on a table that is restored to an earlier moment, by the runbook: readers see no 404', async () => {
  const client = createDynamoDbClient(
    { endpoint: engines?.dynamoDb ?? '', region: REGION, credentials: CREDENTIALS },
    BULK_TIMEOUTS,
  );
  const tableName = shape.deployed.functions.get('publish')?.variables[ENVIRONMENT.tableName] ?? '';
  const reader = httpReader(shape.readBaseUrl);
  const before = await readRows(client, tableName);
  // The restore loses a market, a price, and a correction.
  const [first = '', second = ''] = large.slugs;
  const lost = session.slug('lost');
  const later = [priceOn(first, large.days), { ...priceOn(second, 3), amountMinor: 10_333 }];
  await sendBatch(session, { body: { records: [marketRecord(lost, 'EUR'), ...later], mode: 'correct' } });
  shape.forgetReads();
  const readers = keepReading(reader, await everyUrl(reader), shape.forgetReads);
  const { generation } = JSON.parse(Buffer.from((await reader(SNAPSHOT_URL)).body).toString());

  // Step 1: everything that writes or publishes is stopped.
  for (const mapping of shape.mappings) mapping.isEnabled = false;
  shape.bus.isSweeping = false;
  await setTimeout(1_000);
  // Steps 2 and 3. The copy has half of a correction, and a record without its newest observation.
  const now = await readRows(client, tableName);
  await putBack(client, tableName, torn(before, now, first, second));
  client.destroy();
  await expect(shape.functions.invoke('publish', {})).rejects.toThrow();
  expect(shape.log.filter((line) => line.includes('LedgerBehind'))).not.toEqual([]);
  // Step 4, as it is written down.
  const answer = await shape.functions.invoke('repair', payloadIn('Restore the ledger'));
  expect(answer).toEqual({ repaired: 2, next: null });
  // Step 5: everything continues.
  for (const mapping of shape.mappings) mapping.isEnabled = true;
  shape.bus.isSweeping = true;

  const findings = async () => {
    shape.forgetReads();
    return (await verify(reader, { settled: true })).findings;
  };
  // The earlier public state was whole too, so wait until the list shows the restored ledger.
  const isLostListed = async () => {
    shape.forgetReads();
    return (await everyUrl(reader)).includes(marketUrl(lost));
  };
  await expect.poll(isLostListed, { timeout: BUSY_MS, interval: 500 }).toBe(false);
  await expect.poll(findings, { timeout: BUSY_MS, interval: 500 }).toEqual([]);
  const { rounds, failures } = await readers.stop();
  expect(failures).toEqual([]);
  expect(rounds).toBeGreaterThan(0);
  shape.forgetReads();
  expect(JSON.parse((await session.read(SNAPSHOT_URL)).text).generation).toBeGreaterThan(generation + 1);
  // Writers continue, also with the lost records.
  const report = await sendBatch(session, { body: { records: [marketRecord(lost, 'EUR'), priceOn(lost, 0)] } });
  expect(report.counts.accepted).toBe(2);
  succeeded('getMarket', await session.read(marketUrl(lost)));
});

test('nothing that is published breaks a promise, nothing was given up, and every function has done its work', async ({
  annotate,
}) => {
  await shape.functions.invoke('export', {});
  await shape.functions.invoke('collect-garbage', {});
  shape.forgetReads();
  const { findings, markets } = await verify(httpReader(shape.readBaseUrl), { settled: true });
  expect(findings).toEqual([]);
  expect(markets).toBeGreaterThan(large.slugs.length);
  await shape.functions.invoke('verify', {});
  expect(shape.failures).toEqual([]);
  const idle = FUNCTION_NAMES.filter((name) =>
    shape.functions.named(name).reports.every(({ spent }) => spent === null),
  );
  expect(idle).toEqual([]);
  await annotate(timesOf(shape));
});

interface SentFile {
  readonly id: string;
  readonly slugs: readonly string[];
  readonly days: number;
  readonly bytes: number;
  readonly records: number;
  /** Once more, to the same target. */
  readonly putFile: () => Promise<Response>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Blanks at the end of a line: what counts is how much there is to read. */
const PADDED_TO_CHARACTERS = 10_400;

/** Announces and puts a file of markets with a price a day. */
async function sendFile(file: { name: string; markets: number; days: number }): Promise<SentFile> {
  const { days } = file;
  const slugs = Array.from({ length: file.markets }, (_, index) => session.slug(`${file.name}-${index}`));
  const records = slugs.flatMap((slug) => [
    marketRecord(slug, 'EUR'),
    ...Array.from({ length: days }, (_, index) => priceOn(slug, index)),
  ]);
  const lines = records.map((record) => `${JSON.stringify(record).padEnd(PADDED_TO_CHARACTERS)}\n`);
  const bytes = Buffer.from(lines.join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const body = { sha256, bytes: bytes.length, records: records.length };
  const { id, put } = succeeded('createIngestUpload', await session.write('POST', '/api/v1/ingest/uploads', { body }));
  const { url, headers } = put ?? { url: '', headers: {} };
  const putFile = () => fetch(url, { method: 'PUT', headers, body: bytes });
  expect(await putFile()).toMatchObject({ status: 200 });
  return { id, slugs, days, bytes: bytes.length, records: records.length, putFile };
}

function priceOn(slug: string, index: number): object {
  const day = new Date(Date.parse('2022-01-01') + index * DAY_MS).toISOString().slice(0, 10);
  return priceRecord(slug, 'EUR', { day, amountMinor: 10_000 + index, sourceValue: null });
}

async function readUpload(id: string): Promise<Upload> {
  return succeeded('getIngestUpload', await session.write('GET', `/api/v1/ingest/uploads/${id}`));
}

async function until(id: string, isSo: (upload: Upload) => boolean): Promise<Upload> {
  for (;;) {
    const upload = await readUpload(id);
    if (isSo(upload)) return upload;
    await setTimeout(50);
  }
}

async function expectPublished({ slugs, days }: SentFile): Promise<void> {
  for (const slug of slugs) {
    const market = succeeded('getMarket', await session.read(marketUrl(slug)));
    expect(market.history.count).toBe(days);
  }
}

/** Of a cold start, as CPU time: so that it may be compared between machines that are busy. */
function timesOf({ functions }: Shape): string {
  const lines = FUNCTION_NAMES.map((name) => {
    const { importCpuMs, reports } = functions.named(name);
    const times = [importCpuMs ?? 0, reports[0]?.spent?.cpuMs ?? 0].map((time) => time.toFixed(0).padStart(6));
    const megabytes = Math.max(...reports.map(({ spent }) => spent?.maxMegabytes ?? 0)).toFixed(0);
    return `  ${name.padEnd(18)}${times.join('')}${megabytes.padStart(6)}`;
  });
  return `functions: CPU time in ms of import and first call, most memory in MB\n${lines.join('\n')}`;
}
