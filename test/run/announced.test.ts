/** Tomorrow's power in a scheduled job: announced today, effective in the run after its moment, also after a kill. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import { openRunWorld, verify } from './run-world.ts';

const HOUR_MS = 3_600_000;
const shifted = `--import ${join(import.meta.dirname, '../torture/shifted-clock.ts')}`;
const dying = `${shifted} --import ${join(import.meta.dirname, '../server/die-at-rename.ts')}`;

const MAPPING = {
  match: [],
  market: {
    ...{ slug: 'power-de', name: 'Power, day ahead', kind: 'power', nativeCurrency: 'EUR' },
    unit: { quantity: '1', of: 'MWh' },
  },
  observation: {
    value: { column: 'price', rounding: 'refuse' },
    currency: 'EUR',
    date: { column: 'hour', format: 'YYYY-MM-DDTHH:mm:ssZ', precision: 'instant' },
    announced: 'when-ahead',
    ...{ sourceLabel: 'An exchange', sourceUrl: 'https://exchange.example/', confidence: 'high', status: 'final' },
  },
};

test('hours of power are announced, and effective at their moments, by a job that may be killed or lose its disk', async () => {
  const world = await openRunWorld();
  const [csv, mapping, clock] = ['hours.csv', 'mapping.json', 'clock'].map((name) => join(world.folder, name)) as [
    string,
    string,
    string,
  ];
  const first = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const hour = (index: number) => new Date(first + index * HOUR_MS).toISOString().replace('.000Z', 'Z');
  const lines = Array.from({ length: 24 }, (_, index) => `${hour(index - 9)},${50 + index}.5`);
  await writeFile(csv, `hour,price\n${lines.join('\n')}\n`);
  await writeFile(mapping, JSON.stringify(MAPPING));
  const run = async (hours: number, words: readonly string[] = [], hooks = shifted, rename = 0) => {
    await writeFile(clock, String(hours * HOUR_MS));
    const environment = { NODE_OPTIONS: hooks, TORTURE_CLOCK: clock, DIE_AT_RENAME: String(rename) };
    return await world.run(['--to', world.target, ...words], environment);
  };
  const shown = async () => {
    const { metrics, announced } = JSON.parse(
      await readFile(join(world.target, 'api/v1/markets/power-de.json'), 'utf8'),
    ) as Market;
    return [metrics.price?.observedAt, announced?.price?.observedAt];
  };

  expect(await run(-6, [csv, '--mapping', mapping])).toMatchObject({ code: 0, report: { observations: 24 } });
  expect(await shown()).toEqual([hour(-6), hour(-5)]);
  // The same file again: nothing of it is news.
  expect((await run(-4, [csv, '--mapping', mapping])).code).toBe(0);
  expect(await shown()).toEqual([hour(-4), hour(-3)]);
  await run(-2, [], dying, 5);
  expect((await run(-2)).code).toBeLessThan(5);
  expect(await shown()).toEqual([hour(-2), hour(-1)]);
  await rm(world.data, { recursive: true });
  expect((await run(0, ['--from-log'])).code).toBe(0);
  expect(await shown()).toEqual([hour(0), hour(1)]);
  expect(await verify(world.target)).toMatchObject({ code: 0 });
});
