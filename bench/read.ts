/**
 * Reading: the embedded edge, against nginx with one worker over the same bytes as files. The measure is what a second of
 * the server's processor time answers, because the load takes its share of the machine. node:http that repeats one answer
 * is the floor: what an edge on node:http could do at most. With --full also Fastify, which answers from rows in SQLite.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MARKETS_URL } from '../contract/routes.ts';
import type { BenchOptions } from './benchmark.ts';
import { fillPeerDatabase } from './peers/fastify-database.ts';
import { startNginx } from './peers/nginx.ts';
import type { Recording } from './peers/replay.ts';
import { PLACEMENT } from './processor-time.ts';
import { type Agreed, agree } from './read/agreement.ts';
import { HOT, MARKET, READ_CASES, type ReadCase } from './read/cases.ts';
import { type Contestant, contest, type Turn } from './read/contest.ts';
import { MEMORY_COLUMNS, memoryRows } from './read/memory.ts';
import { profiledInto, topFunctions } from './read/profile.ts';
import { publishSite, type ReadSite } from './read/site.ts';
import { STEADY_COLUMNS, steadyRows } from './read/steady.ts';
import { median, ratios } from './rounds.ts';
import { ask, type Server, startScript } from './server-process.ts';
import { number, printHeading, printTable, withSpread } from './table.ts';
import type { Workspace } from './workspace.ts';
import { load, missing } from './wrk.ts';

/** Of the memory. */
const CACHED_MARKETS = 100_000;

const EDGE = 'children/edge-child.ts';

/** A quick run asks for fewer markets. */
const QUICK_MARKETS = 100;

interface Result {
  readonly item: ReadCase;
  readonly agreed: ReadonlyMap<string, Agreed>;
  /** By the name of the server. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
}

export async function benchRead({ quick, full, only, profile, rounds, workspace }: BenchOptions): Promise<void> {
  printHeading(
    'read',
    'wrk, 1 thread and 64 connections: the embedded edge; nginx with one worker over the same bytes as files, with the',
    'same header fields, ready compressed; node:http repeating one answer. Requests per second of processor time of',
    `the server, user and system. ${PLACEMENT}`,
  );
  const reason = missing('wrk', 'wrk') ?? missing('nginx', 'nginx');
  if (reason !== null) {
    console.log(`  Skipped: ${reason}\n`);
    return;
  }
  const site = await publishSite(workspace);
  const cases = READ_CASES.filter(({ title }) => title.includes(only));
  if (profile) {
    await printProfiles(workspace, site, cases, quick);
    return;
  }
  const edge = await startScript(workspace, 'edge', EDGE, [site.folder]);
  const fieldsOf = async (path: string) => {
    await ask(edge, path, {});
    // The second answer is a hit, as under load.
    return (await ask(edge, path, {})).rawFields;
  };
  const fields = { list: await fieldsOf(MARKETS_URL), market: await fieldsOf(MARKET) };
  const nginx = await startNginx(workspace, site.nginx, fields);
  const fastify = full ? await startFastify(workspace, site) : null;

  const results: Result[] = [];
  for (const item of cases) {
    const seconds = quick ? 1 : item.seconds;
    results.push(await measure({ workspace, site, edge, nginx, fastify, rounds, quick }, item, seconds));
  }
  printRatios(results);
  printRates(results);
  const hot = results.find(({ item }) => item === HOT)?.turns;
  if (hot !== undefined) {
    const highest = [hot.edge, hot.nginx].map((turns = []) =>
      median(turns.map(({ requestsPerSecond }) => requestsPerSecond)),
    );
    const offered = { path: MARKET, requestsPerSecond: Math.min(...highest) / 2, seconds: quick ? 1 : HOT.seconds };
    const rows = await steadyRows(workspace, { edge, nginx }, { rounds, ...offered });
    printTable(STEADY_COLUMNS, rows);
  }
  const file = site.addMarkets(quick ? QUICK_MARKETS : CACHED_MARKETS);
  printTable(MEMORY_COLUMNS, await memoryRows(workspace, site.folder, file));
  for (const server of [edge, nginx, fastify]) await server?.stop();
}

async function startFastify(workspace: Workspace, site: ReadSite): Promise<Server> {
  const database = join(workspace.folder('fastify'), 'peer.sqlite');
  fillPeerDatabase(database, site.markets);
  return startScript(workspace, 'Fastify', 'peers/fastify-sqlite.ts', [database]);
}

interface Setting {
  readonly workspace: Workspace;
  readonly site: ReadSite;
  readonly edge: Server;
  readonly nginx: Server;
  readonly fastify: Server | null;
  readonly rounds: number;
  readonly quick: boolean;
}

async function measure(setting: Setting, item: ReadCase, seconds: number): Promise<Result> {
  const { workspace, site, edge, nginx, fastify, rounds, quick } = setting;
  const { path, file } = pathsOf(site, item, quick);
  // Fastify has the sample alone.
  const peers = [edge, nginx, ...(fastify !== null && file === null ? [fastify] : [])];
  const agreed = await agree(peers, item, path);
  const replay = file === null ? await startReplay(workspace, edge, agreed, path) : null;
  const contestants = [...peers, ...(replay === null ? [] : [replay])].map((server): [string, Contestant] => [
    server.name,
    {
      server,
      target: (round) => ({
        origin: `http://127.0.0.1:${server.port}`,
        headers: (agreed.get(server.name) ?? agreed.get('edge'))?.headers ?? {},
        paths: file === null ? { path } : { file, seed: round },
      }),
    },
  ]);
  const turns = await contest(workspace, rounds, seconds, Object.fromEntries(contestants));
  await replay?.stop();
  return { item, agreed, turns };
}

/** Where many paths are asked for: the file that has them, and the first of them. */
function pathsOf(site: ReadSite, { asked }: ReadCase, quick: boolean): { path: string; file: string | null } {
  if ('path' in asked) return { path: asked.path, file: null };
  const file = site.addMarkets(quick ? QUICK_MARKETS : asked.markets);
  return { path: readFileSync(file, 'utf8').split('\n')[0] as string, file };
}

/** Records what the edge answers when its object is fresh in memory, and starts a server that repeats it. */
async function startReplay(
  workspace: Workspace,
  edge: Server,
  agreed: ReadonlyMap<string, Agreed>,
  path: string,
): Promise<Server> {
  const { status, rawFields, body } = await ask(edge, path, agreed.get('edge')?.headers ?? {});
  const own = ['date', 'connection', 'keep-alive'];
  const fields = rawFields.filter((_, index) => !own.includes((rawFields[index - (index % 2)] ?? '').toLowerCase()));
  const recording: Recording = { status, fields, bodyBase64: body.toString('base64') };
  const file = join(workspace.folder('replay'), 'recording.json');
  writeFileSync(file, JSON.stringify(recording));
  return startScript(workspace, 'node:http', 'peers/replay.ts', [file]);
}

const FUNCTIONS_SHOWN = 15;

/** Each case with an edge of its own, without peers. */
async function printProfiles(
  workspace: Workspace,
  site: ReadSite,
  cases: readonly ReadCase[],
  quick: boolean,
): Promise<void> {
  for (const item of cases) {
    const folder = workspace.folder('profile');
    const edge = await startScript(workspace, 'edge', EDGE, [site.folder], profiledInto(folder));
    const { path, file } = pathsOf(site, item, quick);
    const { headers } = (await agree([edge], item, path)).get('edge') as Agreed;
    const paths = file === null ? { path } : { file, seed: 0 };
    await load(workspace, { origin: `http://127.0.0.1:${edge.port}`, headers, paths }, quick ? 1 : item.seconds);
    await edge.stop();
    printTable([`${item.title}: function`, 'own time'], topFunctions(folder, FUNCTIONS_SHOWN));
  }
}

const perCpuSecond = (turns: readonly Turn[] = []) => turns.map(({ requestsPerCpuSecond }) => requestsPerCpuSecond);

function printRatios(results: readonly Result[]): void {
  const rows = results.map(({ item, turns }) => {
    const { edge = [], nginx = [], 'node:http': replay, Fastify: fastify } = turns;
    const toNginx = ratios(perCpuSecond(edge), perCpuSecond(nginx));
    return [
      item.title,
      withSpread(toNginx, 2),
      item.target === null ? '' : `≥ ${number(item.target, 1)}`,
      item.target === null ? '' : median(toNginx) >= item.target ? 'reached' : 'missed',
      replay === undefined ? '' : withSpread(ratios(perCpuSecond(edge), perCpuSecond(replay)), 2),
      ...(fastify === undefined ? [] : [withSpread(ratios(perCpuSecond(edge), perCpuSecond(fastify)), 1)]),
    ];
  });
  const peers = rows.some(({ length }) => length > 5) ? ['edge to Fastify'] : [];
  printTable(['per CPU second', 'edge to nginx', 'target', '', 'edge to bare node:http', ...peers], rows);
}

function printRates(results: readonly Result[]): void {
  const rows = results.flatMap(({ item, agreed, turns }) =>
    Object.entries(turns).map(([name, own]) => {
      const sizes = agreed.get(name) ?? agreed.get('edge');
      return [
        `${item.title}: ${name}`,
        withSpread(perCpuSecond(own), 0),
        withSpread(
          own.map(({ requestsPerSecond }) => requestsPerSecond),
          0,
        ),
        number(median(own.map(({ p99Ms }) => p99Ms)), 2),
        `${number(median(own.map(({ busy }) => busy)) * 100)} %`,
        `${number(sizes?.fieldBytes ?? 0)} + ${number(sizes?.bodyBytes ?? 0)}`,
      ];
    }),
  );
  printTable(['', 'requests/CPU s', 'requests/s', 'p99, ms', 'busy', 'bytes of fields + body'], rows);
}
