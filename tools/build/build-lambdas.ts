/**
 * Builds the Lambda functions: `npm run build:lambdas` writes infra/build/lambdas/<name>/index.mjs, with chunks beside it
 * that only some invocations load, and prints their sizes. The publisher's asset also gets the pages for people. `npx cdk`
 * first runs it with `--quiet`, which prints no sizes.
 *
 * Each function has its own bundle. So tree shaking keeps only the code that this function uses, and a change in one
 * function leaves the assets of the others unchanged. The same sources give the same bytes. Source maps (for reading stack
 * traces) and the contents of each bundle are written outside the assets.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { ALL_FUNCTION_NAMES, type FunctionName } from '../../infra/deployment/permissions.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { SITE_ASSET } from '../../storage/aws/names.ts';
import { readCommandLine } from '../run/command-line.ts';
import ensureSite from './ensure-site.ts';

const ROOT = join(import.meta.dirname, '../..');

const BUILD_FOLDER = join(ROOT, 'infra/build');

const ENTRY_POINTS: { readonly [Name in FunctionName]: string } = {
  'write-api': 'lambdas/entry/write-api.ts',
  worker: 'lambdas/entry/worker.ts',
  'upload-arrived': 'lambdas/entry/upload-arrived.ts',
  'first-key': 'lambdas/entry/first-key.ts',
  sources: 'lambdas/sources/entry/sources.ts',
  publish: 'publisher/entry/publish.ts',
  verify: 'publisher/entry/verify.ts',
  'collect-garbage': 'publisher/entry/collect-garbage.ts',
  export: 'publisher/entry/export.ts',
  repair: 'publisher/entry/repair.ts',
  copy: 'publisher/entry/copy.ts',
};

/** Functions that make the OpenAPI document and publish the pages for people. */
const DOCUMENTING: readonly FunctionName[] = ['publish'];

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // The SDK's default would be its CommonJS, which loads twice as slowly and cannot be tree-shaken.
  format: 'esm',
  mainFields: ['module', 'main'],
  // Dynamic imports become files that are loaded on demand.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  minify: true,
  legalComments: 'none',
  sourcemap: 'external',
  metafile: true,
  write: false,
  alias: { '@aws-sdk/credential-provider-node': join(ROOT, 'storage/aws/environment-credentials.ts') },
  plugins: [shortManifests(), withoutBrowsers()],
  logLevel: 'silent',
} satisfies BuildOptions;

/** The result of one function. Sizes are in bytes, without source maps. */
export interface Bundle {
  readonly name: FunctionName;
  /** The size of the code that is loaded when the function starts. */
  readonly startBytes: number;
  /** The size of the whole asset. */
  readonly bytes: number;
  /** Every file with code in the bundle, relative to the root. */
  readonly inputs: readonly string[];
}

/** Builds into `folder`/lambdas, /maps and /metafiles, and replaces their contents. Rejects if any build fails. */
export async function buildLambdas(
  folder: string = BUILD_FOLDER,
  names: readonly FunctionName[] = ALL_FUNCTION_NAMES,
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
    plugins: [...OPTIONS.plugins, ...(DOCUMENTING.includes(name) ? [] : [withoutJsonSchema()])],
    entryPoints: [{ in: ENTRY_POINTS[name], out: 'index' }],
    // It is part of the chunks' names, through the source maps, so it must not depend on the folder.
    outdir: join('infra/build/lambdas', name),
  });
  for (const { path, contents } of outputFiles) {
    await writeFile(join(path.endsWith('.map') ? maps : asset, basename(path)), contents);
  }
  if (DOCUMENTING.includes(name)) await addSite(asset);
  await writeFile(join(metafiles, `${name}.json`), JSON.stringify(metafile));
  return measure(name, metafile);
}

/** The files lie beside the code, so they do not slow down a start: the publisher reads them only when they have changed. */
async function addSite(asset: string): Promise<void> {
  await ensureSite();
  const { read, ...listed } = await readSite();
  await writeFile(join(asset, SITE_ASSET.manifest), JSON.stringify(listed));
  for (const file of Object.keys(listed.files)) {
    const place = join(asset, SITE_ASSET.folder, file);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, await read(file));
  }
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

/** Shortens a manifest: the SDK's clients import their whole package.json for its version. */
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

/** Removes the SDK's detection of browsers, which only browsers need. */
function withoutBrowsers(): Plugin {
  return {
    name: 'without-browsers',
    setup(onBuild) {
      onBuild.onLoad({ filter: /[\\/]node_modules[\\/]bowser[\\/]/ }, () => ({ contents: 'export {};' }));
    },
  };
}

/** Removes 18 KB: every schema of zod can describe itself in JSON Schema, so tree shaking cannot remove this code. */
function withoutJsonSchema(): Plugin {
  const contents = `const absent = () => { throw new Error('JSON Schema is not part of this bundle'); };
    module.exports = { createToJSONSchemaMethod: () => absent, createStandardJSONSchemaMethod: () => absent };`;
  return {
    name: 'without-json-schema',
    setup(onBuild) {
      const filter = /[\\/]zod[\\/]v4[\\/]core[\\/](json-schema-processors|to-json-schema)\.js$/;
      onBuild.onLoad({ filter }, () => ({ contents }));
    },
  };
}

if (import.meta.main) {
  const { values } = readCommandLine(
    'usage: npm run build:lambdas [-- --quiet]',
    { quiet: { type: 'boolean', default: false } },
    'no words',
  );
  const bundles = await buildLambdas();
  for (const { name, startBytes, bytes } of values.quiet ? [] : bundles) {
    const kilobytes = (count: number) => `${Math.ceil(count / 1024)} KB`.padStart(7);
    console.log(`${name.padEnd(18)}${kilobytes(startBytes)} at start,${kilobytes(bytes)} in all`);
  }
}
