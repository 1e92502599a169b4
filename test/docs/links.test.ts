/** A link of a document leads somewhere, and the page on security names each suite of attacks. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'mapping/sample/*.md'], { cwd: ROOT });
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The names that headings have as link targets. */
const sectionsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(DOCUMENTS)('%s: each link within the repository leads to a file or a section that is there', (document) => {
  const links = [...textOf(document).matchAll(/\]\((?!https?:|mailto:|\/)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
  const lost = links.filter(([, path, section]) => {
    const file = path ? join(dirname(document), path) : document;
    return !existsSync(join(ROOT, file)) || (section !== undefined && !sectionsOf(file).includes(section));
  });
  expect(lost.map(([link]) => link)).toEqual([]);
});

test('the page on security names each suite of attacks', () => {
  const suites = readdirSync(join(ROOT, 'test/attack')).filter((name) => name.endsWith('.test.ts'));
  expect(suites.length).toBeGreaterThan(0);
  const page = textOf('docs/security.md');
  expect(suites.filter((name) => !page.includes(`(../test/attack/${name})`))).toEqual([]);
});
