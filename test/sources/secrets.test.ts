/** A recipe names a secret: it goes to its host, and is in nothing that is kept, shown or published. */
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { askWithSecrets } from '../../lambdas/sources/fetch/secrets.ts';
import { parseRecipe } from '../../mapping/recipe/recipe.ts';
import { withoutSecretParameters } from '../../mapping/recipe/recipe-secrets.ts';
import { StartError } from '../../server/service/start-error.ts';
import { readSourceSecrets } from '../../server/settings/given-secret.ts';
import { filesIn, openRunWorld, type RunWorld } from '../run/run-world.ts';
import { EXAMPLE_RECIPE, metalsCsv, recipeWith } from './example-recipe.ts';
import { zipArchive } from './zip-archive.ts';

const SECRET = 'pl4nted/secret+value=&%';
/** Almost all of it. */
const PART = SECRET.slice(0, -1);
const FORMS = [PART, encodeURIComponent(SECRET), encodeURIComponent(SECRET).toLowerCase()].concat(
  (['base64', 'base64url'] as const).map((form) => Buffer.from(SECRET).toString(form).replace(/=+$/, '')),
);
const CSV = Buffer.from(metalsCsv(['gold', '2026-11-18', '4129.10'])).toString();

const inNumbers = (write: (hex: string) => string): string =>
  [...SECRET].map((character) => write(Buffer.from(character).toString('hex'))).join('');

async function startHost(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `localhost:${(server.address() as AddressInfo).port}`;
}

/** One run of a recipe for each of the hosts, with a secret in its URL and in a header. */
async function fetchedFrom(
  world: RunWorld,
  origins: readonly string[],
  others: readonly string[] = [],
  secretOf = (host: string) => `${host} ${SECRET}`,
) {
  const words: string[] = [];
  const settings: Record<string, string> = {};
  for (const [index, host] of origins.entries()) {
    const hosts = [host, ...others].map((each) => `http://${each}`);
    const url = `${hosts[0]}/daily.csv?a=1&key=\${TEA_KEY_${index}}&b=2`;
    const mapping = EXAMPLE_RECIPE.mapping as { observation: object };
    const observation = { ...mapping.observation, sourceUrl: url };
    const headers = { authorization: `Bearer \${TEA_KEY_${index}}` };
    const change = { name: `metals-${index}`, url, hosts, headers, mapping: { ...mapping, observation } };
    const recipe = join(world.folder, `recipe-${index}.json`);
    await writeFile(recipe, JSON.stringify(recipeWith(change as never)));
    words.push('--source', recipe);
    settings[`TIDEMARK_SECRET_TEA_KEY_${index}`] = secretOf(host);
  }
  const allowed = [...origins, ...others].map((each) => `http://${each}`).join(',');
  const run = await world.run(words, { TIDEMARK_SOURCE_HOSTS: allowed, ...settings });
  const reports = run.report.sources as readonly { readonly source: string }[];
  return { ...run, outcomes: origins.map((_, index) => reports.find(({ source }) => source === `metals-${index}`)) };
}

/** Every byte that is kept or published, and everything that was said. */
async function traces(
  world: RunWorld,
  ...runs: readonly { output: string; errors: string }[]
): Promise<readonly string[]> {
  const paths = [...(await filesIn(world.data)).keys()];
  const texts = await Promise.all(paths.map(async (path) => [path, await readFile(join(world.data, path), 'latin1')]));
  const said = runs.flatMap(({ output, errors }) => [
    ['output', output],
    ['errors', errors],
  ]);
  return [...texts, ...said].flatMap(([path, text]) =>
    FORMS.some((form) => text?.includes(form)) ? [path as string] : [],
  );
}

describe('a secret', () => {
  test('is sent to the host, and stands nowhere else', async () => {
    const world = await openRunWorld();
    const asked: [string | null, string | undefined][] = [];
    const host = await startHost(({ url, headers }, response) => {
      asked.push([new URL(url ?? '', 'http://x').searchParams.get('key'), headers.authorization]);
      response.setHeader('etag', `"${SECRET}"`);
      response.end(CSV);
    });
    const run = await fetchedFrom(world, [host]);
    expect(run).toMatchObject({ code: 0, report: { markets: 1, sources: [{ outcome: 'taken-in' }] } });
    expect(asked).toEqual([[SECRET, `Bearer ${SECRET}`]]);
    const history = await readFile(join(world.data, 'public/api/v1/markets/gold-usd/history.json'), 'utf8');
    expect(JSON.parse(history).data[0].sourceUrl).toBe(`http://${host}/daily.csv?a=1&b=2`);
    expect(await traces(world, run)).toEqual([]);
  });

  test('is not kept from an answer, an error or a redirect that repeats it', async () => {
    const world = await openRunWorld();
    const answers: readonly [code: string, status: number, headers: Record<string, string>, body: string][] = [
      ['secret-in-answer', 200, {}, `${CSV}${SECRET}\n`],
      ['secret-in-answer', 200, {}, CSV + Buffer.from(SECRET).toString('base64')],
      ['secret-in-answer', 200, {}, CSV + encodeURIComponent(SECRET)],
      ['bad-coding', 200, { 'content-encoding': 'x'.repeat(40 - PART.length) + SECRET }, CSV],
      ['http-500', 500, { 'x-echo': SECRET }, SECRET],
      ['not-allowed', 302, { location: `http://[${SECRET}` }, ''],
      // A host that the recipe lacks.
      ['not-allowed', 302, { location: `http://evil.test.example/${SECRET}` }, ''],
      // The text of the failure is cut within the secret.
      ['not-allowed', 302, { location: `ftp://evil.test.example/${'a'.repeat(200 - 24 - PART.length)}${SECRET}` }, ''],
    ];
    const hosts = await Promise.all(
      answers.map(([, status, headers, body]) =>
        startHost((_, response) => void response.writeHead(status, headers).end(body)),
      ),
    );
    const run = await fetchedFrom(world, hosts);
    expect(run.outcomes).toMatchObject(answers.map(([code]) => ({ outcome: 'failed', reason: { code } })));
    expect(await traces(world, run)).toEqual([]);
  });

  test.each<[string, string]>([
    ['in Base64 behind a byte', Buffer.from(`:${SECRET}`).toString('base64')],
    ["with JSON's escaped slash", SECRET.replaceAll('/', '\\/')],
    ["in JSON's numbers", inNumbers((hex) => `\\u00${hex}`)],
    ["in XML's numbers", inNumbers((hex) => `&#x${hex};`)],
    ['in XML', SECRET.replaceAll('&', '&amp;')],
    ['as a URL in JSON', encodeURIComponent(SECRET).replaceAll('%', '\\u0025')],
  ])('is found in an answer %s', async (_, form) => {
    const bytes = Buffer.from(`{"note":"${form}"}`);
    const taken = { kind: 'taken', bytes, etag: null, lastModified: null } as never;
    const ask = askWithSecrets(
      async () => taken,
      () => ({ host: 'tea.example', value: SECRET }),
    );
    const request = { url: `https://tea.example/?key=\${TEA_KEY}` } as never;
    expect(await ask(request)).toMatchObject({ kind: 'failed', code: 'secret-in-answer' });
    bytes.fill('x');
    expect(await ask(request)).toMatchObject({ kind: 'taken' });
  });

  test.each<[string, 'gzip' | 'zip' | undefined, Uint8Array]>([
    ['gzip', 'gzip', gzipSync(CSV + SECRET)],
    ['a zip archive', 'zip', zipArchive([{ name: 'a.csv', content: CSV + SECRET }])],
    ['UTF-16', undefined, Buffer.from(CSV + SECRET, 'utf16le')],
  ])('is found in %s', async (_, unpack, bytes) => {
    const answer = { kind: 'answer', bytes, etag: null, lastModified: null } as const;
    const ask = askWithSecrets(
      async () => answer,
      () => ({ host: 'tea.example', value: SECRET }),
    );
    const request = { url: `https://tea.example/?key=\${TEA_KEY}`, maxBytes: 10_000, ...(unpack && { unpack }) };
    expect(await ask(request as never)).toMatchObject({ kind: 'failed', code: 'secret-in-answer' });
  });

  test('is not sent to the host of a redirect', async () => {
    const world = await openRunWorld();
    const seen: string[] = [];
    const other = await startHost(({ url, rawHeaders }, response) => {
      seen.push(`${url} ${rawHeaders.join(' ')}`);
      response.end(CSV);
    });
    const hosts = await Promise.all(
      ['', ...FORMS.slice(1).map((form) => `?key=${form}`)].map((query) => {
        const location = `http://${other}/file.csv${query}`;
        return startHost((_, response) => void response.writeHead(302, { location }).end());
      }),
    );
    const run = await fetchedFrom(world, hosts, [other]);
    const refused = { outcome: 'failed', reason: { code: 'not-allowed' } };
    expect(run.outcomes).toMatchObject([{ outcome: 'taken-in' }, ...FORMS.slice(1).map(() => refused)]);
    expect(seen).toEqual([expect.stringMatching(/^\/file\.csv (?!.*authorization)/i)]);
    expect(await traces(world, run)).toEqual([]);
  });

  test('is not sent to another host than the one that the service names, and asked for if it is missing', async () => {
    const world = await openRunWorld();
    let count = 0;
    const host = await startHost((_, response) => {
      count += 1;
      response.end(CSV);
    });
    const elsewhere = await fetchedFrom(world, [host], [], () => `prices.test.example ${SECRET}`);
    expect(elsewhere).toMatchObject({ report: { sources: [{ reason: { code: 'not-allowed' } }] } });
    expect(await fetchedFrom(world, [host], [], () => '')).toMatchObject({
      report: { sources: [{ reason: { code: 'no-secret' } }] },
    });
    expect(count).toBe(0);
    expect(await traces(world, elsewhere)).toEqual([]);
  });

  test('without a host, or too short, ends the start, without its value', async () => {
    const world = await openRunWorld();
    const run = await world.run([], { TIDEMARK_SECRET_TEA_KEY: `${SECRET} prices.test.example` });
    expect(run).toMatchObject({ code: EXIT_CODES.refused.code });
    expect(run.output + run.errors).not.toContain(SECRET);
    for (const text of [SECRET, 'prices.test.example short'])
      expect(() => readSourceSecrets({ TIDEMARK_SECRET_TEA_KEY: text })).toThrow(StartError);
  });

  test('may be in a file that only its owner can read', async () => {
    const { folder } = await openRunWorld();
    const file = join(folder, 'key');
    await writeFile(file, `prices.test.example ${SECRET}\n`, { mode: 0o600 });
    const environment = { TIDEMARK_SECRET_TEA_KEY_FILE: file };
    expect(readSourceSecrets(environment).get('TEA_KEY')).toEqual({ host: 'prices.test.example', value: SECRET });
    await chmod(file, 0o644);
    expect(() => readSourceSecrets(environment)).toThrow(file);
  });
});

const HOST = 'https://metals.test.example';

test.each<[string, object, string]>([
  ['a secret that is part of a value', { url: `${HOST}/?key=a\${TEA_KEY}` }, '/url'],
  ['a secret in the path', { url: `${HOST}/\${TEA_KEY}/a` }, '/url'],
  ['a secret in the host', { url: `https://\${TEA_KEY}.test.example/` }, '/url'],
  ['a secret with a name in small letters', { url: `${HOST}/?key=\${tea}` }, '/url'],
  ['a header that the fetch sets', { headers: { host: 'x' } }, '/headers/host'],
  ['a header with a line break', { headers: { 'x-a': 'a\r\nb: c' } }, '/headers/x-a'],
  ['a credential that is written out', { headers: { 'x-api-key': 'abcdefgh' } }, '/headers/x-api-key'],
  ['a bearer token that is written out', { headers: { authorization: 'Bearer abc' } }, '/headers/authorization'],
])('a recipe with %s is refused', (_, change, pointer) => {
  expect(parseRecipe(recipeWith(change as never))).toMatchObject({ faults: [{ pointer }] });
});

test.each([
  [`https://a.example/x?key=\${K1}`, 'https://a.example/x'],
  [`https://a.example/x?key=\${K1}&b=2`, 'https://a.example/x?b=2'],
  [`https://a.example/x?b=2&key=\${K1}&id=\${K2}`, 'https://a.example/x?b=2'],
  [`https://a.example/x?key=\${K1}&id=\${K2}&b={day}`, 'https://a.example/x?b={day}'],
])('without its secrets %s is %s', (url, shown) => {
  expect(withoutSecretParameters(url)).toBe(shown);
});
