/** How long readers wait at half of the highest load, which both servers are offered at the same rate, in turns. */
import { join } from 'node:path';
import type { SteadyLoad, SteadyReport } from '../children/steady-load.ts';
import { placed } from '../processor-time.ts';
import { interleave } from '../rounds.ts';
import type { Server } from '../server-process.ts';
import { number, withSpread } from '../table.ts';
import type { Workspace } from '../workspace.ts';
import { CONNECTIONS } from '../wrk.ts';

const CHILD = join(import.meta.dirname, '../children/steady-load.ts');

export const STEADY_COLUMNS = ['', 'offered/s', 'answered/s', 'p50, ms', 'p99, ms', 'most, ms', 'p99 above nginx, ms'];

/** In milliseconds. */
export const P99_ABOVE_NGINX_MS = 1;

export interface SteadyOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly path: string;
  readonly requestsPerSecond: number;
}

/** One row for each server. */
export async function steadyRows(
  workspace: Workspace,
  { edge, nginx }: { readonly edge: Server; readonly nginx: Server },
  { rounds, ...offered }: SteadyOptions,
): Promise<string[][]> {
  const reports = { edge: [] as SteadyReport[], nginx: [] as SteadyReport[] };
  const turn = (server: Server, own: SteadyReport[]) => async () => {
    const load: SteadyLoad = { ...offered, port: server.port, headers: {}, connections: CONNECTIONS };
    const [command, args] = placed('load', process.execPath, [CHILD, JSON.stringify(load)]);
    const printed = await workspace.run(command, args, (offered.seconds + 20) * 1000);
    own.push(JSON.parse(printed) as SteadyReport);
    return 0;
  };
  await interleave(rounds, { edge: turn(edge, reports.edge), nginx: turn(nginx, reports.nginx) });
  const above = reports.edge.map(({ p99Ms }, round) => p99Ms - (reports.nginx[round]?.p99Ms ?? Number.NaN));
  return (['edge', 'nginx'] as const).map((name) => {
    const of = (key: keyof SteadyReport, digits: number) =>
      withSpread(
        reports[name].map((report) => report[key]),
        digits,
      );
    const rate = number(offered.requestsPerSecond);
    const last = name === 'edge' ? withSpread(above, 2) : '';
    return [name, rate, of('requestsPerSecond', 0), of('p50Ms', 2), of('p99Ms', 2), of('mostMs', 1), last];
  });
}
