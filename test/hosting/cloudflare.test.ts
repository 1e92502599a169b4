/** `_headers` and `_routes.json` of infra/hosting/cloudflare/, read as Cloudflare documents them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EMBED_HEADERS, PAGE_HEADERS } from '../../contract/files/page-headers.ts';
import { PUBLIC_CACHE_CONTROL } from '../../contract/files/public-objects.ts';
import { CORS_FIELDS, NO_SNIFFING } from '../../server/edge/representation.ts';

const textOf = (file: string) =>
  readFileSync(join(import.meta.dirname, '../../infra/hosting/cloudflare', file), 'utf8');

test('files that the function does not answer have the header fields of our server', () => {
  const rules = textOf('_headers')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const blocks = rules.join('\n').split(/\n(?=\S)/);
  expect(blocks.map((block) => block.split('\n', 1)[0])).toEqual(['/*', '/embed/*']);
  const fieldsOf = (block = '') =>
    [...block.matchAll(/^ {2}([\w-]+): (.+)$/gm)].map(([, name, value]) => [name, value] as [string, string]);
  const removed = [...(blocks[1] ?? '').matchAll(/^ {2}! ([\w-]+)$/gm)].map(([, name = '']) => name.toLowerCase());
  const fields = fieldsOf(blocks[0]);
  const expected = [...CORS_FIELDS, ...NO_SNIFFING, 'Cache-Control', PUBLIC_CACHE_CONTROL];
  const ours = expected.flatMap((name, at) => (at % 2 === 0 ? [[name, expected[at + 1] as string] as const] : []));
  const lower = (pairs: readonly (readonly [string, string])[]) =>
    Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  expect(lower(fields)).toEqual(lower([...ours, ...Object.entries(PAGE_HEADERS)]));
  const left = Object.entries(PAGE_HEADERS).filter(([name]) => !removed.includes(name));
  expect(lower([...left, ...fieldsOf(blocks[1])])).toEqual(EMBED_HEADERS);
  expect(Math.max(...rules.map((line) => line.length))).toBeLessThan(2000);
});

test('the function is asked for all but the assets', () => {
  expect(JSON.parse(textOf('_routes.json'))).toEqual({ version: 1, include: ['/*'], exclude: ['/assets/*'] });
});
