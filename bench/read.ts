/**
 * Reading: the embedded edge, against nginx serving the same bytes from files, and against Fastify answering the same
 * URLs from rows in SQLite; and against node:http repeating one answer, which is as fast as the edge could ever be. Each
 * in its own process, under load from wrk in turns.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parsePublicKey, publicKey, publicPath } from '../contract/public-objects.ts';
import { MARKETS_URL, marketUrl } from '../contract/routes.ts';
import { COMPRESSIBLE_MIN_BYTES } from '../embedded/edge/encoding.ts';
import { publish } from '../publisher/publish.ts';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { readAll } from '../storage/paging.ts';
import { MARKET_INDEX, marketKey } from '../storage/records/markets.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { DEPLOYMENT } from './deployment.ts';
import { fillPeerDatabase, type PeerMarket } from './peers/fastify-database.ts';
import { type SiteFile, startNginx } from './peers/nginx.ts';
import type { Recording } from './peers/replay.ts';
import { interleave, median, ratios } from './rounds.ts';
import { ask, type Server, startScript } from './server-process.ts';
import { dependenciesOn, ingest } from './synthetic-ledger.ts';
import { readSample } from './synthetic-markets.ts';
import { bytes, number, printHeading, printTable, withSpread } from './table.ts';
import type { Workspace } from './workspace.ts';
import { type Load, load, missing } from './wrk.ts';

interface Case {
  readonly title: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Asks again for what the server has named, so that it answers 304. */
  readonly revalidates: boolean;
}

interface Published {
  /** Of the directory store. */
  readonly folder: string;
  readonly files: readonly SiteFile[];
  readonly nextCursor: string | null;
  readonly markets: readonly PeerMarket[];
}

const MARKET = marketUrl('gold-usd');

const CASES: readonly Case[] = [
  { title: 'one market', path: MARKET, headers: {}, revalidates: false },
  // Below 1,000 bytes the edge, like CloudFront, compresses nothing: this is what negotiating costs.
  { title: 'one market, any', path: MARKET, headers: { 'Accept-Encoding': 'gzip, br' }, revalidates: false },
  { title: 'list page', path: MARKETS_URL, headers: {}, revalidates: false },
  { title: 'list page, gzip', path: MARKETS_URL, headers: { 'Accept-Encoding': 'gzip' }, revalidates: false },
  { title: 'list page, br', path: MARKETS_URL, headers: { 'Accept-Encoding': 'br' }, revalidates: false },
  { title: 'one market, 304', path: MARKET, headers: {}, revalidates: true },
];

const SECONDS = 2;

export async function benchRead({ quick, rounds, workspace }: BenchOptions): Promise<void> {
  printHeading(
    'read',
    'wrk, 1 thread and 64 connections: the embedded edge; nginx with one worker over the same bytes as files, ready',
    'compressed; Fastify over rows in SQLite, which renders and compresses each answer; node:http repeating one answer.',
  );
  const reason = missing('wrk', 'wrk') ?? missing('nginx', 'nginx');
  if (reason !== null) {
    console.log(`  Skipped: ${reason}\n`);
    return;
  }
  const published = await publishSample(workspace);
  const database = join(workspace.folder('fastify'), 'peer.sqlite');
  fillPeerDatabase(database, published.markets);
  const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [published.folder]);
  const nginx = await startNginx(workspace, published.files, published.nextCursor);
  const fastify = await startScript(workspace, 'fastify', 'peers/fastify-sqlite.ts', [database]);

  const table: string[][] = [];
  for (const [place, item] of CASES.entries()) {
    const agreed = await agree([edge, nginx, fastify], item);
    // The quick version loads the servers once, and only looks at the other answers.
    if (quick && place > 0) continue;
    const replay = await startReplay(workspace, edge, item, agreed);
    const servers = { edge, nginx, fastify, replay };
    table.push(...(await measure(workspace, item, agreed, servers, rounds, quick ? 1 : SECONDS)));
    await replay.stop();
  }
  printTable(['', 'body', 'requests/s', 'p99, ms', 'edge to this one'], table);
  for (const server of [edge, nginx, fastify]) await server.stop();
}

/** The request fields for each server, and the size of its answer's body. */
type Agreed = ReadonlyMap<string, { readonly headers: Readonly<Record<string, string>>; readonly sizeBytes: number }>;

/** Sees that all servers answer with the same content, so that the load compares like with like. */
async function agree(servers: readonly Server[], { title, path, headers, revalidates }: Case): Promise<Agreed> {
  const agreed = new Map<string, { headers: Readonly<Record<string, string>>; sizeBytes: number }>();
  let expected: unknown;
  for (const server of servers) {
    const { status, etag, body, coding } = await ask(server, path, headers);
    const content = JSON.parse(decoded(body, coding).toString('utf8'));
    // Cursors are each server's own.
    if (content.page !== undefined) content.page = typeof content.page.nextCursor;
    expected ??= content;
    const wanted = headers['Accept-Encoding'] ?? 'identity';
    const isAsWanted = wanted.includes(coding) || (coding === 'identity' && body.length < COMPRESSIBLE_MIN_BYTES);
    if (status !== 200 || !isAsWanted || !isDeepStrictEqual(content, expected)) {
      throw new Error(`${server.name} does not answer "${title}" as the others do: ${status}, ${coding}`);
    }
    if (!revalidates) {
      agreed.set(server.name, { headers, sizeBytes: body.length });
      continue;
    }
    const conditional = { ...headers, 'If-None-Match': etag };
    const again = await ask(server, path, conditional);
    if (again.status !== 304) throw new Error(`${server.name} answers ${again.status} to its own ETag ${etag}`);
    agreed.set(server.name, { headers: conditional, sizeBytes: again.body.length });
  }
  return agreed;
}

/** Records what the edge answers when its object is fresh in memory, and starts a server that repeats it. */
async function startReplay(workspace: Workspace, edge: Server, { path }: Case, agreed: Agreed): Promise<Server> {
  const { status, rawFields, body } = await ask(edge, path, headersOf(agreed, edge));
  const own = ['date', 'connection', 'keep-alive'];
  const fields = rawFields.filter((_, index) => !own.includes((rawFields[index - (index % 2)] ?? '').toLowerCase()));
  const recording: Recording = { status, fields, bodyBase64: body.toString('base64') };
  const file = join(workspace.folder('replay'), 'recording.json');
  writeFileSync(file, JSON.stringify(recording));
  return startScript(workspace, 'node:http', 'peers/replay.ts', [file]);
}

/** The request to a server; the replay gets the same one as the edge. */
function headersOf(agreed: Agreed, { name }: Server): Readonly<Record<string, string>> {
  return (agreed.get(name) ?? agreed.get('edge'))?.headers ?? {};
}

function decoded(body: Buffer, coding: string): Buffer {
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'gzip' ? gunzipSync(body) : body;
}

async function measure(
  workspace: Workspace,
  { title, path }: Case,
  agreed: Agreed,
  servers: { readonly [Name in 'edge' | 'nginx' | 'fastify' | 'replay']: Server },
  rounds: number,
  seconds: number,
): Promise<string[][]> {
  const loads = new Map<string, Load[]>();
  const run = (server: Server) => async () => {
    const url = `http://127.0.0.1:${server.port}${path}`;
    const measured = await load(workspace, url, headersOf(agreed, server), seconds);
    loads.set(server.name, [...(loads.get(server.name) ?? []), measured]);
    return measured.requestsPerSecond;
  };
  const rates = await interleave(rounds, {
    edge: run(servers.edge),
    nginx: run(servers.nginx),
    fastify: run(servers.fastify),
    replay: run(servers.replay),
  });
  return (['edge', 'nginx', 'fastify', 'replay'] as const).map((contestant) => {
    const { name } = servers[contestant];
    return [
      `${title.padEnd(17)} ${name}`,
      bytes((agreed.get(name) ?? agreed.get('edge'))?.sizeBytes ?? 0),
      withSpread(rates[contestant], 0),
      number(median((loads.get(name) ?? []).map(({ p99Ms }) => p99Ms)), 2),
      contestant === 'edge' ? '' : withSpread(ratios(rates.edge, rates[contestant]), 2),
    ];
  });
}

/** The sample, ingested and published as `npm start` does it, and exported for the peers. */
async function publishSample(workspace: Workspace): Promise<Published> {
  const folder = workspace.folder('sample');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const objects = await openDirectoryObjects(join(folder, 'objects'));
  for (const { market, observations } of await readSample()) await ingest(ledger, [market, ...observations]);
  await publish({ ...dependenciesOn(ledger), objects, ...DEPLOYMENT });
  const markets: PeerMarket[] = [];
  for (const { sort: slug } of await readAll(ledger, MARKET_INDEX)) {
    const item = await ledger.get(marketKey(slug));
    if (item) markets.push({ slug, revision: item.revision, record: item.value });
  }
  ledger.close();
  const list = await objects.stat(publicKey({ kind: 'market-list' }));
  return {
    folder: join(folder, 'objects'),
    files: await exported(objects),
    nextCursor: list?.metadata.nextCursor ?? null,
    markets,
  };
}

async function exported(objects: ObjectStore): Promise<readonly SiteFile[]> {
  const files: SiteFile[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await objects.list('public/', after === undefined ? {} : { after });
    for (const key of page.keys) {
      const name = parsePublicKey(key);
      const found = await objects.get(key);
      if (name !== null && found.kind === 'found') files.push({ path: publicPath(name), body: found.body });
    }
    after = page.next;
  }
  return files;
}
