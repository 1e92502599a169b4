/** Servers under the same load in turns: what each answers in a second, and in a second of its processor time. */
import { cpuSeconds } from '../processor-time.ts';
import { interleave } from '../rounds.ts';
import type { Workspace } from '../workspace.ts';
import { type Load, load, type Target } from '../wrk.ts';

/** One turn of one server. */
export interface Turn extends Load {
  /** Per second of user and system time of the server, all its threads and workers together. */
  readonly requestsPerCpuSecond: number;
  /** The part of one processor that the server used. Below 1, it waited for the load. */
  readonly busy: number;
}

export interface Contestant {
  /** The processes whose time counts, with their children. */
  readonly pids: readonly number[];
  /** In round `round`: the same for all contestants but for their origin and entity tags. */
  target(round: number): Target;
}

/**
 * The turns of each server, in order of rounds. Before the first one, each answers for a third of a turn that does not
 * count.
 */
export async function contest<Name extends string>(
  workspace: Workspace,
  rounds: number,
  seconds: number,
  contestants: { readonly [Key in Name]: Contestant },
): Promise<{ readonly [Key in Name]: readonly Turn[] }> {
  const names = Object.keys(contestants) as Name[];
  const turns = Object.fromEntries(names.map((name) => [name, [] as Turn[]])) as Record<Name, Turn[]>;
  for (const name of names) await load(workspace, contestants[name].target(0), Math.ceil(seconds / 3));
  const runs = names.map((name) => [
    name,
    async (round: number) => {
      const { pids, target } = contestants[name];
      const spent = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      const before = spent();
      const measured = await load(workspace, target(round), seconds);
      const used = spent() - before;
      turns[name].push({ ...measured, requestsPerCpuSecond: measured.requests / used, busy: used / seconds });
      return 0;
    },
  ]);
  await interleave(rounds, Object.fromEntries(runs));
  return turns;
}
