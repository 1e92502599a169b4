/** The npm package of the client, packed and installed in an empty folder, with the Node of a user. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildClient } from '../../tools/build/build-client.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { type Packed, pack, USERS_ENVIRONMENT } from './users-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
/** The module as it is packed: readable, and compressed as a CDN does it. */
const COMPRESSED_BYTES_MAX = 16_500;

/** The examples of the README and of the page about clients, in order. */
const EXAMPLES = ['clients/typescript/README.md', 'docs/clients.md'].flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code),
);

const server = sampleServerForAll('all');
let folder: string;
let empty: string;
let examples: readonly string[];
let packed: Packed;

const env = { PATH: USERS_ENVIRONMENT.PATH };
const run = async (file: string) =>
  (await promisify(execFile)('node', [file], { cwd: empty, env })).stdout.trimEnd().split('\n');

beforeAll(async () => {
  ({ folder } = server);
  empty = join(folder, 'empty');
  mkdirSync(empty);
  buildClient(join(folder, 'package'));
  packed = pack(join(folder, 'package'), folder);
  const quiet = ['--no-audit', '--no-fund', '--offline'];
  execFileSync('npm', ['install', ...quiet, packed.path], { cwd: empty, stdio: 'ignore' });
  const { url, key } = server;
  const vkey = (await (await fetch(`${url}/api/v1/log/vkey`)).text()).trim();
  examples = EXAMPLES.map((code) =>
    code
      .replaceAll('https://data.example', url)
      .replace(/'tdm_[^']*'/, `'${key}'`)
      .replace(/'[^']*\/log\+[^']*'/, `'${vkey}'`),
  );
});

test(`is one module with its declarations, below ${COMPRESSED_BYTES_MAX} bytes, compressed with Brotli`, () => {
  const names = packed.files.map((file) => file.path).filter((name) => !name.endsWith('.d.ts'));
  expect(names.sort()).toEqual(['LICENSE', 'README.md', 'index.js', 'package.json']);
  const module = readFileSync(join(empty, 'node_modules/tidemark-client/index.js'));
  expect(module.toString()).not.toMatch(/\bnode:|\bprocess\.|\bBuffer\b|\brequire\(/);
  expect(brotliCompressSync(module).length).toBeLessThan(COMPRESSED_BYTES_MAX);
});

test('its examples run with plain Node 20', async () => {
  const printed: (readonly string[])[] = [];
  for (const [index, code] of examples.entries()) {
    writeFileSync(join(empty, `example-${index}.mjs`), code);
    printed.push(await run(`example-${index}.mjs`));
  }
  const [newest, history, converted, changes, proof, write, page] = printed;
  expect(newest).toHaveLength(175);
  expect(newest).toContainEqual(expect.stringMatching(/^gold-usd 4129\.10 USD/));
  expect(history?.[0]).toMatch(/^2026-09-29T00:00:00Z 4129\.10/);
  expect(converted?.[0]).toMatch(/^2026-09-29T00:00:00Z 3634\.55 0\.8802274508 /);
  expect(changes?.length).toBeGreaterThan(1_000);
  expect(changes?.at(-1)).toMatch(/^go on with \d{4,}$/);
  expect(proof).toEqual([expect.stringMatching(/^gold-usd 2026-09-29T00:00:00Z is entry \d+ of /)]);
  expect(write).toEqual(['applied 2 []', expect.stringMatching(/^Breakfast "[^"]+"$/)]);
  expect(page?.[0]).toBe('2026-09-29T00:00:00Z price');
  expect(printed).toHaveLength(7);
});

describe('its types', () => {
  const WRONG: readonly (readonly [line: string, code: string])[] = [
    ["await tidemark.call('POST /api/v1/watchlist', {});", 'TS2345'],
    ["await tidemark.call('POST /api/v1/watchlists', { body: { name: 1, markets: [] } });", 'TS2322'],
    ["(await tidemark.market('a')).nmae;", 'TS2339'],
    ["await tidemark.ingest([{ type: 'observation' }]);", 'TS2322'],
  ];

  /** The findings of the compiler. */
  const check = (at: string, config: object): readonly string[] => {
    writeFileSync(join(at, 'tsconfig.json'), JSON.stringify(config));
    const { stdout } = spawnSync(process.execPath, [TSC, '-p', at], { cwd: at, encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line !== '');
  };

  test('fit the examples in strict mode, and refuse mistakes', () => {
    const files = new Map(EXAMPLES.map((code, index) => [`example-${index}.mts`, code]));
    const begin = "import { Tidemark } from 'tidemark-client';\nconst tidemark = new Tidemark({ url: 'x' });\n";
    for (const [index, [line]] of WRONG.entries()) files.set(`wrong-${index}.mts`, `${begin}${line}\nexport {};\n`);
    for (const [name, text] of files) writeFileSync(join(empty, name), text);
    const compilerOptions = {
      ...{
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
      },
      ...{ module: 'nodenext', target: 'es2022', types: [], lib: ['es2022', 'dom', 'dom.asynciterable'] },
    };
    const found = check(empty, { compilerOptions, files: [...files.keys()] }).filter((line) => /^\S/.test(line));
    const brief = found.map((line) => line.replace(/^(\S+)\(3,\d+\): error (TS\d+):.*$/, '$1 $2'));
    expect(brief).toEqual(WRONG.map(([, code], index) => `wrong-${index}.mts ${code}`));
  });

  test('are those of the schemas of the contract', () => {
    const ours = (names: string, file: string) => `import type { ${names} } from ${JSON.stringify(join(ROOT, file))};`;
    const named = [
      'Market',
      'Snapshot',
      'PublicMetric',
      'PublicObservation',
      'HistoryIndex',
      'BatchReport',
      'LatestEntry',
    ];
    const text = `
import type * as Printed from ${JSON.stringify(join(folder, 'package/wire.js'))};
${ours('Routes', 'clients/typescript/routes.ts')}
${ours('Market, Snapshot', 'contract/values/market.ts')}
${ours('PublicMetric, PublicObservation', 'contract/values/metric.ts')}
${ours('HistoryIndex', 'contract/bodies/history-files.ts')}
${ours('BatchReport', 'contract/ingest/ingest-records.ts')}
${ours('LatestEntry', 'contract/bodies/latest-entries.ts')}
/** Never: each fits the other. */
type Differ<One, Other> = [One, Other] extends [Other, One] ? never : [One, Other];
/** The parts of routes that differ, and routes that only one side has. */
type Wrong<One, Other> = {
  [Name in keyof One & string]: Name extends keyof Other
    ? {
        [Part in keyof One[Name] & string]: Part extends keyof Other[Name]
          ? [Differ<One[Name][Part], Other[Name][Part]>] extends [never] ? never : \`\${Name} \${Part}\`
          : never;
      }[keyof One[Name] & string]
    : Name;
}[keyof One & string];
/** Records are checked one by one, and two files for other programs have members of any name. */
type Looser =
  | 'POST /api/v1/ingest/batches body'
  | 'GET /api/v1/compat/currency-api/{date}/v1/currencies/{code}.json answer'
  | 'GET /api/v1/compat/quotes/{part}.json answer';
const none = <Value,>(_: [Value] extends [never] ? true : Value) => {};
${named.map((name) => `none<Differ<${name}, Printed.${name}>>(true);`).join('\n')}
none<Exclude<Wrong<Routes, Printed.Routes>, Looser>>(true);
none<Exclude<Wrong<Printed.Routes, Routes>, Looser>>(true);
`;
    const at = join(folder, 'same');
    mkdirSync(at);
    writeFileSync(join(at, 'same.mts'), text);
    // JSON knows no member that is undefined.
    const compilerOptions = { typeRoots: [join(ROOT, 'node_modules/@types')], exactOptionalPropertyTypes: false };
    expect(
      check(at, { extends: join(ROOT, 'tsconfig.json'), compilerOptions, files: ['same.mts'], include: [] }),
    ).toEqual([]);
  });
});
