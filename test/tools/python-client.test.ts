/** The client for Python: its own tests, the examples of its README, and its wheel in an empty environment. */
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sampleServerForAll } from '../server/sample-server.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { succeed } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'clients/python');
const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');
/** Of httpx: as the tools have them. */
const DEPENDENCIES = ['anyio', 'certifi', 'h11', 'httpcore', 'httpx', 'idna', 'typing-extensions'];

const server = sampleServerForAll('all');
let settings: NodeJS.ProcessEnv;

beforeAll(() => {
  const { url: TIDEMARK_URL, key: TIDEMARK_KEY } = server;
  settings = { TIDEMARK_URL, TIDEMARK_KEY, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
});

const outputOf = async (cwd: string, args: readonly string[], env = settings, program = PYTHON) =>
  (await succeed(cwd, program, args, env)).stdout;

test('its tests pass, and the examples of its README run against the service', async () => {
  const pytest = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-W', 'error', 'tests'];
  expect(await outputOf(PACKAGE, pytest, { ...settings, PYTHONPATH: 'src' })).toMatch(/\d\d passed/);
});

test('its types hold in the strict mode of mypy', async () => {
  const cache = await temporaryFolder();
  expect(await outputOf(PACKAGE, ['-m', 'mypy', '--cache-dir', cache])).toMatch(/^Success/);
});

test('its wheel works in an empty environment, with httpx alone', async () => {
  const folder = await temporaryFolder();
  cpSync(PACKAGE, join(folder, 'package'), { recursive: true });
  const wheels = join(folder, 'wheels');
  await outputOf(folder, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', wheels, './package']);
  const [wheel = ''] = readdirSync(wheels);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  expect(wheel).toBe(`tidemark_client-${version}-py3-none-any.whl`);
  await outputOf(folder, ['-m', 'venv', '--without-pip', 'empty']);
  const python = join(folder, 'empty/bin/python');
  const pins = readFileSync(join(import.meta.dirname, 'requirements.txt'), 'utf8').match(/^[\w-]+==\S+/gm) ?? [];
  const pinned = pins.filter((pin) => DEPENDENCIES.includes(pin.split('==')[0] as string));
  expect(pinned).toHaveLength(DEPENDENCIES.length);
  await outputOf(folder, [
    '-m',
    'pip',
    '--python',
    python,
    'install',
    '--quiet',
    '--no-deps',
    join(wheels, wheel),
    ...pinned,
  ]);
  // The examples have just written markets: a cache may have one of the two files from before, for 15 seconds.
  const program = [
    'import importlib.resources, os, tidemark_client as t',
    'assert importlib.resources.files(t).joinpath("py.typed").is_file()',
    'c = t.Client(os.environ["TIDEMARK_URL"])',
    'row = next(c.history("gold-usd"))',
    'print(repr(row["decimal"]), row["observedAt"].isoformat(), len(c.latest()) >= 175, len(list(c.markets())) >= 175)',
    'try: c.history_frame("gold-usd")',
    'except ImportError as error: print(error)',
  ].join('\n');
  expect((await outputOf(folder, ['-c', program], settings, python)).trim().split('\n')).toEqual([
    "Decimal('4129.10') 2026-09-29T00:00:00+00:00 True True",
    'history_frame needs pandas: pip install pandas',
  ]);
});

test('its licence is that of the service', () => {
  expect(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
});
