/**
 * Builds the Lambda functions: `npm run build:lambdas` writes infra/build/lambdas/<name>/index.mjs, with what only some
 * invocations load in chunks beside it, and prints their sizes. `npx cdk` runs it first, with `--quiet`: without them.
 *
 * One bundle for each function, none shared: tree shaking then keeps what that function uses, and not what any does; and
 * a change in one leaves the others' assets, and so the functions themselves, as they are. The same sources give the same
 * bytes. Source maps, for reading stack traces with, and what went into each bundle stay outside the assets.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { FUNCTION_NAMES, type FunctionName } from '../infra/permissions.ts';

const ROOT = join(import.meta.dirname, '..');

export const BUILD_FOLDER = join(ROOT, 'infra/build');

const ENTRY_POINTS: { readonly [Name in FunctionName]: string } = {
  'write-api': 'lambdas/entry/write-api.ts',
  worker: 'lambdas/entry/worker.ts',
  'upload-arrived': 'lambdas/entry/upload-arrived.ts',
  'first-key': 'lambdas/entry/first-key.ts',
  publish: 'publisher/entry/publish.ts',
  verify: 'publisher/entry/verify.ts',
  'collect-garbage': 'publisher/entry/collect-garbage.ts',
  repair: 'publisher/entry/repair.ts',
};

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // The SDK's own default would be its CommonJS, which loads twice as slowly and cannot be shaken.
  format: 'esm',
  mainFields: ['module', 'main'],
  // What the code imports when it needs it becomes a file that is loaded when it is needed.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  minify: true,
  legalComments: 'none',
  sourcemap: 'external',
  metafile: true,
  write: false,
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'storage/environment-credentials.ts') },
  plugins: [shortManifests(), withoutBrowsers()],
  logLevel: 'silent',
} satisfies BuildOptions;

/** What one function came to. Sizes are in bytes, without source maps. */
export interface Bundle {
  readonly name: FunctionName;
  /** Of what is loaded when the function starts. */
  readonly startBytes: number;
  /** Of the whole asset. */
  readonly bytes: number;
  /** Every file of which something is in it, relative to the root. */
  readonly inputs: readonly string[];
}

/** Builds into `folder`/lambdas, /maps and /metafiles, in place of what is there. Rejects for whatever does not build. */
export async function buildLambdas(
  folder: string = BUILD_FOLDER,
  names: readonly FunctionName[] = FUNCTION_NAMES,
): Promise<readonly Bundle[]> {
  return await Promise.all(names.map((name) => buildLambda(folder, name)));
}

async function buildLambda(folder: string, name: FunctionName): Promise<Bundle> {
  const asset = join(folder, 'lambdas', name);
  const maps = join(folder, 'maps', name);
  const metafiles = join(folder, 'metafiles');
  for (const each of [asset, maps]) await rm(each, { recursive: true, force: true });
  for (const each of [asset, maps, metafiles]) await mkdir(each, { recursive: true });
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: [{ in: ENTRY_POINTS[name], out: 'index' }],
    // Goes into the chunks' names, by way of the source maps: the same wherever they are written.
    outdir: join('infra/build/lambdas', name),
  });
  for (const { path, contents } of outputFiles) {
    await writeFile(join(path.endsWith('.map') ? maps : asset, basename(path)), contents);
  }
  await writeFile(join(metafiles, `${name}.json`), JSON.stringify(metafile));
  return measure(name, metafile);
}

function measure(name: FunctionName, { outputs }: Metafile): Bundle {
  const modules = Object.keys(outputs).filter((path) => path.endsWith('.mjs'));
  const atStart = new Set<string>();
  const load = (path: string): void => {
    if (atStart.has(path)) return;
    atStart.add(path);
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) load(imported);
    }
  };
  load(modules.find((path) => basename(path) === 'index.mjs') as string);
  const bytesOf = (paths: Iterable<string>): number =>
    [...paths].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
  const inputs = modules.flatMap((path) =>
    Object.entries(outputs[path]?.inputs ?? {}).flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? input : [],
    ),
  );
  return { name, startBytes: bytesOf(atStart), bytes: bytesOf(modules), inputs: [...new Set(inputs)].sort() };
}

/** The SDK's clients import their package.json whole, for its version. */
function shortManifests(): Plugin {
  return {
    name: 'short-manifests',
    setup(onBuild) {
      onBuild.onLoad({ filter: /[\\/]@aws-sdk[\\/][^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
        const { name, version } = JSON.parse(await readFile(path, 'utf8')) as { name: string; version: string };
        return { contents: JSON.stringify({ name, version }), loader: 'json' };
      });
    },
  };
}

/** What the SDK would tell browsers apart with. It asks for it in browsers only. */
function withoutBrowsers(): Plugin {
  return {
    name: 'without-browsers',
    setup(onBuild) {
      onBuild.onLoad({ filter: /[\\/]node_modules[\\/]bowser[\\/]/ }, () => ({ contents: 'export {};' }));
    },
  };
}

if (import.meta.main) {
  const bundles = await buildLambdas();
  const isQuiet = process.argv.includes('--quiet');
  for (const { name, startBytes, bytes } of isQuiet ? [] : bundles) {
    const kilobytes = (count: number) => `${Math.ceil(count / 1024)} KB`.padStart(7);
    console.log(`${name.padEnd(18)}${kilobytes(startBytes)} at start,${kilobytes(bytes)} in all`);
  }
}
