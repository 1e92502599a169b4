/** docs/benchmarks.md is what `npm run bench -- --write` writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BENCHMARKS } from '../../bench/benchmarks.ts';
import { benchmarksDocument, renderDocument } from '../../bench/document.ts';
import { readResults, type StoredResults } from '../../bench/results.ts';

describe('docs/benchmarks.md', () => {
  it('is made from the results that are kept: `npm run bench -- --render` writes it anew', () => {
    expect(readFileSync(join(import.meta.dirname, '../../docs/benchmarks.md'), 'utf8')).toBe(benchmarksDocument());
  });

  const titled = Object.entries(BENCHMARKS).filter(([, { title }]) => title !== null);
  it.each(titled.map(([name]) => name))('has a section of %s', (name) => {
    expect(readResults(name)?.blocks.length).toBeGreaterThan(0);
  });
});

const results = (cell: string): StoredResults => ({
  measuredOn: '2026-11-23',
  conditions: '5 rounds',
  blocks: [
    { kind: 'text', text: `${'word '.repeat(30)}\`code stays on one line\`` },
    { kind: 'table', header: ['', 'ratio'], rows: [['edge', cell]] },
  ],
});

describe('renderDocument', () => {
  const page = renderDocument([
    { name: 'read', title: 'Reading', results: results('1.20 (1.10–1.30)') },
    { name: 'write', title: 'Writes', results: null },
  ]);

  it('says of each section when and how it was measured', () => {
    expect(page).toContain('## Reading\n\n`read`, 2026-11-23. 5 rounds.\n\n');
  });

  it('aligns tables, breaks lines between words, and does not break code', () => {
    expect(page).toContain('| edge | 1.20 (1.10–1.30) |\n');
    expect(page).toMatch(/^`code stays on one line`$|word `code stays on one line`$/m);
    expect(page.split('\n').filter((line) => line.length > 125)).toEqual([]);
  });

  it('leaves out a benchmark that was never written', () => {
    expect(page).not.toContain('## Writes');
  });
});
