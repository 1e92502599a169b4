/** Load from `wrk`: one thread, 64 connections, as fast as they will go. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { placed } from './processor-time.ts';
import type { Workspace } from './workspace.ts';

const CONNECTIONS = 64;

const SPREAD = join(import.meta.dirname, 'spread.lua');

/** What is asked for. */
export interface Target {
  /** The paths are added to it. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One path; or a file of paths, one a line, each of which is asked for with the same probability. */
  readonly paths: { readonly path: string } | { readonly file: string; readonly seed: number };
}

export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** 99 in 100 answers took at most this long, in milliseconds. */
  readonly p99Ms: number;
}

/** Why a program cannot be run here, or null. */
export function missing(program: string): string | null {
  const { error } = spawnSync(program, ['-v'], { stdio: 'ignore' });
  return error === undefined ? null : `${program} is not installed: apt-get install ${program}`;
}

/** Puts a server under load. Rejects when an answer has an error status or a connection fails. */
export async function load(workspace: Workspace, target: Target, seconds: number): Promise<Load> {
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
