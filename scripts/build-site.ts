/**
 * Builds the pages for people: `npm run build:site` writes site/built, which is committed, because a service is started
 * without development tools. A test builds it again and compares. The same sources give the same bytes.
 */
import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { allPages } from '../site/pages/all-pages.ts';
import { readCommandLine } from './command-line.ts';

const ROOT = join(import.meta.dirname, '..');

export const SITE_FOLDER = join(ROOT, 'site/built');

/** The scripts and stylesheets in `assets`, and where each begins. */
const ENTRY_POINTS = {
  explorer: 'site/browser/explorer/main.ts',
  market: 'site/browser/market/main.ts',
  status: 'site/browser/status/main.ts',
  site: 'site/design/site.css',
  'status-style': 'site/browser/status/status.css',
  'explorer-style': 'site/browser/explorer/explorer.css',
  'market-style': 'site/browser/market/market.css',
  'docs-style': 'site/docs/docs.css',
};

/** The text of every file of the site, by its path in {@link SITE_FOLDER}. */
export async function buildSite(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRY_POINTS,
    outdir: join(SITE_FOLDER, 'assets'),
    bundle: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    charset: 'utf8',
    // Whoever reads the source of a page reads our own words. Compression makes minified files hardly smaller.
    minify: false,
    // Paths in the output are the same where node_modules is a link.
    preserveSymlinks: true,
    legalComments: 'inline',
    write: false,
    logLevel: 'silent',
  });
  const files = new Map(allPages());
  for (const { path, text } of outputFiles)
    files.set(path.slice(SITE_FOLDER.length + 1).replace('-style.css', '.css'), text);
  const licence = await readFile(join(ROOT, 'node_modules/uplot/LICENSE'), 'utf8');
  files.set('assets/market.js', `/*! uPlot is in this file:\n\n${licence}\n*/\n${files.get('assets/market.js')}`);
  files.set('assets/icon.svg', await readFile(join(ROOT, 'site/design/icon.svg'), 'utf8'));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The paths of the files that are built now, sorted. */
export function siteFiles(): readonly string[] {
  return globSync('**/*.*', { cwd: SITE_FOLDER }).sort();
}

if (import.meta.main) {
  readCommandLine('usage: npm run build:site', {}, 'no words');
  const files = await buildSite();
  await rm(SITE_FOLDER, { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(SITE_FOLDER, path)), { recursive: true });
    await writeFile(join(SITE_FOLDER, path), text);
  }
  console.log(`site/built: ${files.size} files`);
}
