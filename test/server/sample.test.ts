/** The bundled sample never comes into a folder of somebody's own data. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import { ingestSample } from '../../server/commands/sample.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { openRecordedLedger, type RecordedLedger, recordsOf } from '../ingest/recorded-ledger.ts';
import { ProcessDied } from '../publisher/faulty-storage.ts';
import { market } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type ServerProcess, startServerForTest } from './server-process.ts';

async function shown(server: ServerProcess): Promise<{ readonly slugs: readonly string[]; readonly log: string }> {
  const url = await server.started;
  const { data } = (await (await fetch(`${url}/api/v1/markets`)).json()) as { data: { slug: string }[] };
  const log = (await (await fetch(`${url}/api/v1/log/checkpoint`)).text()).split('\n')[1] ?? '';
  return { slugs: data.map(({ slug }) => slug), log };
}

test('a folder that was begun without the sample refuses it, and stays without it: empty, and with own data', async () => {
  const folder = await temporaryFolder();
  const begun = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'no' });
  await begun.started;
  await begun.end('SIGKILL');

  const asked = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'yes' });
  expect(await asked.ended).toBe(1);
  expect(asked.errors().trimEnd().split('\n')).toEqual([expect.stringContaining('begun without a sample')]);

  const empty = startServerForTest({ TIDEMARK_DATA: folder });
  expect(await shown(empty)).toMatchObject({ slugs: [] });
  const file = join(await temporaryFolder(), 'tea.ndjson');
  await writeFile(file, `${JSON.stringify(market('tea-usd'))}\n`);
  expect(await tidemark(['ingest', file, '--data', folder])).toMatchObject({ code: 0 });
  const before = await shown(empty);
  expect(before.slugs).toEqual(['tea-usd']);
  await empty.end('SIGKILL');

  const next = startServerForTest({ TIDEMARK_DATA: folder });
  expect(await shown(next)).toEqual(before);
  expect(next.output()).not.toMatch(/sample|gold-usd/i);
  expect(next.output()).toContain('1 market, 0 observations');
});

test('a folder that was begun with the models has them alone, and refuses the currencies', async () => {
  const folder = await temporaryFolder();
  const begun = startServerForTest({
    TIDEMARK_DATA: folder,
    TIDEMARK_SAMPLE: 'models',
    TIDEMARK_PROJECTIONS: 'log,latest',
  });
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
  const lines = (await (await fetch(`${await begun.started}/api/v1/latest/all.ndjson`)).text())
    .split('\n')
    .slice(0, -1);
  const data = lines.map((line) => JSON.parse(line) as LatestEntry);
  const inputPrice = { decimal: '2.50', decimalPerUnit: '0.0000025', unit: 'USD', observedAt: '2025-11-22T23:41:39Z' };
  const { observedAt } = inputPrice;
  expect(data.find(({ slug }) => slug === 'gpt-4o')).toMatchObject({
    ...{ decimal: null, observedAt: null, unknownReason: 'not-observed' },
    metrics: { inputPrice, contextWindow: { decimal: '128000', observedAt } },
  });
  expect(await tidemark(['verify', await begun.started, '--log'])).toMatchObject({ code: 0 });
  await begun.end('SIGKILL');

  const asked = startServerForTest({ TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'currencies' });
  expect(await asked.ended).toBe(1);
  expect(asked.errors()).toContain('begun with the sample models');
  expect(asked.output()).not.toContain('✔');

  const next = startServerForTest({ TIDEMARK_DATA: folder });
  expect((await shown(next)).slugs).toEqual(slugs);
  expect(next.output()).toContain('/api/v1/markets/claude-opus-5-5');
});

describe('the sample is taken in', () => {
  const take = async (ledger: Ledger, nowMs = Date.parse('2026-12-01T00:00:00Z')) => {
    let attempts = 0;
    let records: number | null = null;
    const dependencies = { ledger, nowMs: () => nowMs, newAttemptId: () => `attempt-${nowMs}-${++attempts}` };
    const ingested = (count: number | null) => {
      records = count;
    };
    await ingestSample(dependencies, { sample: 'models', dataFolder: 'data' }, { ingesting() {}, ingested });
    return records;
  };

  test('once, also if a process dies after any transaction', async () => {
    const undisturbed = openRecordedLedger();
    const records = await take(undisturbed);
    const shown = async (ledger: RecordedLedger) => recordsOf(await ledger.dump());
    const expected = await shown(undisturbed);
    const total = undisturbed.transactions.length;
    for (const share of [0, 0.4, 1]) {
      const ledger = openRecordedLedger();
      const deadly = Math.round(share * (total - 1));
      let transactions = 0;
      const dying: Ledger = {
        ...ledger,
        async transact(changes, options) {
          if (transactions > deadly) throw new ProcessDied('after its death');
          const result = await ledger.transact(changes, options);
          if (transactions++ === deadly) throw new ProcessDied('after a transaction');
          return result;
        },
      };
      await expect(take(dying)).rejects.toThrow(ProcessDied);
      expect(await take(ledger)).toBe(share === 1 ? null : records);
      expect(await shown(ledger)).toEqual(expected);
    }
  });

  test('is refused under a clock that is behind, until it is right', async () => {
    const ledger = openRecordedLedger();
    await expect(take(ledger, Date.parse('2025-06-01T00:00:00Z'))).rejects.toThrow(/models.csv, line \d+.*clock/);
    expect([...(await ledger.dump()).keys()].filter((key) => key.includes(' faults/'))).toEqual([]);
    expect(await take(ledger)).toBeGreaterThan(59);
  });
});
