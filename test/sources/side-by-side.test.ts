/** Several sources: one that is slow, and one whose answers fill the archive. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { SourceRun } from '../../contract/operations/sources.ts';
import type { FetchAnswer } from '../../lambdas/sources/fetch/fetch-source.ts';
import { RunPool } from '../../lambdas/sources/run/run-pool.ts';
import { metalsCsv, recipeWith } from './example-recipe.ts';
import { ok, openSourceWorld, type SourceWorld } from './source-world.ts';

const DAY = metalsCsv(['gold', '2026-11-18', '4129.10']);
const DUE = Date.parse('2026-11-20T16:30:00Z');
const ended = (run?: SourceRun) => `${run?.outcome ?? run?.state} ${run?.reason?.code ?? ''}`.trim();

let world: SourceWorld;
beforeEach(() => {
  world = openSourceWorld();
});

async function addSlow(number: number): Promise<string> {
  const name = `slow-${number}`;
  const body = recipeWith({ name, url: `https://metals.test.example/${name}.csv` });
  const headers = { 'if-none-match': '*' };
  expect((await world.api.call({ method: 'PUT', path: `/api/v1/sources/${name}`, body, headers })).status).toBe(200);
  return name;
}

test('slow sources do not hold up another one, and are asked once', async () => {
  await world.add();
  for (const number of [1, 2, 3]) await addSlow(number);
  const slow = Promise.withResolvers<FetchAnswer>();
  const asked: string[] = [];
  const ask = async ({ url }: { readonly url: string }) => {
    asked.push(url.slice(url.lastIndexOf('/') + 1));
    return url.includes('slow') ? await slow.promise : ok(DAY);
  };
  world.api.nowMs = DUE;
  const pool = new RunPool();
  const moment = () => new Promise<void>((resolve) => setImmediate(resolve));
  const patience = async () => {
    while (pool.size > 3) await moment();
  };
  for (let rounds = 0; rounds < 4; rounds++) {
    await world.round({ ask }, pool, patience);
    await world.work();
    world.api.nowMs += 1_000;
  }
  expect(ended((await world.runs())[0])).toBe('taken-in');
  expect(asked.sort()).toEqual(['daily.csv', 'slow-1.csv', 'slow-2.csv', 'slow-3.csv']);
  slow.resolve(ok(DAY));
  await pool.settled();
  await world.settle();
  for (const number of [1, 2, 3]) {
    const { json } = await world.api.call({ path: `/api/v1/sources/slow-${number}/runs` });
    expect(json.data.map(ended)).toEqual(['taken-in']);
  }
  expect(asked).toHaveLength(4);
  expect(world.failures).toEqual([]);
});

describe('the archive', () => {
  const answer = (number: number) => ok(metalsCsv(['gold', '2026-11-18', `4129.${10 + number}`]));

  test('of a source has a bound, at which the source is asked no more', async () => {
    const { length } = metalsCsv(['gold', '2026-11-18', '4129.10']);
    const bounded = (archiveBytes: number) => recipeWith({ limits: { archiveBytes } });
    await world.add(bounded(2 * length));
    const outcomes: string[] = [];
    for (let run = 0; run < 3; run++) {
      world.answers = [answer(run)];
      await world.run({});
      outcomes.push(ended((await world.runs())[0]));
    }
    expect(outcomes).toEqual(['taken-in', 'taken-in', 'failed archive-full']);
    expect(world.requests).toHaveLength(2);
    const { headers } = await world.api.call({ path: '/api/v1/sources/metals' });
    await world.add(bounded(10 * length), { 'if-match': headers.etag as string });
    await world.run({});
    expect(ended((await world.runs())[0])).toBe('taken-in');
  });

  test('counts the same answer once', async () => {
    const bytes = answer(0);
    const { length } = metalsCsv(['gold', '2026-11-18', '4129.10']);
    await world.add(recipeWith({ limits: { archiveBytes: length + 1 } }));
    world.answers = [bytes];
    for (let run = 0; run < 3; run++) await world.run({});
    expect((await world.runs()).map(ended)).toEqual(['unchanged', 'unchanged', 'taken-in']);
  });

  test('takes nothing that the disk has no room for', async () => {
    await world.add();
    world.answers = [answer(0)];
    await world.ask({});
    await world.round({ hasRoom: async () => false });
    expect(ended((await world.runs())[0])).toBe('failed no-room');
    expect(world.archive.files.size).toBe(0);
  });
});
