/** The image, the package and the Compose file go together. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instructionsOf } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const manifest = JSON.parse(textOf('package.json')) as {
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
};
const instructions = instructionsOf(textOf('infra/hosting/docker/Dockerfile'));
/** Those of the last stage. */
const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));

test('the image has every file of the package that runs, and its own command', () => {
  const copied = last.filter(({ name }) => name === 'COPY').flatMap(({ words }) => words.slice(0, -1));
  const own = (file: string) =>
    file === 'cli/tidemark.mjs' || /^(infra\/hosting|docs\/examples)\//.test(file) || file.endsWith('.md');
  const needed = manifest.files.filter((file) => !own(file)).map((file) => file.replace(/\/$/, ''));
  expect(needed.filter((file) => !copied.some((path) => path.replace('/build/', '') === file))).toEqual([]);
});

test('every stage has the pinned Node', () => {
  const bases = instructions.filter(({ name }) => name === 'FROM').map(({ words }) => words[0]);
  expect(new Set(bases)).toEqual(new Set([`node:${manifest.dependencies.node}-bookworm-slim`]));
});

test('the last stage runs without rights, and its build runs nothing of a foreign platform but one command', () => {
  expect(last.find(({ name }) => name === 'USER')?.text).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(last.filter(({ name }) => name === 'RUN')).toHaveLength(1);
});

test('the Compose file names the version', () => {
  expect(textOf('infra/hosting/compose.yaml')).toContain(`image: tidemark:${manifest.version}\n`);
});
