/**
 * Builds the command line and the entry of the edge's thread into dist/, as JavaScript; `npm pack` and `npm start` run it
 * first. Node cannot strip types under node_modules, and stripping takes 20 MB of memory a thread. The package's
 * dependencies are not bundled. The pages are built, too.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ensureSite from './ensure-site.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');

await ensureSite();
// A server that runs from here may still load a file of the previous build. A package must contain only files of this
// build.
if (process.argv.includes('--clean')) await rm(DIST, { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  // server/edge-host/edge-thread.ts finds the second one by its name.
  entryPoints: {
    main: 'cli/main.ts',
    'edge-host': 'server/edge-host/main.ts',
  },
  outdir: DIST,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Each command loads its own code.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  plugins: [places()],
  logLevel: 'warning',
});

/** Code expects files beside itself. All code is in dist/ here, so its original place is passed in. */
function places(): Plugin {
  return {
    name: 'places',
    setup(onBuild) {
      onBuild.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        const from = `new URL(${JSON.stringify(`../${relative(ROOT, path)}`)}, import.meta.url)`;
        const contents = source
          .replaceAll('import.meta.url', `${from}.href`)
          .replaceAll('import.meta.dirname', `decodeURIComponent(new URL('.', ${from}).pathname)`);
        return { contents, loader: 'ts' };
      });
    },
  };
}
