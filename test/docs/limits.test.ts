/** The limits in the documentation are those of the code. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_EDGE_LIMITS } from '../../server/edge/limits.ts';
import { BODY_LIMITS } from '../../server/http/received-bodies.ts';

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const count = (value: number) => value.toLocaleString('en-GB');
const megabytes = (bytes: number) => `${count(bytes / 1024 / 1024)} MB`;

test.each([
  ['connections', DEFAULT_EDGE_LIMITS.maxConnections, count],
  ['cache of bodies', DEFAULT_EDGE_LIMITS.maxCacheBytes, megabytes],
  ['bodies of writes that are in memory', BODY_LIMITS.totalBytes, megabytes],
  ['of these, from one network', BODY_LIMITS.networkBytes, megabytes],
  ['of these, with one credential', BODY_LIMITS.credentialBytes, megabytes],
] as const)('%s', (name, limit, text) => {
  expect(page('operations.md')).toContain(`| ${name} | ${text(limit)} |`);
});

test('of one connection', () => {
  expect(DEFAULT_EDGE_LIMITS.stopGraceMs).toBe(5_000);
  expect(page('operations.md')).toContain('get five seconds at most');
});
