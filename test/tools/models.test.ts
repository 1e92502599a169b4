/** What a call costs by programs that read our prices of language models: litellm and genai-prices, before a change and after it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../server/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('model-tools'), 'bin', 'python');
const PROGRAMS = join(import.meta.dirname, 'models');
const DOCS = readFileSync(join(import.meta.dirname, '../../docs/compat.md'), 'utf8');
const LUNA = 'gpt-5.6-luna';

let compat = '';

beforeAll(async () => {
  const { folder, remove } = await makeTemporaryFolder();
  const server = startServer({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'models', TIDEMARK_PROJECTIONS: 'compat' });
  compat = `${await server.started}/api/v1/compat`;
  while (!(await fetch(`${compat}/litellm/index.json`)).ok) await setTimeout(500);
  return async () => {
    await server.end('SIGTERM');
    await remove();
  };
});

describe('litellm', () => {
  /** With the settings of docs/compat.md, unless others are given. */
  const SETTINGS = Object.fromEntries(
    [...DOCS.matchAll(/^export (MODEL_COST_MAP\w+)=(\S+)$/gm)].map(([, ...pair]) => pair),
  );
  async function costs(file: string, settings: NodeJS.ProcessEnv = SETTINGS) {
    const env = { LITELLM_MODEL_COST_MAP_URL: `${compat}/litellm/${file}.json`, ...settings };
    const models = [LUNA, 'deepseek/deepseek-chat', 'gpt-4o'];
    const { exitCode, stdout } = await runTool(PYTHON, ['litellm_cost.py', ...models], { cwd: PROGRAMS, env });
    expect(exitCode).toBe(0);
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) as string) as {
      readonly source: string;
      readonly models: number;
      readonly costs: Readonly<Record<string, readonly [number, number] | null>>;
    };
  }

  test('takes our map, and prices each call as on that day', async () => {
    expect(Object.keys(SETTINGS)).toHaveLength(1);
    const { days } = (await (await fetch(`${compat}/litellm/index.json`)).json()) as { days: Record<string, string> };
    const before = Object.keys(days).findLast((day) => day < '2026-08-09') as string;
    const now = await costs('latest');
    expect(now).toMatchObject({ source: 'remote', models: 59 });
    const rounded = (cost: readonly number[] | null | undefined) => cost?.map((each) => each.toFixed(9));
    expect(rounded(now.costs[LUNA])).toEqual(['0.200000000', '1.200000000']);
    expect(rounded(now.costs['deepseek/deepseek-chat'])).toEqual(['0.280000000', '0.420000000']);
    const then = await costs(before);
    expect(then.source).toBe('remote');
    expect(rounded(then.costs[LUNA])).toEqual(['1.000000000', '6.000000000']);
    expect(rounded(then.costs['gpt-4o'])).toEqual(rounded(now.costs['gpt-4o']));
  });

  test.each([
    ['a day without a file', '2026-08-01', SETTINGS],
    ['a map with fewer models than its own, without the setting', 'latest', {}],
  ])('takes its own map, silently, for %s: so readers must look', async (_, file, settings) => {
    expect(await costs(file, settings)).toMatchObject({ source: 'local' });
  });
});

test('genai-prices knows what a call cost on each day', async () => {
  const days = ['2026-08-08', '2026-08-09', '2026-11-01'];
  const args = ['genai_cost.py', `${compat}/genai-prices/latest.json`, 'openai', LUNA, ...days];
  const { exitCode, stdout, output } = await runTool(PYTHON, args, { cwd: PROGRAMS });
  expect([exitCode, output]).toEqual([0, stdout]);
  const costs = JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
  expect(Object.values(costs).map((pair) => pair.map(Number))).toEqual([
    [1, 6],
    [0.2, 1.2],
    [0.2, 1.2],
  ]);
});
