/** docs/benchmarks.md, from the results that are kept. Nothing in it is written by hand. */
import { BENCHMARKS } from './benchmarks.ts';
import { readResults, type StoredResults } from './results.ts';
import type { Block } from './section.ts';
import { markdownTable } from './table.ts';

/** In characters. */
const LINE_WIDTH = 125;

const INTRODUCTION = [
  '`npm run bench -- --write` writes this page: a section for each benchmark, from its last measurement. `npm run bench -- read --write` ' +
    'measures and replaces one section; the others keep theirs, with their dates. `npm run bench -- --help` lists the benchmarks and their ' +
    'sizes. `nginx`, `wrk` and `caddy` (Debian packages) are needed for reading.',
  'Each number stands beside a floor or a peer that was measured in the same run, in alternating rounds: median, and lowest to highest. ' +
    'Absolute numbers will differ elsewhere; the ratios should not by much. Operations and bytes are counted, not timed, so they are the ' +
    'same everywhere.',
];

/** The page as the results that are kept make it. */
export function benchmarksDocument(): string {
  return renderDocument(
    Object.entries(BENCHMARKS).flatMap(([name, { title }]) =>
      title === null ? [] : [{ name, title, results: readResults(name) }],
    ),
  );
}

export interface DocumentSection {
  readonly name: string;
  readonly title: string;
  readonly results: StoredResults | null;
}

export function renderDocument(sections: readonly DocumentSection[]): string {
  const parts = ['# Benchmarks', ...INTRODUCTION.map(wrapped)];
  for (const { name, title, results } of sections) {
    if (results === null) continue;
    const head = `\`${name}\`, ${results.measuredOn}. ${results.conditions}.`;
    parts.push(`## ${title}`, wrapped(head), ...results.blocks.map(blockText));
  }
  return `${parts.join('\n\n')}\n`;
}

function blockText(block: Block): string {
  return block.kind === 'text' ? wrapped(block.text) : markdownTable(block.header, block.rows);
}

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  // Code stays on one line, so that it can be copied.
  for (const word of text.match(/`[^`]*`\S*|\S+/g) ?? []) {
    if (line !== '' && line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
