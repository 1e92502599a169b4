/** The commands of the runbooks name existing files, functions and sections. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../infra/permissions.ts';

const ROOT = join(import.meta.dirname, '../..');

describe.each(['deploy.md', 'operations.md'])('docs/%s', (name) => {
  const text = readFileSync(join(ROOT, 'docs', name), 'utf8');
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

  it('imports files that exist', () => {
    const files = all(/from "(\.[^"]+)"/g);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('invokes functions that are deployed', () => {
    const invoked = [...all(/--function-name tidemark-([a-z-]+)/g), ...all(/\/aws\/lambda\/tidemark-([a-z-]+)/g)];
    expect(invoked.length).toBeGreaterThan(0);
    expect(invoked.filter((each) => !FUNCTION_NAMES.some((known) => known === each))).toEqual([]);
  });
});
