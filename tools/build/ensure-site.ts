/**
 * Builds the pages for people if they are missing or older than their sources; otherwise it ends silently, after some
 * milliseconds. It runs before `npm start`, before tests, and before everything that ships the pages. esbuild is loaded
 * only if a build is needed.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** The file that a build puts last. */
const NEWEST = 'clients/web/built/index.html';
const FOLDERS = ['clients/web', 'clients/typescript', 'contract'];
const FILES = ['tools/build/build-site.ts', 'package-lock.json'];

/** Also used as vitest's `globalSetup`. */
export default async function ensureSite(): Promise<void> {
  const builtAtMs = statSync(join(ROOT, NEWEST), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if ([...FILES, ...FOLDERS.flatMap(within)].every((path) => statSync(join(ROOT, path)).mtimeMs <= builtAtMs)) return;
  console.error('Building the pages …');
  const { writeSite } = await import('./build-site.ts');
  await writeSite();
}

/** All files, with their folders, because a removed file changes only its folder. */
function within(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => !/^clients.web.built/.test(path));
}

if (import.meta.main) await ensureSite();
