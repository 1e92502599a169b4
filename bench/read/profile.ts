/** Where the processor time of a server in JavaScript goes: profiles by V8, summed up by function. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { number } from '../table.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The parts of a profile that are read here, as in the DevTools protocol, Profiler.Profile. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  /** The node that ran at each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

/** The options with which node writes a profile into this folder when it ends by itself. */
export function profiledInto(folder: string): readonly string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

/**
 * The functions in which the process spent most time, without what they called: the part of the time in which it was not
 * idle, the name, the place. `(program)` is node and the kernel outside of JavaScript.
 */
export function topFunctions(folder: string, count: number): readonly (readonly string[])[] {
  const spent = new Map<string, number>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
    const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    for (const [index, id] of samples.entries()) {
      const name = names.get(id) ?? '';
      if (name !== '(idle)') spent.set(name, (spent.get(name) ?? 0) + Math.max(0, timeDeltas[index] ?? 0));
    }
  }
  const total = [...spent.values()].reduce((sum, each) => sum + each, 0);
  const sorted = [...spent].sort(([, left], [, right]) => right - left).slice(0, count);
  return sorted.map(([name, time]) => [name, `${number((time / total) * 100, 1)} %`]);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const place = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url;
  return `${name}  ${place}:${lineNumber + 1}`;
}
