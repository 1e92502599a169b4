/** One case against all servers, under load in turns. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from '../peers/replay.ts';
import { ask, type Server, startScript } from '../server-process.ts';
import type { Workspace } from '../workspace.ts';
import { type Agreed, agree } from './agreement.ts';
import type { ReadCase } from './cases.ts';
import { type Contestant, contest, type Turn } from './contest.ts';
import type { ReadSite } from './site.ts';

/** How many markets a quick run asks for, instead of very many. */
export const QUICK_MARKETS = 100;

export interface ReadSetting {
  readonly workspace: Workspace;
  readonly site: ReadSite;
  readonly edge: Server;
  readonly nginx: Server;
  /** It has the sample alone. */
  readonly fastify: Server | null;
  readonly rounds: number;
  readonly quick: boolean;
}

export interface ReadResult {
  readonly item: ReadCase;
  readonly agreed: ReadonlyMap<string, Agreed>;
  /** By the name of the server: `edge`, `nginx`, and `node:http` and `Fastify` where they take part. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
}

export async function measureCase(setting: ReadSetting, item: ReadCase): Promise<ReadResult> {
  const { workspace, site, edge, nginx, fastify, rounds, quick } = setting;
  const { path, file } = pathsOf(site, item, quick);
  const peers = [edge, nginx, ...(fastify !== null && file === null ? [fastify] : [])];
  const agreed = await agree(peers, item, path);
  const replay = file === null ? await startReplay(workspace, edge, agreed, path) : null;
  const contestants = [...peers, ...(replay === null ? [] : [replay])].map((server): [string, Contestant] => [
    server.name,
    {
      pids: [server.pid],
      target: (round) => ({
        origin: `http://127.0.0.1:${server.port}`,
        headers: (agreed.get(server.name) ?? agreed.get('edge'))?.headers ?? {},
        paths: file === null ? { path } : { file, seed: round },
      }),
    },
  ]);
  const turns = await contest(workspace, rounds, quick ? 1 : item.seconds, Object.fromEntries(contestants));
  await replay?.stop();
  return { item, agreed, turns };
}

/** Where many paths are asked for: the file that has them, and the first of them. */
export function pathsOf(
  site: ReadSite,
  { asked }: ReadCase,
  quick: boolean,
): { readonly path: string; readonly file: string | null } {
  if ('path' in asked) return { path: asked.path, file: null };
  const file = site.addMarkets(quick ? QUICK_MARKETS : asked.markets);
  return { path: readFileSync(file, 'utf8').split('\n')[0] as string, file };
}

/** Records what the edge answers when its object is fresh in memory, and starts a server that repeats it. */
async function startReplay(
  workspace: Workspace,
  edge: Server,
  agreed: ReadonlyMap<string, Agreed>,
  path: string,
): Promise<Server> {
  const { status, rawFields, body } = await ask(edge, path, agreed.get('edge')?.headers ?? {});
  const own = ['date', 'connection', 'keep-alive'];
  const fields = rawFields.filter((_, index) => !own.includes((rawFields[index - (index % 2)] ?? '').toLowerCase()));
  const recording: Recording = { status, fields, bodyBase64: body.toString('base64') };
  const file = join(workspace.folder('replay'), 'recording.json');
  writeFileSync(file, JSON.stringify(recording));
  return startScript(workspace, 'node:http', 'peers/replay.ts', [file]);
}
