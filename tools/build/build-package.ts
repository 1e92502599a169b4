/**
 * `npm pack` and `npm start` run it first: builds the command line and the entry of the edge's thread into dist/, as
 * JavaScript: types cannot be stripped under node_modules, and the program that strips them takes 20 MB of memory a thread. The
 * dependencies of the package stay outside. The pages are built, too.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ensureSite from './ensure-site.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');

await ensureSite();
// A server that runs from here may still load a file of the build before. The package has only files of this one.
if (process.argv.includes('--clean')) await rm(DIST, { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  // server/edge-host/edge-thread.ts finds the other by its name.
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

/** Code looks for files beside itself. Here it is all in dist/, so the original place is passed in. */
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
