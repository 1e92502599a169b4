/**
 * Builds the npm package of the MCP server: `npm run build:mcp` writes clients/mcp/dist, which `npm pack` packs. One file
 * contains all code, so that `npx` installs nothing else, and another the licences of that code.
 */
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { readCommandLine } from '../run/command-line.ts';

const ROOT = join(import.meta.dirname, '../..');

/** CommonJS packages call `require`, which does not exist in modules. */
const BANNER = `#!/usr/bin/env node
import { createRequire as bundledRequire } from 'node:module';
const require = bundledRequire(import.meta.url);`;

/** @param folder the folder of the package, which is created again */
export function buildMcp(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: ['clients/mcp/main.ts'],
    outfile: join(folder, 'tidemark-mcp.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    charset: 'utf8',
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: BANNER },
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(join(folder, 'tidemark-mcp.mjs'), 0o755);
  const paths = Object.keys(metafile.inputs).flatMap(
    (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
  );
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licences([...new Set(paths)].sort()));
  for (const file of ['package.json', 'README.md']) copyFileSync(join(ROOT, 'clients/mcp', file), join(folder, file));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

/** The licence texts that these packages require. @throws Error for a package without a licence text */
function licences(paths: readonly string[]): string {
  const sections = paths.map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'));
    const [file] = globSync('{LICENSE,LICENCE,license,licence}*', { cwd: join(ROOT, path) });
    if (file === undefined) throw new Error(`${path} has no licence file: it cannot be bundled`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(ROOT, path, file), 'utf8').trim()}\n`;
  });
  return `tidemark-mcp.mjs contains these packages.\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

if (import.meta.main) {
  readCommandLine('usage: npm run build:mcp', {}, 'no words');
  buildMcp(join(ROOT, 'clients/mcp/dist'));
  console.log('clients/mcp/dist');
}
