/** Reading: the embedded server, against nginx with one worker that serves the same bytes as files, ready compressed. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import { startNginx } from './nginx.ts';
import { cpuSeconds, PLACEMENT, placed } from './processor-time.ts';
import { interleave, quantile, ratios } from './rounds.ts';
import { type MeasuredServer, startServiceProcess } from './service.ts';
import { readSample } from './synthetic-markets.ts';
import { markdownTable, number, withSpread } from './table.ts';
import type { BenchOptions, Workspace } from './workspace.ts';

const SECONDS = 3;
const SETTLE_MS = 15_000;
const MARKET = marketUrl('gold-usd');

interface ReadCase {
  readonly title: string;
  /** Null: all markets of the sample, each with the same probability. */
  readonly path: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Asks again for what the server has named, so that it answers 304. */
  readonly revalidates?: boolean;
}

const CASES: readonly ReadCase[] = [
  { title: 'one market', path: MARKET },
  { title: 'one market, 304', path: MARKET, revalidates: true },
  { title: 'list page, gzip', path: MARKETS_URL, headers: { 'accept-encoding': 'gzip' } },
  { title: 'all markets of the sample', path: null },
];

interface Turn extends Load {
  readonly perCpuSecond: number;
}

export async function benchRead({ quick, rounds, workspace }: BenchOptions): Promise<string> {
  const reason = missing('wrk') ?? missing('nginx');
  if (reason !== null) return `Skipped: ${reason}`;
  const service = await startServiceProcess(workspace, join(workspace.folder('read'), 'data'));
  // Background work of the first start would count as the server's.
  await sleep(quick ? 0 : SETTLE_MS);
  const paths = (await readSample()).map(({ market }) => marketUrl(market.slug));
  const nginx = await startNginx(workspace, service.url, paths);
  const file = join(workspace.folder('paths'), 'paths.txt');
  writeFileSync(file, `${paths.join('\n')}\n`);
  const rows: string[][] = [];
  const medianOf = (samples: readonly number[]) => quantile(samples, 0.5);
  for (const item of CASES) {
    const turns = { service: [] as Turn[], nginx: [] as Turn[] };
    const turn = async (name: keyof typeof turns, server: MeasuredServer) => {
      const target = await targetOf(server, item, file);
      return async (round: number) => {
        const measured = await measure(workspace, server, target(round), quick ? 1 : SECONDS);
        turns[name].push(measured);
        return measured.perCpuSecond;
      };
    };
    const perCpuSecond = await interleave(rounds, {
      service: await turn('service', service),
      nginx: await turn('nginx', nginx),
    });
    const p99 = (own: readonly Turn[]) => number(medianOf(own.map(({ p99Ms }) => p99Ms)), 2);
    rows.push([
      item.title,
      withSpread(ratios(perCpuSecond.service, perCpuSecond.nginx), 2),
      withSpread(perCpuSecond.service, 0),
      withSpread(perCpuSecond.nginx, 0),
      number(medianOf(turns.service.map(({ requestsPerSecond }) => requestsPerSecond))),
      p99(turns.service),
      p99(turns.nginx),
    ]);
  }
  for (const server of [service, nginx]) await server.stop();
  const header = ['', 'to nginx', 'answers/CPU s', 'of nginx', 'answers/s', 'p99, ms', 'of nginx'];
  return `The embedded server with the sample, against nginx with one worker that serves the same bytes as files, ready compressed, with the same fields.
The measure is the number of answers in a second of its own processor time, because the load takes its share of the machine.
Load: \`wrk\`, 1 thread, 64 connections. ${PLACEMENT}

${markdownTable(header, rows)}`;
}

/** Asks once, which warms a cache, and gives the requests of a round. */
async function targetOf({ url }: MeasuredServer, { path, headers = {}, revalidates }: ReadCase, file: string) {
  const answer = await fetch(`${url}${path ?? MARKET}`, { headers });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${url}${path ?? MARKET} answers ${answer.status}`);
  const conditional = revalidates ? { 'if-none-match': answer.headers.get('etag') ?? '' } : {};
  return (round: number): Target => ({
    origin: url,
    headers: { ...headers, ...conditional },
    paths: path === null ? { file, seed: round } : { path },
  });
}

async function measure(workspace: Workspace, { pid }: MeasuredServer, target: Target, seconds: number): Promise<Turn> {
  const before = cpuSeconds(pid);
  const measured = await load(workspace, target, seconds);
  return { ...measured, perCpuSecond: measured.requests / (cpuSeconds(pid) - before) };
}

const CONNECTIONS = 64;

const SPREAD = join(import.meta.dirname, 'spread.lua');

/** What is asked for. */
interface Target {
  /** The paths are added to it. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One path; or a file of paths, one a line, each of which is asked for with the same probability. */
  readonly paths: { readonly path: string } | { readonly file: string; readonly seed: number };
}

interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** 99 in 100 answers took at most this long, in milliseconds. */
  readonly p99Ms: number;
}

/** Why a program cannot be run here, or null. */
function missing(program: string): string | null {
  const { error } = spawnSync(program, ['-v'], { stdio: 'ignore' });
  return error === undefined ? null : `${program} is not installed: apt-get install ${program}`;
}

/** Puts a server under load. Rejects when an answer has an error status or a connection fails. */
async function load(workspace: Workspace, target: Target, seconds: number): Promise<Load> {
  const { origin, headers, paths } = target;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  // A slow server is a result, not a failure: no answer counts as timed out before the load ends.
  const general = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, `--timeout=${seconds + 5}s`, '--latency', ...fields];
  const own =
    'path' in paths ? [`${origin}${paths.path}`] : ['-s', SPREAD, `${origin}/`, '--', paths.file, String(paths.seed)];
  const [command, args] = placed('load', 'wrk', [...general, ...own]);
  const output = await workspace.run(command, args, (seconds + 10) * 1000);
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${origin} failed under load:\n${output}`);
  return {
    requests: Number(matched(output, /(\d+) requests in /)),
    requestsPerSecond: Number(matched(output, /Requests\/sec:\s+([\d.]+)/)),
    p99Ms: milliseconds(matched(output, /^\s+99%\s+(\S+)/m)),
  };
}

function matched(output: string, pattern: RegExp): string {
  const match = pattern.exec(output)?.[1];
  if (match === undefined) throw new Error(`wrk printed no ${pattern}:\n${output}`);
  return match;
}

/** From wrk's own spelling, e.g. `812.00us`, `1.25ms`, `1.02s`. */
function milliseconds(text: string): number {
  const value = Number.parseFloat(text);
  if (text.endsWith('us')) return value / 1000;
  return text.endsWith('ms') ? value : value * 1000;
}
