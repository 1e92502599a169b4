/** The bundled sample never comes into a folder of somebody's own data. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import { tidemark } from '../cli/tidemark.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type ServerProcess, startServerForTest } from './server-process.ts';

const TEA = {
  type: 'market',
  slug: 'tea-usd',
  name: 'Tea, US dollar',
  kind: 'food',
  nativeCurrency: 'USD',
  unit: { quantity: 1, of: 'kilogram' },
};

async function shown(server: ServerProcess): Promise<{ readonly slugs: readonly string[]; readonly log: string }> {
  const url = await server.started;
  const { data } = (await (await fetch(`${url}/api/v1/markets`)).json()) as { data: { slug: string }[] };
  const log = (await (await fetch(`${url}/api/v1/log/checkpoint`)).text()).split('\n')[1] ?? '';
  return { slugs: data.map(({ slug }) => slug), log };
}

test('a folder with own data gets no sample from a later start, which says nothing of a sample', async () => {
  const folder = await temporaryFolder();
  const begun = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'no' });
  await begun.started;
  const file = join(await temporaryFolder(), 'tea.ndjson');
  await writeFile(file, `${JSON.stringify(TEA)}\n`);
  expect(await tidemark(['ingest', file, '--data', folder])).toMatchObject({ code: 0 });
  const before = await shown(begun);
  expect(before.slugs).toEqual(['tea-usd']);
  await begun.end('SIGKILL');

  const next = startServerForTest({ TIDEMARK_DATA: folder });
  expect(await shown(next)).toEqual(before);
  expect(next.output()).not.toMatch(/sample|gold-usd/i);
  expect(next.output()).toContain('1 market, 0 observations');
});

test('a folder that was begun without the sample stays without it while it is empty, and refuses --sample', async () => {
  const folder = await temporaryFolder();
  const begun = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'no' });
  await begun.started;
  await begun.end('SIGKILL');

  const asked = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'yes' });
  expect(await asked.ended).toBe(1);
  expect(asked.errors().trimEnd().split('\n')).toEqual([expect.stringContaining('begun without a sample')]);

  expect(await shown(startServerForTest({ TIDEMARK_DATA: folder }))).toMatchObject({ slugs: [] });
});

test('a folder that was begun with the models has them alone, and refuses the currencies', async () => {
  const folder = await temporaryFolder();
  const begun = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'models', TIDEMARK_PROJECTIONS: 'all' });
  const { slugs } = await shown(begun);
  expect(slugs).toHaveLength(59);
  expect(await (await fetch(`${await begun.started}/api/v1/markets/gpt-4o`)).json()).toMatchObject({
    metrics: {
      price: null,
      inputPrice: { decimal: '2.50', rounded: false, sourceUrl: 'https://pypi.org/project/litellm/1.80.5/' },
      contextWindow: { value: '128000', unit: 'token' },
      maxOutput: { value: '16384' },
    },
    attributes: { provider: { value: 'openai' }, mode: { value: 'chat', sourceLabel: 'LiteLLM' } },
    sources: [{ licence: 'MIT', label: 'LiteLLM' }],
  });
  const { data } = (await (await fetch(`${await begun.started}/api/v1/latest`)).json()) as { data: LatestEntry[] };
  const inputPrice = { decimal: '2.50', decimalPerUnit: '0.0000025', unit: 'USD', observedAt: '2025-11-22T23:41:39Z' };
  const { observedAt } = inputPrice;
  expect(data.find(({ slug }) => slug === 'gpt-4o')).toMatchObject({
    ...{ decimal: null, observedAt: null, metrics: { inputPrice, contextWindow: { decimal: '128000', observedAt } } },
  });
  expect(await tidemark(['verify', await begun.started, '--log'])).toMatchObject({ code: 0 });
  await begun.end('SIGKILL');

  const asked = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'currencies' });
  expect(await asked.ended).toBe(1);
  expect(asked.errors()).toContain('begun with the sample models');

  const next = startServerForTest({ TIDEMARK_DATA: folder });
  expect((await shown(next)).slugs).toEqual(slugs);
  expect(next.output()).toContain('/api/v1/markets/claude-opus-5-5');
});
