/**
 * `npm run lines`: prints the size of the repository. It counts the files that git has or would add. *Source* are
 * hand-written files of code, without tests, built files and generated ones; lines include comments and empty ones.
 * *Documents* are README.md and docs/.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';

const ROOT = join(import.meta.dirname, '../..');
const CODE = /\.(ts|js|mjs|py|css|html|sh|lua)$/;
const MADE = /^clients\/web\/built\/|^infra\/hosting\/cloudflare\/_worker\.js$|\.generated\./;
const TEST = /^test\/|^clients\/.*\/tests?\/|\.test\.ts$/;
const DOCUMENT = /^(README|docs\/.*)\.md$/;

readCommandLine('usage: npm run lines', {}, 'no words');
const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString('utf8')
  .split('\0')
  // A removed file stays in the index until the removal is committed.
  .filter((name) => name !== '' && existsSync(join(ROOT, name)));
const code = names.filter((name) => CODE.test(name) && !MADE.test(name));
const source = code.filter((name) => !TEST.test(name));
const tests = code.filter((name) => TEST.test(name));
const folders = [...new Set(names.filter((name) => name.includes('/')).map((name) => name.split('/')[0] as string))];

print('source, lines', lines(source));
print('  of it TypeScript', lines(source.filter(isTypeScript)));
for (const folder of folders) {
  const own = lines(source.filter((name) => name.startsWith(`${folder}/`)));
  if (own > 0) print(`  ${folder}/`, own);
}
print('tests, lines', lines(tests));
print('  of it TypeScript', lines(tests.filter(isTypeScript)));
print(
  'documents, words',
  count(
    names.filter((name) => DOCUMENT.test(name)),
    /\S+/g,
  ),
);
print('top-level folders', folders.filter((folder) => !folder.startsWith('.')).length);

function print(what: string, value: number): void {
  console.log(`${what.padEnd(20)}${value.toLocaleString('en-GB').padStart(8)}`);
}

function lines(files: readonly string[]): number {
  return count(files, /\n/g);
}

function count(files: readonly string[], what: RegExp): number {
  return files.reduce((sum, name) => sum + (readFileSync(join(ROOT, name), 'utf8').match(what)?.length ?? 0), 0);
}

function isTypeScript(name: string): boolean {
  return name.endsWith('.ts');
}
