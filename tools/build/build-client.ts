/**
 * Builds the npm package of the client: `npm run build:client` writes clients/typescript/dist, which `npm pack` packs. One module,
 * readable; its declarations; the README.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { readCommandLine } from '../run/command-line.ts';
import { clientTypes } from './client-types.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The values that the package exports, by the file that has them. */
const EXPORTS = {
  tidemark: ['Tidemark'],
  'tidemark-error': ['TidemarkError'],
  'kept-bodies': ['MemoryBodies'],
  'as-of': ['AsOfReading'],
  'decimal-of': ['decimalOf'],
  conversion: ['convert', 'currenciesFrom', 'DayRates', 'rateMarket', 'rateWays', 'readRates'],
  receipts: ['openReceipt'],
  'signed-log': ['LogVerificationError'],
} as const;

/** The types that callers name. All types of the contract are exported. */
const TYPES = {
  tidemark: ['Abortable', 'BatchOptions', 'ChangeRange', 'HistoryRange', 'ProofOptions', 'TidemarkOptions'],
  'tidemark-error': ['ClientCode'],
  'kept-bodies': ['BodyStore', 'KeptBody'],
  'as-of': ['AsOf', 'AsOfRow'],
  'log-changes': ['LogChange'],
  conversion: ['Conversion', 'NotConverted', 'RateMarket', 'RateStep', 'RateWay', 'UsedRate'],
  calls: ['CallAnswer', 'CallArguments', 'CallOf', 'RouteName'],
  moments: ['Moment'],
  'signed-log': ['ProvenEntry'],
  receipts: ['OpenedReceipt'],
  system: ['System'],
} as const;

/** The sources infer these types from schemas; the package has them as printed declarations. */
const PRINTED = 'wire';

/** @param folder the folder of the package, which is created again */
export function buildClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const values = Object.entries(EXPORTS).map(([file, names]) => `export { ${names.join(', ')} } from './${file}.ts';`);
  const { outputFiles } = buildSync({
    stdin: { contents: values.join('\n'), resolveDir: join(ROOT, 'clients/typescript'), loader: 'ts' },
    bundle: true,
    format: 'esm',
    target: ['es2022'],
    platform: 'neutral',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  });
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  put('index.js', outputFiles[0]?.text ?? '');
  const types = Object.entries(TYPES).map(
    ([file, names]) => `export type { ${names.join(', ')} } from './${file}.ts';`,
  );
  const all = [...values, ...types, `export type * from './${PRINTED}.ts';`].join('\n');
  put('index.d.ts', `${all.replaceAll(".ts';", ".js';")}\n`);
  put(`${PRINTED}.d.ts`, clientTypes());
  for (const [name, text] of declarations()) put(name, text);
  copyFileSync(join(ROOT, 'clients/typescript/package.json'), join(folder, 'package.json'));
  copyFileSync(join(ROOT, 'clients/typescript/README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

/** The declarations of clients/typescript/. Every import from the contract is redirected to the printed types. */
function declarations(): readonly (readonly [name: string, text: string])[] {
  const temporary = mkdtempSync(join(tmpdir(), 'tidemark-client-'));
  try {
    const files = [...new Set([...Object.keys(EXPORTS), ...Object.keys(TYPES)])].map(
      (name) => `clients/typescript/${name}.ts`,
    );
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true },
        ...{ rootDir: ROOT, outDir: temporary, typeRoots: [join(ROOT, 'node_modules/@types')] },
      },
      files: files.map((file) => join(ROOT, file)),
      include: [],
      exclude: [],
    };
    writeFileSync(join(temporary, 'tsconfig.json'), JSON.stringify(config));
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', temporary], {
      stdio: 'inherit',
    });
    const emitted = join(temporary, 'clients/typescript');
    return readdirSync(emitted)
      .filter((name) => name !== 'routes.d.ts')
      .map((name) => [name, withPrintedTypes(readFileSync(join(emitted, name), 'utf8'))]);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function withPrintedTypes(text: string): string {
  return text
    .replaceAll(/'\.\.\/\.\.\/contract\/[\w/-]+\.ts'|'\.\/routes\.ts'/g, `'./${PRINTED}.js'`)
    .replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
}

if (import.meta.main) {
  readCommandLine('usage: npm run build:client', {}, 'no words');
  buildClient(join(ROOT, 'clients/typescript/dist'));
  console.log(`clients/typescript/dist: ${readdirSync(join(ROOT, 'clients/typescript/dist')).length} files`);
}
