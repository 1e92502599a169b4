/**
 * Builds the pages for people into clients/web/built: `npm run build:site`. tools/build/ensure-site.ts runs it when it is
 * needed. The same sources give the same bytes.
 */
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { searchIndex } from '../../clients/web/docs/search-index.ts';
import { allPages } from '../../clients/web/pages/all-pages.ts';
import { siteEncoding } from '../../publisher/site.ts';
import { readCommandLine } from '../run/command-line.ts';

const ROOT = join(import.meta.dirname, '../..');

export const SITE_FOLDER = join(ROOT, 'clients/web/built');

/** The scripts and stylesheets in `assets`, with their entry points. */
const ENTRY_POINTS = {
  explorer: 'clients/web/browser/explorer/main.ts',
  check: 'clients/web/browser/explorer/price-check.ts',
  market: 'clients/web/browser/market/main.ts',
  'chart-tools': 'clients/web/browser/chart/tools/chart-tools.ts',
  docs: 'clients/web/browser/docs/main.ts',
  status: 'clients/web/browser/status/main.ts',
  site: 'clients/web/design/site.css',
  'status-style': 'clients/web/browser/status/status.css',
  'explorer-style': 'clients/web/browser/explorer/explorer.css',
  'market-style': 'clients/web/browser/market/market.css',
  'docs-style': 'clients/web/docs/docs.css',
};

/** The text of every file of the site, by its path in {@link SITE_FOLDER}; a picture is in base64. */
export async function buildSite(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRY_POINTS,
    outdir: join(SITE_FOLDER, 'assets'),
    bundle: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    charset: 'utf8',
    // Half as many bytes for a phone to read and parse. The readable source is in the repository.
    minify: true,
    // Keeps the paths in the output the same if node_modules is a link.
    preserveSymlinks: true,
    legalComments: 'inline',
    write: false,
    logLevel: 'silent',
  });
  const files = new Map(allPages());
  for (const { path, text } of outputFiles)
    files.set(path.slice(SITE_FOLDER.length + 1).replace('-style.css', '.css'), text);
  files.set('assets/docs-index.js', searchIndex());
  const licence = await readFile(join(ROOT, 'node_modules/uplot/LICENSE'), 'utf8');
  files.set('assets/market.js', `/*! uPlot is in this file:\n\n${licence}\n*/\n${files.get('assets/market.js')}`);
  files.set('assets/card.png', await readFile(join(ROOT, 'clients/web/design/card.png'), 'base64'));
  files.set('assets/icon.svg', await readFile(join(ROOT, 'clients/web/design/icon.svg'), 'utf8'));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The paths of the files that are currently built, sorted. */
export function siteFiles(): readonly string[] {
  return globSync('**/*.*', { cwd: SITE_FOLDER }).sort();
}

/**
 * Replaces the built files. Each file is replaced in one step, so other processes may read them, or build the same,
 * meanwhile. index.html comes last, with the moment at which the build began: files that change later are newer.
 */
export async function writeSite(): Promise<void> {
  const beganAt = new Date();
  const files = await buildSite();
  const paths = [...files.keys()].filter((path) => path !== 'index.html');
  const folder = await mkdtemp(`${SITE_FOLDER}-`);
  try {
    for (const path of [...paths, 'index.html']) {
      const file = join(folder, 'file');
      await writeFile(file, files.get(path) as string, siteEncoding(path));
      await utimes(file, beganAt, beganAt);
      await mkdir(dirname(join(SITE_FOLDER, path)), { recursive: true });
      await rename(file, join(SITE_FOLDER, path));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  for (const path of siteFiles()) if (!files.has(path)) await rm(join(SITE_FOLDER, path), { force: true });
}

if (import.meta.main) {
  readCommandLine('usage: npm run build:site', {}, 'no words');
  await writeSite();
  console.log(`clients/web/built: ${siteFiles().length} files`);
}
