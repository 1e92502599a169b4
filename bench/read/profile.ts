/** Where the processor time of a server in JavaScript goes: profiles by V8, summed up by function. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Section } from '../section.ts';
import { startScript } from '../server-process.ts';
import { number } from '../table.ts';
import type { Workspace } from '../workspace.ts';
import { load } from '../wrk.ts';
import { type Agreed, agree } from './agreement.ts';
import type { ReadCase } from './cases.ts';
import { pathsOf } from './measure.ts';
import type { ReadSite } from './site.ts';

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

const FUNCTIONS_SHOWN = 15;

/** One case, on an edge of its own without peers: where the time of its main thread goes. */
export async function tellProfile(
  section: Section,
  workspace: Workspace,
  site: ReadSite,
  item: ReadCase,
  quick: boolean,
): Promise<void> {
  const profile = join(workspace.folder('profile'), 'edge.cpuprofile');
  const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [site.folder, '', profile]);
  const { path, file } = pathsOf(site, item, quick);
  const { headers } = (await agree([edge], item, path)).get('edge') as Agreed;
  const paths = file === null ? { path } : { file, seed: 0 };
  await load(workspace, { origin: `http://127.0.0.1:${edge.port}`, headers, paths }, quick ? 1 : item.seconds);
  await edge.stop();
  section.say(
    `Where the time of the edge goes with ${item.title}: the main thread by a profile, each function without what it has called.`,
    '`writeLatin1String` and `writeBuffer` hand the answer to the kernel, which sends it; `(program)` is what V8 cannot name.',
  );
  section.table([`${item.title}: function`, 'own time'], topFunctions(profile, FUNCTIONS_SHOWN));
}

/**
 * The functions in which the process spent most time, without what they called: the part of the time in which it was not
 * idle, the name, the place.
 */
function topFunctions(path: string, count: number): readonly (readonly string[])[] {
  const spent = new Map<string, number>();
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, 'utf8')) as CpuProfile;
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    if (name !== '(idle)') spent.set(name, (spent.get(name) ?? 0) + Math.max(0, timeDeltas[index] ?? 0));
  }
  const total = [...spent.values()].reduce((sum, each) => sum + each, 0);
  const sorted = [...spent].sort(([, left], [, right]) => right - left).slice(0, count);
  return sorted.map(([name, time]) => [name, `${number((time / total) * 100, 1)} %`]);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName.replaceAll('|', '/');
  if (url === '') return name;
  const place = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url;
  return `${name}  ${place}:${lineNumber + 1}`;
}
