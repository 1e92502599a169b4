/**
 * `npm run lines`: how large the house is. It counts the files that git has or would add. *Hand-written* are files of code, without tests,
 * built files and generated ones; lines include comments and empty ones. *Documents* are README.md and docs/.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from './command-line.ts';

const ROOT = join(import.meta.dirname, '..');
const CODE = /\.(ts|js|mjs|py|css|html|sh|lua)$/;
const MADE = /^site\/built\/|\.generated\./;
const TEST = /^test\/|^clients\/.*\/tests?\/|\.test\.ts$/;
const DOCUMENT = /^(README|docs\/.*)\.md$/;

readCommandLine('usage: npm run lines', {}, 'no words');
const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString('utf8')
  .split('\0')
  // A removed file is in the index until it is committed.
  .filter((name) => name !== '' && existsSync(join(ROOT, name)));

const code = names.filter((name) => CODE.test(name) && !MADE.test(name));
const source = code.filter((name) => !TEST.test(name));
const tests = code.filter((name) => TEST.test(name));
const folders = [...new Set(names.filter((name) => name.includes('/')).map((name) => name.split('/')[0] as string))];

tell('source, lines', sum(source, linesOf));
for (const folder of folders) {
  const lines = sum(
    source.filter((name) => name.startsWith(`${folder}/`)),
    linesOf,
  );
  if (lines > 0) tell(`  ${folder}/`, lines);
}
tell('tests, lines', sum(tests, linesOf));
tell(
  'documents, words',
  sum(
    names.filter((name) => DOCUMENT.test(name)),
    wordsOf,
  ),
);
tell('top-level folders', folders.filter((folder) => !folder.startsWith('.')).length);

function tell(what: string, value: number): void {
  console.log(`${what.padEnd(20)}${value.toLocaleString('en-GB').padStart(8)}`);
}

function sum(files: readonly string[], measure: (text: string) => number): number {
  return files.reduce((total, name) => total + measure(readFileSync(join(ROOT, name), 'utf8')), 0);
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
