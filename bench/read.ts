/** Reading: the embedded edge, against nginx with one worker over the same bytes as files. */

import { join } from 'node:path';
import { MARKETS_URL } from '../contract/routes.ts';
import type { BenchOptions } from './benchmark.ts';
import { fillPeerDatabase } from './peers/fastify-database.ts';
import { NGINX_OPEN_FILES, startNginx } from './peers/nginx.ts';
import { PLACEMENT } from './processor-time.ts';
import { HOT, MARKET, QUICK_TITLES, READ_CASES } from './read/cases.ts';
import { measureCase, QUICK_MARKETS, type ReadResult } from './read/measure.ts';
import { tellMemory } from './read/memory.ts';
import { tellProfile } from './read/profile.ts';
import { publishSite, type ReadSite } from './read/site.ts';
import { tellSteady } from './read/steady.ts';
import { isMissed, tellRates, tellRatios } from './read/tables.ts';
import { median } from './rounds.ts';
import { ask, type Server, startScript } from './server-process.ts';
import { number } from './table.ts';
import type { Workspace } from './workspace.ts';
import { missing } from './wrk.ts';

/** Of the memory. */
const CACHED_MARKETS = 100_000;

export async function benchRead(options: BenchOptions): Promise<void> {
  const { quick, full, only, profile, workspace, section } = options;
  section.say(
    'The embedded edge, against nginx with one worker that serves the same bytes as files, ready compressed, with the same',
    'header fields; and against node:http that repeats one answer, which is the most that an edge on node:http could do.',
    `${full ? 'Fastify answers from rows in SQLite, and renders and compresses each answer. ' : ''}The measure is what a server answers in a second of its own processor time (user and system), because the load takes`,
    `its share of the machine. Load: \`wrk\`, 1 thread, 64 connections. ${PLACEMENT} Where very many markets are asked for,`,
    'each is asked for with the same probability: more than the edge keeps in 128 MiB, and than nginx keeps open',
    `(${number(NGINX_OPEN_FILES)} files).`,
  );
  const reason = missing('wrk', 'wrk') ?? missing('nginx', 'nginx');
  if (reason !== null) {
    section.skip(reason);
    return;
  }
  const site = await publishSite(workspace);
  const cases = READ_CASES.filter(({ title }) => title.includes(only) && (!quick || QUICK_TITLES.includes(title)));
  if (profile) {
    for (const item of cases) await tellProfile(section, workspace, site, item, quick);
    return;
  }
  const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [site.folder]);
  const nginx = await startNginx(workspace, site.nginx, {
    list: await fieldsOf(edge, MARKETS_URL),
    market: await fieldsOf(edge, MARKET),
  });
  const fastify = full ? await startFastify(workspace, site) : null;
  const results: ReadResult[] = [];
  for (const item of cases) results.push(await measureCase({ ...options, site, edge, nginx, fastify }, item));
  tellRatios(section, results);
  tellRates(section, results);
  await tellHalfLoad(options, { edge, nginx }, results);
  for (const server of [edge, nginx, fastify]) await server?.stop();
  await tellMemory(section, workspace, site.folder, site.addMarkets(quick ? QUICK_MARKETS : CACHED_MARKETS));
  if (quick) return;
  for (const { item } of results.filter(isMissed)) await tellProfile(section, workspace, site, item, quick);
}

/** Of a hit, as under load: the second answer. */
async function fieldsOf(edge: Server, path: string): Promise<readonly string[]> {
  await ask(edge, path, {});
  return (await ask(edge, path, {})).rawFields;
}

async function startFastify(workspace: Workspace, site: ReadSite): Promise<Server> {
  const database = join(workspace.folder('fastify'), 'peer.sqlite');
  fillPeerDatabase(database, site.markets);
  return startScript(workspace, 'Fastify', 'peers/fastify-sqlite.ts', [database]);
}

/** Half of what the slower of the two has answered. */
async function tellHalfLoad(
  { workspace, section, rounds, quick }: BenchOptions,
  servers: { readonly edge: Server; readonly nginx: Server },
  results: readonly ReadResult[],
): Promise<void> {
  const turns = results.find(({ item }) => item === HOT)?.turns;
  if (turns === undefined) return;
  const highest = [turns.edge, turns.nginx].map((own = []) =>
    median(own.map(({ requestsPerSecond }) => requestsPerSecond)),
  );
  const load = { path: MARKET, requestsPerSecond: Math.min(...highest) / 2, seconds: quick ? 1 : HOT.seconds };
  await tellSteady(section, workspace, servers, { rounds, ...load });
}
