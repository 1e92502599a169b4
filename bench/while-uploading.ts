/**
 * The embedded server while it works off a large upload: how long a batch of one record takes until it is public, and how long
 * readers wait. Readers and the server are processes of one machine, so what else it does shows in how long they wait; in the
 * processor time of the thread that answers them it does not.
 */
import type { ChildProcess } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import { MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../contract/routes.ts';
import type { BenchOptions } from './benchmark.ts';
import type { ServerReport } from './children/loop-watch.ts';
import { type EmbeddedProcess, startEmbedded } from './embedded-process.ts';
import { quantile } from './rounds.ts';
import { readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { number } from './table.ts';
import type { Workspace } from './workspace.ts';

const ROWS = 20_000;
const FULL_ROWS = 200_000;
const QUICK_ROWS = 1_000;
/** The markets of a file of prices by date. */
const MARKETS = 41;
const FIRST_MS = Date.UTC(2015, 0, 1);
const HOUR_MS = 60 * 60 * 1000;
const BETWEEN_BATCHES_MS = 500;
const IDLE_MS = 3_000;
const LONG_IDLE_MS = 10_000;
const LOOK_EVERY_MS = 20;
const PUBLIC_WITHIN_MS = 3_000;
const HELD_UP_MS = 5;
const READ_CHILD = join(import.meta.dirname, 'children', 'read-child.ts');
const HOT = [SNAPSHOT_URL, MARKETS_URL, marketUrl('gold-usd')];

export async function benchWhileUploading({ quick, full, workspace, section }: BenchOptions): Promise<void> {
  const rows = quick ? QUICK_ROWS : full ? FULL_ROWS : ROWS;
  section.say(
    `The embedded server with the sample, idle, and while it works off an upload of ${number(rows)} rows by date over ${MARKETS} markets.`,
    'Twice a second a batch of one record is sent, and a reader in a process of its own asks for hot bodies all the time. All share the',
    'machine, so the longest stretches of the event loops are shown in processor time.',
    `Promises: a batch of one record is public within ${number(PUBLIC_WITHIN_MS / 1000)} s (p99); no read waits longer than ${HELD_UP_MS} ms for our own work (p99.9).`,
  );
  const sample = await readSample();
  const server = await startEmbedded(workspace, join(workspace.folder('uploading'), 'data'));
  // Background work of the start is not measured here.
  await sleep(quick ? 0 : IDLE_MS);
  const reader = startReader(workspace, server);
  await server.loops();
  const idle = await measure({ server, reader, sample }, async () => await sleep(quick ? IDLE_MS : LONG_IDLE_MS));
  // Made before: this process also reads, and would wait for itself.
  const file = fileOf(sample, rows);
  const under = await measure({ server, reader, sample }, () => upload(server, file));
  await workspace.end(reader);
  await server.stop();
  const row = (name: string, { seconds, batchMs, readMs, loops }: Measured) => [
    name,
    number(seconds, 1),
    number(batchMs.length),
    ...[0.5, 0.99, 1].map((share) => number(quantile(batchMs, share))),
    number(readMs.length),
    ...[0.5, 0.99, 0.999, 1].map((share) => number(quantile(readMs, share), 1)),
    number(loops.readers.p999CpuMs, 1),
    number(loops.readers.longestCpuMs, 1),
    number(loops.core.longestCpuMs),
  ];
  section.table(
    [
      '',
      's',
      'batches',
      'public after, ms',
      'p99',
      'most',
      'reads',
      'ms',
      'p99',
      'p99.9',
      'most',
      'stretch of the readers, CPU ms: p99.9',
      'most',
      'of the core',
    ],
    [row('idle', idle), row(`upload, ${number(rows / under.seconds)} rows/s`, under)],
  );
  const p99 = quantile(under.batchMs, 0.99);
  section.say(`Batches: ${p99 <= PUBLIC_WITHIN_MS ? 'the promise is kept' : 'the promise is NOT kept'}.`);
  const ownMs = under.loops.readers.p999CpuMs;
  section.say(`Reads, by processor time: ${ownMs <= HELD_UP_MS ? 'the promise is kept' : 'the promise is NOT kept'}.`);
}

interface Measured {
  readonly seconds: number;
  /** From sending each batch until its body was in the store. */
  readonly batchMs: readonly number[];
  readonly readMs: readonly number[];
  readonly loops: ServerReport;
}

interface Measuring {
  readonly server: EmbeddedProcess;
  readonly reader: ChildProcess;
  readonly sample: readonly SampleMarket[];
}

/** Sends batches and reads for as long as the work takes. */
async function measure({ server, reader, sample }: Measuring, work: () => Promise<void>): Promise<Measured> {
  await takeReads(reader);
  const beganAtMs = performance.now();
  let isOver = false;
  const batches = sendBatches(server, sample, () => isOver);
  await work();
  isOver = true;
  const seconds = (performance.now() - beganAtMs) / 1000;
  const readMs = await takeReads(reader);
  return { seconds, batchMs: await batches, readMs, loops: await server.loops() };
}

/** It reads until it is ended. */
function startReader(workspace: Workspace, { baseUrl }: EmbeddedProcess): ChildProcess {
  return workspace.spawn(process.execPath, [READ_CHILD, baseUrl, ...HOT], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** How long its answers took since this was last asked. */
async function takeReads(reader: ChildProcess): Promise<readonly number[]> {
  const answer = once(reader, 'message');
  reader.send('report');
  return ((await answer) as [number[]])[0];
}

/** Each for another market of the sample. None waits for the one before. */
async function sendBatches(
  server: EmbeddedProcess,
  sample: readonly SampleMarket[],
  isOver: () => boolean,
): Promise<readonly number[]> {
  const sent: Promise<number>[] = [];
  do {
    sent.push(sendBatch(server, sample[sent.length % sample.length] as SampleMarket));
    await sleep(BETWEEN_BATCHES_MS);
  } while (!isOver());
  return await Promise.all(sent);
}

let amounts = 0;

/** From sending it until the market's body is in the store. */
async function sendBatch(server: EmbeddedProcess, { market, observations }: SampleMarket): Promise<number> {
  const amountMinor = 1_000_000_000 + ++amounts;
  const observedAt = new Date(Date.now() - 1_000).toISOString();
  const record = { ...observations.at(-1), amountMinor, observedAt, sourceValue: null, outlierConfirmed: true };
  const path = join(server.dataFolder, `public${marketUrl(market.slug)}.json`);
  const beganAtMs = performance.now();
  await write(server, '/api/v1/ingest/batches', { records: [{ ...record, metric: 'bench' }] });
  while (!(await readFile(path, 'utf8').catch(() => '')).includes(`"amountMinor":${amountMinor},`)) {
    await sleep(LOOK_EVERY_MS);
  }
  return performance.now() - beganAtMs;
}

/** Announces a file, puts it, and waits until it has been applied and is public. */
async function upload(server: EmbeddedProcess, { bytes, sha256, records }: UploadFile): Promise<void> {
  const announced = { sha256, bytes: bytes.length, records };
  const { id, put } = await write(server, '/api/v1/ingest/uploads', announced);
  const url = new URL(put.url, `${server.baseUrl}/api/v1/ingest/uploads`);
  const taken = await fetch(url, { method: 'PUT', headers: put.headers, body: bytes });
  if (!taken.ok) throw new Error(`the file was answered ${taken.status}: ${await taken.text()}`);
  for (;;) {
    const { state, counts, generation } = await ask(server, 'GET', `/api/v1/ingest/uploads/${id}`);
    if (state === 'applied' && counts.accepted !== records) throw new Error('rows of the upload were refused');
    if (state === 'applied' && generation !== null) return;
    await sleep(BETWEEN_BATCHES_MS);
  }
}

interface UploadFile {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly sha256: string;
  readonly records: number;
}

function fileOf(sample: readonly SampleMarket[], rows: number): UploadFile {
  const markets = Array.from({ length: MARKETS }, (_, index) => syntheticMarket(sample, index));
  const records: IngestRecordInput[] = markets.map(({ market }) => market);
  for (let row = 0; row < rows; row++) {
    const { observations } = markets[row % MARKETS] as SampleMarket;
    const observedAt = new Date(FIRST_MS + Math.floor(row / MARKETS) * HOUR_MS).toISOString();
    records.push({ ...(observations[0] as SampleMarket['observations'][number]), observedAt });
  }
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), records: records.length };
}

async function write(server: EmbeddedProcess, path: string, body: unknown) {
  return await ask(server, 'POST', path, body);
}

// biome-ignore lint/suspicious/noExplicitAny: answers of the write API, of which a benchmark reads a field or two
async function ask(server: EmbeddedProcess, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${server.operatorKey()}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
