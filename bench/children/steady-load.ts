/**
 * Offers requests at a fixed rate, whether or not earlier ones are answered: so a server that stalls does not get less to
 * do. Each answer's time counts from the moment at which its request was due. Prints a report as JSON.
 */

import { RawConnection, rawRequest } from '../raw-client.ts';
import { quantile } from '../rounds.ts';

export interface SteadyLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly requestsPerSecond: number;
  /** After a second that does not count. */
  readonly seconds: number;
}

export interface SteadyReport {
  /** Answered in time: as many as were offered, unless the server or the load could not follow. */
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

const [input] = process.argv.slice(2);
if (input === undefined) throw new RangeError('give the load as JSON');
const { port, path, headers, connections, requestsPerSecond, seconds } = JSON.parse(input) as SteadyLoad;
const fail = (error: Error) => {
  console.error(error);
  process.exit(1);
};
const request = rawRequest(port, path, headers);
// Taken from the front and put back at the end, so that all of them are used alike.
const idle = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(port, fail)));
const total = Math.round(requestsPerSecond * (1 + seconds));
const uncounted = Math.round(requestsPerSecond);
const times: number[] = [];
let sent = 0;
let answered = 0;
const beganAtMs = performance.now();
const dueAtMs = (index: number) => beganAtMs + (index * 1000) / requestsPerSecond;
const endsAtMs = dueAtMs(total) + 2_000;

/** No timer is fine enough, so this turns without a pause: the load has a processor of its own. */
function step(): void {
  const now = performance.now();
  while (sent < total && dueAtMs(sent) <= now) {
    const connection = idle.shift();
    if (connection === undefined) break;
    const index = sent++;
    connection.send(request, () => {
      idle.push(connection);
      answered++;
      if (index >= uncounted) times.push(performance.now() - dueAtMs(index));
    });
  }
  if (answered < total && now < endsAtMs) setImmediate(step);
  else report();
}

function report(): void {
  const lastedS = Math.max(seconds, (performance.now() - dueAtMs(uncounted)) / 1000);
  const result: SteadyReport = {
    requestsPerSecond: times.length / lastedS,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    mostMs: quantile(times, 1),
  };
  console.log(JSON.stringify(result));
  process.exit(0);
}

step();
