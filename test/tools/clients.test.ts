/**
 * Clients that generators make from docs/openapi.json, compiled and used. Each lists the markets, reads a history, sends a
 * batch, reads its report, and reads a problem.
 */
import { copyFile, cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { GO_FLAGS } from '../aws/engines/engine.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { GO_MODULE } from './installations.ts';
import { succeed } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const CLIENTS = join(import.meta.dirname, 'clients');
const TYPES = join(import.meta.dirname, '../../node_modules/@types');
const MODULES = join(toolFolder('npm-tools'), 'node_modules');
const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');
const OAPI_CODEGEN = join(toolFolder('go-tools'), 'oapi-codegen');

const server = sampleServerForAll('all');
/** As the clients take it. */
const settings = () => ({ TIDEMARK_URL: server.url, TIDEMARK_KEY: server.key });

/** The sample has this many markets, and this newest price of gold. */
const EXPECTED = { markets: 175, newest: '4129.10', state: 'applied', accepted: 1, problem: 'not-found' };

describe('a generated client', () => {
  test('in TypeScript, by @hey-api/openapi-ts, in strict mode', async () => {
    const folder = await temporaryFolder();
    const node = (script: string, args: readonly string[], env?: NodeJS.ProcessEnv) =>
      succeed(folder, process.execPath, [script, ...args], env);
    const generator = join(MODULES, '@hey-api/openapi-ts/bin/run.js');
    await node(generator, [
      '--input',
      OPENAPI_FILE,
      '--output',
      'client',
      '--client',
      '@hey-api/client-fetch',
      '--silent',
    ]);
    await copyFile(join(CLIENTS, 'typescript/use.mts'), join(folder, 'use.ts'));
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
    const target = [
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
      '--module',
      'commonjs',
      '--outDir',
      'built',
    ];
    await node(join(MODULES, 'typescript/bin/tsc'), [
      ...strict,
      ...target,
      '--typeRoots',
      TYPES,
      '--types',
      'node',
      'use.ts',
    ]);
    const { stdout } = await node('built/use.js', [], settings());
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  });

  test('in Python, by openapi-python-client', async () => {
    const folder = await temporaryFolder();
    const options = [
      '--meta',
      'none',
      '--output-path',
      'tidemark_client',
      '--config',
      join(CLIENTS, 'python/config.yaml'),
    ];
    const generator = ['-m', 'openapi_python_client', 'generate', '--path', OPENAPI_FILE, ...options];
    const { output } = await succeed(folder, PYTHON, generator);
    // The generator knows no lines of JSON, and few other types: such a client sends batches as JSON, reads whole
    // histories by page, and leaves parts of exports to other tools.
    const files = [
      '/api/v1/markets/{slug}/history.ndjson',
      '/api/v1/markets/{slug}/history/{year}.ndjson',
      '/api/v1/latest/{part}.ndjson',
      '/feeds/changes.atom',
      '/feeds/corrections.atom',
      '/feeds/markets/{slug}.atom',
      '/feeds/incidents.atom',
      '/badges/{slug}.svg',
      '/api/v1/log/ndjson/{n}.gz',
      '/api/v1/log/ndjson/{n}.p/{width}.gz',
      '/api/v1/exports/parts/{file}.parquet',
      '/api/v1/exports/parts/{file}.ndjson.gz',
      '/api/v1/exports/parts/{file}.csv.gz',
    ];
    const warnings = files.map((file) => `WARNING parsing GET ${file} within public_reads.`);
    expect(output.match(/^WARNING.*|^Unsupported.*/gm)).toEqual([
      // With status 200 and with 206.
      ...warnings.flatMap((warning) => [warning, warning]),
      'WARNING parsing POST /api/v1/ingest/batches within ingest.',
      'Unsupported content type application/x-ndjson',
    ]);
    await copyFile(join(CLIENTS, 'python/use.py'), join(folder, 'use.py'));
    const { stdout } = await succeed(folder, PYTHON, ['use.py'], settings());
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  });

  test('in Go, by oapi-codegen', async () => {
    const folder = await temporaryFolder();
    await cp(GO_MODULE, folder, { recursive: true });
    await mkdir(join(folder, 'tidemark'));
    await succeed(folder, OAPI_CODEGEN, ['-config', 'oapi-codegen.yaml', OPENAPI_FILE]);
    await succeed(folder, 'go', ['build', '-o', 'client', '.'], GO_FLAGS);
    const { stdout } = await succeed(folder, join(folder, 'client'), [], settings());
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  });
});
