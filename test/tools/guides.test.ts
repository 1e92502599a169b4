/** The snippets of the guides, run as they stand there, beside a server with its sample: one process for each language. */
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { READ_HOST, WRITE_HOST } from '../../contract/files/example-hosts.ts';
import { snapshotSchema } from '../../contract/values/market.ts';
import { missingProgram } from '../hosting/proxy.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const LANGUAGES = ['sh', 'ts', 'python'] as const;
type Language = (typeof LANGUAGES)[number];

/** By the name of its guide and its place among the blocks of its language there. */
const SNIPPETS = Object.fromEntries(LANGUAGES.map((language) => [language, snippetsOf(language)])) as {
  readonly [Each in Language]: ReadonlyMap<string, string>;
};

function snippetsOf(language: Language): ReadonlyMap<string, string> {
  const blocks = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return new Map(
    globSync(join(ROOT, 'clients/web/guides/*.md')).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(blocks)].map(
        ([, text = ''], index) => [`${basename(file, '.md')}-${index}`, text] as const,
      ),
    ),
  );
}

const GOLD = /^2026-09-29[T ]00:00:00(Z|\+00:00)\s+4129\.10$/m;
const RELEASED = /^2026-06-29\S* ?\S* 2026-06-30\S* ?\S* 4000\.00\n$/;

/** A part of what each prints. */
const PRINTS: { readonly [Each in Language]: Readonly<Record<string, RegExp>> } = {
  sh: {
    'as-of-0': GOLD,
    'caching-0': /^304$/m,
    'corrections-0': /"state": "queued"/,
    'corrections-1': /"state": "submitted"/,
    'idempotency-0': /201[\s\S]*201[\s\S]*idempotency-replayed: true/i,
    'keys-0': /@tidemark\.example\n[\s\S]*you agree/,
    'keys-1': /"scopes":\[/,
    'log-0': /^\d+\n\{.*"format":1.*\n\{.*\n\{.*\n+$/,
    'log-1': /^tidemark\.local\//,
    'money-0': /"decimal": "4129\.10"/,
    'money-1': /^gold-usd\t4129\.10$/m,
    'paging-0': /^gold-usd\t4129\.10$/m,
    'paging-1': /2026-09-29T00:00:00Z[\s\S]*\["2026-09-29T00:00:00Z","4129\.10"\]/,
  },
  ts: {
    'as-of-0': GOLD,
    'as-of-1': RELEASED,
    'caching-0': /^(\S+ [\d.]+ 2026-\S+\n){3}$/,
    'corrections-0': /^(?!Nothing).*stored/,
    'corrections-1': /^\S+ submitted$/m,
    'idempotency-0': /^true$/m,
    'keys-0': /watchlists:write/,
    'log-0': /^(\d+ \w+ [\w-]+\n){3}$/,
    'log-1': /^2026-09-29T00:00:00Z 4129\.10 is entry \d+\n$/,
    'money-0': /^4129\.10 USD for 1 troy ounce$/m,
    'paging-0': /^gold-usd 4129\.10$/m,
    'paging-1': /^2026-09-29T00:00:00Z 4129\.10$/m,
  },
  python: {
    'as-of-0': GOLD,
    'as-of-1': RELEASED,
    'caching-0': /^(\S+ [\d.]+ 2026-.*\n){3}$/,
    'corrections-0': /^(?!Nothing).*stored/,
    'corrections-1': /^\S+ submitted$/m,
    'idempotency-0': /^True$/m,
    'keys-0': /watchlists:write/,
    'log-0': /^0 \{.*\n1 \{.*\n2 \{.*\n$/,
    'money-0': /^4129\.10 USD for 1 troy ounce$/m,
    'paging-0': /^gold-usd 4129\.10$/m,
    'paging-1': /^2026-09-29 00:00:00\+00:00 4129\.10$/m,
  },
};

const server = sampleServerForAll('all');

beforeAll(() => addReleased());

/** The sample does not say when its source released a value. */
async function addReleased(): Promise<void> {
  const { url, key } = server;
  const observation = {
    ...{ type: 'observation', market: 'gold-usd', metric: 'price', value: '4000.00', currency: 'USD' },
    ...{ sourceLabel: 'An exchange', sourceUrl: 'https://exchange.example/gold/2026-06-29' },
    ...{ observedAt: '2026-06-29T00:00:00Z', releasedAt: '2026-06-30T12:00:00Z', confidence: 'high', status: 'final' },
  };
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': 'released-value-1' };
  const body = JSON.stringify({ records: [observation] });
  const answer = await fetch(`${url}/api/v1/ingest/batches`, {
    ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body },
  });
  expect(answer.status).toBe(202);
  // Also in the list and its files, which follow their markets: an example expects them unchanged.
  const isPublic = async () => {
    const history = await (await fetch(`${url}/api/v1/markets/gold-usd/history`)).text();
    const snapshot = await (await fetch(`${url}/api/v1/snapshot`)).json();
    const { generation, listGeneration } = snapshotSchema.parse(snapshot);
    return history.includes('4000.00') && listGeneration === generation;
  };
  while (!(await isPublic())) await sleep(200);
}

/** The output of each snippet of a language, by its name. */
async function outputsOf(language: Language, program: string): Promise<ReadonlyMap<string, string>> {
  const { folder, url, key } = server;
  const place = join(folder, language);
  await mkdir(join(place, 'node_modules/tidemark-client'), { recursive: true });
  const names = [...SNIPPETS[language].keys()];
  for (const [name, text] of SNIPPETS[language]) {
    const typed = text.replaceAll(READ_HOST, url).replaceAll(WRITE_HOST, url);
    await writeFile(join(place, `${name}.${language}`), typed);
  }
  // The sources, where the package would be.
  const exported = { Tidemark: 'tidemark', decimalOf: 'decimal-of' };
  const module = Object.entries(exported).map(
    ([name, file]) => `export { ${name} } from '${pathToFileURL(join(ROOT, `clients/typescript/${file}.ts`))}';`,
  );
  await writeFile(join(place, 'node_modules/tidemark-client/index.js'), module.join('\n'));
  await writeFile(join(place, 'node_modules/tidemark-client/package.json'), '{"type":"module","exports":"./index.js"}');
  const main = {
    sh: names.map((name) => `printf '\\n@@ ${name}\\n'; bash -euo pipefail ${name}.sh`),
    ts: names.map((name) => `console.log('@@ ${name}'); await import(new URL('${name}.ts', import.meta.url).href);`),
    python: ['import runpy', ...names.map((name) => `print('@@ ${name}'); runpy.run_path('${name}.python')`)],
  }[language];
  const file = { sh: 'main.sh', ts: 'main.mjs', python: 'main.py' }[language];
  await writeFile(join(place, file), main.join('\n'));
  const { stdout, output, exitCode } = await runTool(program, [...(language === 'sh' ? ['-eu'] : []), file], {
    cwd: place,
    env: { TIDEMARK_API_KEY: key, PYTHONPATH: join(ROOT, 'clients/python/src'), NODE_NO_WARNINGS: '1' },
  });
  expect(exitCode, output).toBe(0);
  return new Map(
    stdout
      .split(/^@@ /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)] as const),
  );
}

function expectPrints(language: Language, outputs: ReadonlyMap<string, string>): void {
  expect([...outputs.keys()].sort()).toEqual(Object.keys(PRINTS[language]));
  for (const [name, part] of Object.entries(PRINTS[language])) expect(outputs.get(name), name).toMatch(part);
}

test('in curl, with jq', async (context) => {
  const reason = missingProgram('jq');
  if (reason !== null) context.skip(reason);
  expectPrints('sh', await outputsOf('sh', 'bash'));
  await expect.poll(() => correctedPlatinum(), { timeout: 20_000 }).toEqual(['1735.60']);
});

/** The new version of the observation that the guide of corrections corrects, and not another observation. */
async function correctedPlatinum(): Promise<readonly string[]> {
  const answer = await fetch(`${server.url}/api/v1/markets/platinum-usd/history`);
  const { data } = (await answer.json()) as { data: readonly { decimal: string; supersedes: string | null }[] };
  return data.filter(({ supersedes }) => supersedes !== null).map(({ decimal }) => decimal);
}

test('in TypeScript', async () => {
  expectPrints('ts', await outputsOf('ts', process.execPath));
});

describe('in Python', () => {
  const python = join(toolFolder('python-tools'), 'bin', 'python');

  test('with the client', async () => {
    expectPrints('python', await outputsOf('python', python));
  });
});
