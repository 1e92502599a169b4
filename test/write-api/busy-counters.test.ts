/** The counters of what a feed sends most: on DynamoDB, writes at once take from reserves, and no limit is ever exceeded. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { usageKey } from '../../storage/records/accounts.ts';
import { ModelledTime, openModelledLedger } from '../ingest/modelled-ledger.ts';
import { market } from '../publisher/world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { ENGINES, type Engine } from './engines.ts';
import { type ApiWorld, openApiWorld, START_MS } from './world.ts';

const DAY = '2026-11-20';
const BATCHES = 'ingest-batches-per-day';
const ROWS = 'ingest-rows-per-day';
const LIMITS = { [BATCHES]: 100_000, [ROWS]: 1_000_000 } as const;
const ALICE = { subject: 'user:alice', actor: 'user:alice', nowMs: START_MS };

const send = async (world: ApiWorld, rows: number, key?: string) =>
  await world.call({
    method: 'POST',
    path: '/api/v1/ingest/batches',
    body: { mode: 'append', records: Array.from({ length: rows }, (_, row) => market(`m-${row}`)) },
    ...(key === undefined ? {} : { key }),
  });

/** As if all but this much had been used today, by a version that has no reserves. */
async function leave(ledger: Ledger, feature: typeof BATCHES | typeof ROWS, left: number): Promise<void> {
  await putItem(ledger, usageKey(ALICE.subject, feature, DAY), LIMITS[feature] - left);
}

/** As the subject reads it. */
async function used(world: ApiWorld, feature: string): Promise<number> {
  const { json } = await world.call({ path: '/api/v1/entitlements' });
  return json.entitlements.find((one: { feature: string }) => one.feature === feature).used;
}

const processes = (ledger: Ledger): readonly ApiWorld[] => [
  ...['one', 'two', 'three'].map((process) => openApiWorld({ ledger, process, usesReserves: true })),
  openApiWorld({ ledger, process: 'version-before' }),
];

test('any writers at once never exceed a limit, and reach it to the last unit', async () => {
  const write = fc.record({ process: fc.nat(3), rows: fc.integer({ min: 1, max: 4 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60 }),
      fc.constantFrom<[typeof BATCHES, typeof ROWS]>(BATCHES, ROWS),
      fc.array(fc.array(write, { minLength: 1, maxLength: 12 }), { maxLength: 6 }),
      async (left, feature, waves) => {
        const ledger = openMemoryLedger();
        await leave(ledger, feature, left);
        const worlds = processes(ledger);
        let accepted = 0;
        const amountOf = (rows: number) => (feature === ROWS ? rows : 1);
        for (const wave of waves) {
          const answers = await Promise.all(
            wave.map(
              async ({ process, rows }) => [rows, (await send(worlds[process] as ApiWorld, rows)).status] as const,
            ),
          );
          for (const [rows, status] of answers) {
            expect([202, 429, 503]).toContain(status);
            if (status === 202) accepted += amountOf(rows);
          }
          expect(accepted).toBeLessThanOrEqual(left);
        }
        const [world] = worlds as [ApiWorld];
        expect(await used(world, feature)).toBe(LIMITS[feature] - left + accepted);
        while ((await send(world, 1)).status === 202) accepted++;
        expect(accepted).toBe(left);
        expect(await used(world, feature)).toBe(LIMITS[feature]);
        expect((await send(world, 1)).json).toMatchObject({ status: 429, code: 'daily-quota-exceeded' });
      },
    ),
    { numRuns: 6 },
  );
});

describe.each(ENGINES)('on %s, a write that takes from a reserve', (_, open) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await open();
  });
  afterEach(() => engine.close());

  test('is counted once, however often it is sent', async () => {
    const world = openApiWorld({ ledger: engine.ledgers[0], usesReserves: true });
    const first = await send(world, 3, 'one-and-the-same-key');
    const second = await send(world, 3, 'one-and-the-same-key');
    expect([second.text, second.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    expect([await used(world, ROWS), await used(world, BATCHES)]).toEqual([3, 1]);
  });

  /** The first limit lies where no reserve is used, the second where they are. */
  test.each([82, 100_000])('keeps to a limit that was lowered to %i after reserves had taken more', async (limit) => {
    const [ledger] = engine.ledgers;
    const world = openApiWorld({ ledger, usesReserves: true });
    const grant = (limit: number, revision: string) =>
      world.call({
        method: 'PUT',
        path: `/api/v1/entitlements/user:alice/${BATCHES}`,
        as: 'operator',
        body: { limit },
        headers: revision === '' ? { 'if-none-match': '*' } : { 'if-match': revision },
      });
    await putItem(ledger, usageKey(ALICE.subject, BATCHES, DAY), limit - 82);
    expect((await grant(1_000_000, '')).status).toBe(200);
    for (let count = 0; count < 80; count++) expect((await send(world, 1)).status).toBe(202);
    expect((await grant(limit, '*')).status).toBe(200);
    const statuses = await Promise.all([1, 2, 3].map(async () => (await send(world, 1)).status));
    expect(statuses.sort()).toEqual([202, 202, 429]);
    expect(await used(world, BATCHES)).toBe(limit);
    expect((await grant(5, '*')).status).toBe(200);
    expect((await send(world, 1)).json.detail).toContain(`${limit} of 5 used`);
    expect((await grant(200_000, '*')).status).toBe(200);
    expect((await send(world, 1)).status).toBe(202);
    expect(await used(world, BATCHES)).toBe(limit + 1);
  });
});

test('eight writers at once with one credential conflict half as often, and take a third of the time', async () => {
  const effort = async (usesReserves: boolean) => {
    const time = new ModelledTime(7);
    const ledger = openModelledLedger(time);
    const world = openApiWorld({ ledger, usesReserves });
    const writer = async (_: unknown, number: number) => {
      // As clients do, it sends again what was not taken in.
      for (let count = 0; count < 20; )
        count += (await send(world, 1, `writer-${number}-write-${count}`)).status === 202 ? 1 : 0;
    };
    // The first writes of a day fill the reserves.
    const fill = async () => {
      for (let count = 0; count < 80; count++) await send(world, 1);
    };
    await time.pass(fill());
    const [startedMs, conflictsBefore] = [time.nowMs(), ledger.counts.conflicts];
    await time.pass(Promise.all(Array.from({ length: 8 }, writer)));
    return { conflicts: ledger.counts.conflicts - conflictsBefore, seconds: (time.nowMs() - startedMs) / 1000 };
  };
  const [before, after] = [await effort(false), await effort(true)];
  expect(after.conflicts).toBeLessThan(before.conflicts / 2);
  expect(after.seconds).toBeLessThan(before.seconds / 3);
});
