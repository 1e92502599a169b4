/** Compares reads from the server with nginx, which has one worker and serves the same bytes as files, already compressed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import { startNginx } from './nginx.ts';
import { cpuSeconds, PLACEMENT, placed } from './processor-time.ts';
import { interleave, quantile, ratios } from './rounds.ts';
import { type MeasuredServer, startServiceProcess } from './service.ts';
import { markdownTable, number, withSpread } from './table.ts';
import type { BenchOptions, Workspace } from './workspace.ts';

const SECONDS = 3;
const SETTLE_MS = 15_000;
const CONNECTIONS = 64;
const MARKET = marketUrl('gold-usd');

interface ReadCase {
  readonly title: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the entity tag of the server, so that it answers 304. */
  readonly revalidates?: boolean;
}

const CASES: readonly ReadCase[] = [
  { title: 'one market', path: MARKET },
  { title: 'one market, 304', path: MARKET, revalidates: true },
  { title: 'list page, gzip', path: MARKETS_URL, headers: { 'accept-encoding': 'gzip' } },
];

interface Turn {
  readonly perCpuSecond: number;
  readonly perSecond: number;
  /** 99 of 100 answers took at most this long, in milliseconds. */
  readonly p99Ms: number;
}

export async function benchRead({ quick, rounds, workspace }: BenchOptions): Promise<string> {
  const missing = ['wrk', 'nginx'].find((program) => spawnSync(program, ['-v'], { stdio: 'ignore' }).error);
  if (missing !== undefined) return `Skipped: ${missing} is not installed: apt-get install ${missing}`;
  const service = await startServiceProcess(workspace, join(workspace.folder('read'), 'data'));
  // Background work of the first start would count as the server's work.
  await sleep(quick ? 0 : SETTLE_MS);
  const nginx = await startNginx(workspace, service.url, MARKET);
  const rows: string[][] = [];
  for (const item of CASES) {
    const turns = { service: [] as Turn[], nginx: [] as Turn[] };
    const turn = (name: keyof typeof turns, server: MeasuredServer) => async () => {
      const measured = await load(workspace, server, item, quick ? 1 : SECONDS);
      turns[name].push(measured);
      return measured.perCpuSecond;
    };
    const perCpuSecond = await interleave(rounds, { service: turn('service', service), nginx: turn('nginx', nginx) });
    const median = (own: readonly Turn[], of: keyof Turn, digits: number) =>
      number(
        quantile(
          own.map((each) => each[of]),
          0.5,
        ),
        digits,
      );
    rows.push([
      item.title,
      withSpread(ratios(perCpuSecond.service, perCpuSecond.nginx), 2),
      withSpread(perCpuSecond.service, 0),
      withSpread(perCpuSecond.nginx, 0),
      median(turns.service, 'perSecond', 0),
      median(turns.service, 'p99Ms', 2),
      median(turns.nginx, 'p99Ms', 2),
    ]);
  }
  for (const server of [service, nginx]) await server.stop();
  const header = ['', 'to nginx', 'answers/CPU s', 'of nginx', 'answers/s', 'p99, ms', 'of nginx'];
  return `The embedded server with the sample, against nginx with one worker that serves the same bytes as files, ready compressed.
The measure is the number of answers in a second of its own processor time, because the load takes its share of the machine.
Load: \`wrk\`, 1 thread, 64 connections. ${PLACEMENT}

${markdownTable(header, rows)}`;
}

/** Sends one request, which warms a cache, and then puts the server under load. Rejects if an answer has an error status. */
async function load(workspace: Workspace, server: MeasuredServer, asked: ReadCase, seconds: number): Promise<Turn> {
  const { path, headers = {}, revalidates } = asked;
  const answer = await fetch(`${server.url}${path}`, { headers });
  await answer.arrayBuffer();
  const conditional = revalidates ? { 'if-none-match': answer.headers.get('etag') ?? '' } : {};
  const fields = Object.entries({ ...headers, ...conditional }).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  // A slow server is a result, not a failure: no answer counts as timed out before the load ends.
  const general = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, `--timeout=${seconds + 5}s`, '--latency', ...fields];
  const [command, args] = placed('load', 'wrk', [...general, `${server.url}${path}`]);
  const before = cpuSeconds(server.pid);
  const output = await workspace.run(command, args, (seconds + 10) * 1000);
  const spent = cpuSeconds(server.pid) - before;
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${server.url} failed under load:\n${output}`);
  const matched = (pattern: RegExp): string => {
    const match = pattern.exec(output)?.[1];
    if (match === undefined) throw new Error(`wrk printed no ${pattern}:\n${output}`);
    return match;
  };
  return {
    perCpuSecond: Number(matched(/(\d+) requests in /)) / spent,
    perSecond: Number(matched(/Requests\/sec:\s+([\d.]+)/)),
    p99Ms: milliseconds(matched(/^\s+99%\s+(\S+)/m)),
  };
}

/** Reads wrk's spelling, e.g. `812.00us`, `1.25ms`, `1.02s`. */
function milliseconds(text: string): number {
  const value = Number.parseFloat(text);
  if (text.endsWith('us')) return value / 1000;
  return text.endsWith('ms') ? value : value * 1000;
}
