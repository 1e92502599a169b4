/**
 * The reverse proxies of docs/self-hosting.md in front of the edge, with the files of deploy/: nginx with its cache, and
 * Caddy, which has none. Readers speak TLS with them, and plain HTTP with the edge alone.
 */
import { MARKETS_URL } from '../contract/routes.ts';
import type { BenchOptions } from './benchmark.ts';
import { type ReverseProxy, type Spawn, startCaddyProxy, startNginxProxy } from './peers/reverse-proxies.ts';
import { placed } from './processor-time.ts';
import { MARKET } from './read/cases.ts';
import { contest, type Turn } from './read/contest.ts';
import { publishSite } from './read/site.ts';
import { median, ratios } from './rounds.ts';
import { ask, startScript } from './server-process.ts';
import { number, withSpread } from './table.ts';
import { missing } from './wrk.ts';

const CASES = [
  { title: 'one market', path: MARKET, headers: {} },
  { title: 'list page, br', path: MARKETS_URL, headers: { 'Accept-Encoding': 'br' } },
];

const SECONDS = 3;

export async function benchReadProxied({ quick, rounds, workspace, section }: BenchOptions): Promise<void> {
  section.say(
    'The [reverse proxies](self-hosting.md#tls-with-nginx) in front of the edge, with the files of `deploy/`: nginx with its cache,',
    'and Caddy, which has none. `wrk` speaks TLS with them (one thread, 64 connections that are kept), and HTTP with the edge alone.',
    'TLS takes its share of the load, too. Processor time is that of the proxy and of the edge together, which share one processor.',
  );
  const programs = { wrk: 'wrk', nginx: 'nginx', caddy: 'caddy', openssl: 'openssl' };
  const reason = Object.entries(programs).flatMap(([program, from]) => missing(program, from) ?? [])[0];
  if (reason !== undefined) {
    section.skip(reason);
    return;
  }
  const site = await publishSite(workspace);
  const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [site.folder]);
  const start: Spawn = (command, args, options) => workspace.spawn(...placed('server', command, args), options);
  const nginx = await startNginxProxy(workspace.folder('nginx-proxy'), edge.port, start);
  const caddy = await startCaddyProxy(workspace.folder('caddy-proxy'), edge.port, start);
  const rows: string[][] = [];
  for (const { title, path, headers } of CASES) {
    // Compressed before it is measured.
    await ask(edge, path, headers);
    const contestant = (origin: string, pids: readonly number[]) => ({
      pids,
      target: () => ({ origin, headers, paths: { path } }),
    });
    const proxied = ({ url, pid }: ReverseProxy) => contestant(url, [pid, edge.pid]);
    const turns = await contest(workspace, rounds, quick ? 1 : SECONDS, {
      'the edge alone': contestant(`http://127.0.0.1:${edge.port}`, [edge.pid]),
      'through nginx': proxied(nginx),
      'through Caddy': proxied(caddy),
    });
    for (const [name, own] of Object.entries(turns)) {
      rows.push([`${title}: ${name}`, ...cells(own, turns['the edge alone'], name === 'the edge alone')]);
    }
  }
  section.table(
    ['', 'requests/s', 'to the edge alone', 'p99, ms', 'CPU of both, µs a request', 'to the edge alone'],
    rows,
  );
  await nginx.stop();
  await caddy.stop();
  await edge.stop();
}

function cells(own: readonly Turn[], alone: readonly Turn[], isAlone: boolean): string[] {
  const rates = (turns: readonly Turn[]) => turns.map(({ requestsPerSecond }) => requestsPerSecond);
  const micros = (turns: readonly Turn[]) => turns.map(({ requestsPerCpuSecond }) => 1e6 / requestsPerCpuSecond);
  return [
    withSpread(rates(own), 0),
    isAlone ? '' : withSpread(ratios(rates(own), rates(alone)), 2),
    number(median(own.map(({ p99Ms }) => p99Ms)), 2),
    withSpread(micros(own), 1),
    isAlone ? '' : withSpread(ratios(micros(own), micros(alone)), 1),
  ];
}
