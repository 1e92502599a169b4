/** How long readers wait at half of the highest load, which both servers are offered at the same rate, in turns. */
import { join } from 'node:path';
import type { SteadyLoad, SteadyReport } from '../children/steady-load.ts';
import { placed } from '../processor-time.ts';
import { interleave, median } from '../rounds.ts';
import type { Section } from '../section.ts';
import type { Server } from '../server-process.ts';
import { number, withSpread } from '../table.ts';
import type { Workspace } from '../workspace.ts';
import { CONNECTIONS } from '../wrk.ts';

const CHILD = join(import.meta.dirname, '../children/steady-load.ts');

/** In milliseconds. */
const P99_ABOVE_NGINX = 1;

export interface SteadyOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly path: string;
  readonly requestsPerSecond: number;
}

/** The times of each server, in a row each, and whether the target is reached. */
export async function tellSteady(
  section: Section,
  workspace: Workspace,
  { edge, nginx }: { readonly edge: Server; readonly nginx: Server },
  { rounds, ...offered }: SteadyOptions,
): Promise<void> {
  const reports = { edge: [] as SteadyReport[], nginx: [] as SteadyReport[] };
  const turn = (server: Server, own: SteadyReport[]) => async () => {
    const load: SteadyLoad = { ...offered, port: server.port, headers: {}, connections: CONNECTIONS };
    const [command, args] = placed('load', process.execPath, [CHILD, JSON.stringify(load)]);
    const printed = await workspace.run(command, args, (offered.seconds + 20) * 1000);
    own.push(JSON.parse(printed) as SteadyReport);
    return 0;
  };
  await interleave(rounds, { edge: turn(edge, reports.edge), nginx: turn(nginx, reports.nginx) });
  const rows = (['edge', 'nginx'] as const).map((name) => {
    const of = (key: keyof SteadyReport, digits: number) =>
      withSpread(
        reports[name].map((report) => report[key]),
        digits,
      );
    return [name, of('requestsPerSecond', 0), of('p50Ms', 2), of('p99Ms', 2), of('mostMs', 1)];
  });
  const above = reports.edge.map(({ p99Ms }, round) => p99Ms - (reports.nginx[round]?.p99Ms ?? Number.NaN));
  const isReached = median(above) <= P99_ABOVE_NGINX;
  section.say(
    `One market at half of the highest load of the slower server: ${number(offered.requestsPerSecond)} requests a second, due at equal distances`,
    'whether or not earlier ones are answered. Each time counts from the moment at which its request was due.',
    `Target: p99 is at most ${P99_ABOVE_NGINX} ms above that of nginx. It is ${withSpread(above, 2)} ms above: ${isReached ? 'reached' : 'missed'}.`,
  );
  section.table(['half load', 'answered/s', 'p50, ms', 'p99, ms', 'most, ms'], rows);
}
