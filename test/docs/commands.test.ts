/** Every command line of `tidemark` in the documentation is one that the program takes. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../cli/program/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/*.md', { cwd: ROOT }).sort()];
const PROGRAM = await createProgram();

/** The words after `tidemark`, up to the end of the command. */
function commandLines(text: string): readonly string[][] {
  const blocks = [...text.matchAll(/^ *```(?:sh|bash|console)\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block);
  return blocks
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => [...line.matchAll(/(?:^ *|\$ |npx |&& |\$\()tidemark +([a-z-][^|>#;&)]*)/g)])
    .map(([, words = '']) => words.trim().split(/ +/));
}

function faultOf(words: readonly string[]): string | null {
  let command: Command = PROGRAM;
  const known = [...PROGRAM.options, PROGRAM.createOption('--help')];
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word);
    if (child !== undefined) {
      command = child;
      known.push(...child.options);
    } else if (word.startsWith('--')) {
      const name = word.split('=')[0];
      if (!known.some(({ long }) => long === name)) return `${command.name()} has no option ${name}`;
    }
  }
  // A command may have commands of its own and work alone, too: then it has arguments.
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  return isGroup && !words.some((word) => /^--(help|version)$/.test(word))
    ? `${words.join(' ')} names no command`
    : null;
}

describe('the command lines in', () => {
  test.each(PAGES)('%s are ones that the program takes', (page) => {
    const lines = commandLines(readFileSync(join(ROOT, page), 'utf8'));
    expect(lines.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
  });

  // An older Node refuses the ending before it reads a line of the file, so the file itself cannot say which Node it needs.
  test.each(PAGES)('%s start no TypeScript with whatever Node the reader has', (page) => {
    expect(readFileSync(join(ROOT, page), 'utf8')).not.toMatch(/(?<!npx )\bnode (?:--?\S+ )*[\w./-]+\.ts\b/);
  });

  test('are found', () => {
    expect(commandLines(readFileSync(join(ROOT, 'docs/operator-guide.md'), 'utf8')).length).toBeGreaterThan(20);
  });

  test('are refused if they are wrong', () => {
    expect(faultOf(['markets', 'list', '--no-such-option'])).toContain('--no-such-option');
    expect(faultOf(['markets'])).toContain('names no command');
    expect(faultOf(['no-such-command'])).toContain('names no command');
  });
});
