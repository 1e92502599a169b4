/** `tidemark run` in a folder of its own: a file of records, a source, a key, and a web server that knows only files. */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { tidemarkHere } from '../cli/in-process.ts';
import { finished, type Run, type RunOptions, spawnTidemark, tidemark } from '../cli/tidemark.ts';
import { listeningForTest } from '../listening.ts';
import { recipeWith } from '../sources/example-recipe.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';

export interface RunWorld {
  readonly folder: string;
  readonly data: string;
  readonly target: string;
  readonly key: string;
  /** The options of a run are `--data` and these. */
  run(words?: readonly string[], environment?: Readonly<Record<string, string>>): Promise<RunResult>;
  /** Kills the run in the place of its n-th rename: each file gets its name by one. */
  dieAt(rename: number, words: readonly string[]): Promise<Run>;
  /** A run that waits for its standard input, and has the data folder. */
  blocked(words?: readonly string[]): Promise<{ readonly end: (input?: Uint8Array) => Promise<Run> }>;
  /** Writes a file of records: one market a slug, with its prices. */
  records(name: string, prices: Readonly<Record<string, readonly number[]>>): Promise<string>;
}

export interface RunResult extends Run {
  readonly report: { readonly [field: string]: unknown };
}

const DIE_AT_RENAME = join(import.meta.dirname, '../server/die-at-rename.ts');

export const ORIGIN = 'run.test.example/prices';

export const codeOf = (exit: keyof typeof EXIT_CODES) => EXIT_CODES[exit].code;

/**
 * @param settings of every run
 * @param folder default: one that goes when the test ends
 */
export async function openRunWorld(
  settings: Readonly<Record<string, string>> = {},
  folder?: string,
): Promise<RunWorld> {
  folder ??= await temporaryFolder();
  const [data, target] = [join(folder, 'data'), join(folder, 'site')];
  const key = (await tidemarkHere(['log', 'keys', 'new', '--origin', ORIGIN])).output.trim();
  const optionsOf = (environment: RunOptions['environment'] = {}): RunOptions => {
    const own = { TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: 'log,latest', ...settings };
    return { cwd: folder, environment: { ...own, ...environment } };
  };
  const wordsOf = (words: readonly string[]) => ['run', '--data', data, '--json', ...words];
  return {
    ...{ folder, data, target, key },
    async run(words = [], environment) {
      const run = await tidemarkHere(wordsOf(words), optionsOf(environment));
      return { ...run, report: run.output === '' ? {} : JSON.parse(run.output) };
    },
    dieAt: (rename, words) => {
      const hook = { NODE_OPTIONS: `--import ${DIE_AT_RENAME}`, DIE_AT_RENAME: String(rename) };
      return tidemark(wordsOf(words), optionsOf(hook));
    },
    async blocked(words = []) {
      const child = spawnTidemark(wordsOf(['-', ...words]), optionsOf());
      const ended = finished(child, null);
      const owner = async () => Number(await readFile(join(data, 'process-id'), 'utf8').catch(() => ''));
      while ((await owner()) !== child.pid) await setTimeout(10);
      return {
        end: (input) => {
          child.stdin?.end(input);
          return ended;
        },
      };
    },
    async records(name, prices) {
      const path = join(folder, name);
      const records = Object.entries(prices).flatMap(([slug, amounts]) => [
        market(slug),
        ...amounts.map((minor, day) => price(slug, day, minor)),
      ]);
      await writeFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      return path;
    },
  };
}

/** A world whose first run is made once in a file. Each test has its folder as that run has left it. */
export function begunWorld<World extends RunWorld>(begin: (folder: string) => Promise<World>): () => Promise<World> {
  const temporary = folderForAll();
  let begun: World | undefined;
  return async () => {
    const [folder, kept] = [join(temporary.folder, 'world'), join(temporary.folder, 'kept')];
    const copy = (from: string, to: string) => cp(from, to, { recursive: true, preserveTimestamps: true });
    if (begun === undefined) {
      await mkdir(folder, { recursive: true });
      begun = await begin(folder);
      await copy(folder, kept);
    } else {
      await rm(folder, { recursive: true });
      await copy(kept, folder);
    }
    return begun;
  };
}

const market = (slug: string) => ({
  ...{ type: 'market', slug, name: slug, kind: 'metal', nativeCurrency: 'USD' },
  unit: { quantity: 1, of: 'kilogram' },
});
const price = (market: string, day: number, amountMinor: number) => ({
  ...{ type: 'observation', market, metric: 'price', amountMinor, currency: 'USD' },
  ...{ sourceLabel: 'A source', sourceUrl: `https://source.example/${day}`, confidence: 'high', status: 'final' },
  observedAt: new Date(Date.UTC(2025, 0, 1 + day)).toISOString().replace('.000Z', 'Z'),
});

/** Each file below, with the digest of its bytes and the time of its last change. */
export async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const states = files.sort().map(async (path) => {
    const digest = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    return [relative(folder, path), `${digest} ${(await stat(path)).mtimeMs}`] as const;
  });
  return new Map(await Promise.all(states));
}

/** Serves the files as they are, as a static host does. The base URL. */
export async function serveFiles(folder: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const body = await readFile(path).catch(() => null);
    response.writeHead(body === null ? 404 : 200).end(body ?? 'no such file');
  });
  return await listeningForTest(server);
}

/** A source whose answer the test sets; null: it fails. And its recipe, in a file. */
export async function startSource(
  folder: string,
): Promise<{ answer: Uint8Array | null; recipe: string; origin: string }> {
  const server = createServer((_, response) => {
    response.writeHead(source.answer === null ? 503 : 200).end(source.answer ?? '');
  });
  const origin = await listeningForTest(server, 'localhost');
  const source = { answer: null as Uint8Array | null, recipe: join(folder, 'metals.json'), origin };
  await writeFile(source.recipe, JSON.stringify(recipeWith({ url: `${origin}/daily.csv`, hosts: [origin] })));
  return source;
}

/** The folder behind a host that knows only files, judged by `verify`, with its log. */
export async function verify(folder: string): Promise<Run> {
  return await verifyAt(['--static', await serveFiles(folder)]);
}

/** Knows no log from before. */
export async function verifyAt(words: readonly string[]): Promise<Run> {
  const environment = { TIDEMARK_CONFIG: join(await temporaryFolder(), 'config.json') };
  return await tidemarkHere(['verify', ...words, '--log'], { environment });
}
