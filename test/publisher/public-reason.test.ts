/** Reasons for the public: of corrections and retractions, in histories, in the log, and wherever they are shown. */
import { describe, expect, test } from 'vitest';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { runAnnounced } from '../../lambdas/worker/run-announced.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { ingest } from '../ingest/ingest.ts';
import { readLog } from './log/test-log.ts';
import { begun, copyOf, loggedWorld, OWN_KEY } from './repair/world-from-log.ts';
import { itemsAt, market, price, publicObjects, retraction, SMALL_PAGES, scalar, type World } from './world.ts';

const REASON = 'The source printed two digits the wrong way round.';

const but = (record: IngestRecordInput, fields: object) => ({ ...record, ...fields }) as IngestRecordInput;

async function published(...records: readonly IngestRecordInput[]): Promise<World> {
  const world = loggedWorld();
  await world.ingest([market('a'), ...[0, 1, 2, 3, 4, 5].map((day) => price('a', day, 100 + day)), ...records]);
  await world.publishAll();
  return world;
}

const rowsOf = ({ read }: World) => itemsAt<PublicObservation>(read, historyUrl('a'));

/** Each version, oldest first, as its amount, its kind and its reason. */
async function versionsAt(world: World, day: number, metric = 'price') {
  const { observedAt } = price('a', day, 1) as unknown as { readonly observedAt: string };
  const rows = (await rowsOf(world)).filter(
    (row) => row.metric === metric && Date.parse(row.observedAt) === Date.parse(observedAt),
  );
  return rows
    .toReversed()
    .map((row) => `${row.kind === 'money' ? row.amountMinor : row.value} ${row.retraction} ${row.publicReason}`);
}

/** The walk finds nothing, and the log gives every byte. */
async function expectSound(world: World): Promise<void> {
  const reader = world.read;
  expect((await verify(reader, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
  const logged = await verifyLog(reader, { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES });
  expect(logged.findings).toEqual([]);
}

async function send(world: World, records: readonly IngestRecordInput[], mode: IngestMode = 'correct') {
  world.clock.nowMs += 1000;
  const { taken, accepted, unchanged, faults } = await ingest(world.dependencies, records, { mode });
  await world.publishAll();
  return { taken, accepted, unchanged, faults: faults.map(({ pointer, code }) => `${code} ${pointer}`) };
}

describe('a reason for the public', () => {
  test('is shown by the correction and by the retraction that has it, in the history and in the log', async () => {
    const world = await published(scalar('a', 0, '7'), scalar('a', 1, '8'));
    const records = [
      but(price('a', 0, 999), { publicReason: REASON }),
      retraction(price('a', 1, 101), { kind: 'mistake', publicReason: REASON }),
      retraction(price('a', 5, 105), { kind: 'withdrawn', publicReason: REASON }),
      retraction(price('a', 2, 102)),
      but(scalar('a', 0, '70'), { publicReason: REASON }),
      retraction(scalar('a', 1, '8'), { publicReason: REASON }),
    ];
    await send(world, records);
    expect(await Promise.all([0, 1, 5, 2].map((day) => versionsAt(world, day)))).toEqual([
      ['100 null undefined', `999 null ${REASON}`],
      ['101 null undefined', `null mistake ${REASON}`],
      ['105 null undefined', `null withdrawn ${REASON}`],
      ['102 null undefined', 'null null undefined'],
    ]);
    expect(await Promise.all([0, 1].map((day) => versionsAt(world, day, 'volume')))).toEqual([
      ['7 null undefined', `70 null ${REASON}`],
      ['8 null undefined', `null null ${REASON}`],
    ]);
    expect(await world.text(marketUrl('a'))).not.toContain('publicReason');
    const entries = (await readLog(world.objects)).filter((entry) => entry.type === 'observation');
    expect(entries.flatMap((entry) => ('publicReason' in entry ? [[entry.format, entry.publicReason]] : []))).toEqual(
      Array(5).fill([2, REASON]),
    );
    expect(entries.filter((entry) => !('publicReason' in entry)).every(({ format }) => format === 1)).toBe(true);
    await expectSound(world);
    const everything = [...publicObjects(world.objects).values()].join('\n');
    expect(everything).not.toContain('PRIVATE');
  });

  test('comes back with a ledger that is begun from the log', async () => {
    const world = await published(scalar('a', 0, '7'));
    await send(world, [
      but(price('a', 0, 999), { publicReason: REASON }),
      retraction(price('a', 1, 101), { kind: 'mistake', publicReason: REASON }),
      retraction(scalar('a', 0, '7'), { publicReason: REASON }),
    ]);
    const again = await begun(world, await copyOf(world.objects));
    await again.publishAll();
    expect(await versionsAt(again, 0)).toEqual(['100 null undefined', `999 null ${REASON}`]);
    await expectSound(again);
    // It is compared as before.
    expect(await send(again, [but(price('a', 0, 999), { publicReason: REASON })])).toMatchObject({ unchanged: 1 });
  });

  test('stays when an announced value becomes effective', async () => {
    const world = await published();
    const ahead = but(price('a', 0, 500), {
      observedAt: new Date(world.clock.nowMs + 3_600_000).toISOString(),
      announced: true,
    });
    await send(world, [ahead], 'append');
    await send(world, [but(ahead, { amountMinor: 501, publicReason: REASON })]);
    world.clock.nowMs += 3_600_000;
    const failed = (_: unknown, error: unknown) => {
      throw error;
    };
    expect((await runAnnounced({ ...world.dependencies, failed })).effective).toBe(1);
    await world.publishAll();
    expect((await rowsOf(world)).slice(0, 3).map(({ announced, publicReason }) => [announced, publicReason])).toEqual([
      [undefined, REASON],
      [true, REASON],
      [true, undefined],
    ]);
    await expectSound(world);
  });
});

describe('the same record again', () => {
  const other = 'The source has said why since.';
  const correction = but(price('a', 0, 999), { publicReason: REASON });
  const withdrawal = retraction(price('a', 0, 100), { kind: 'withdrawn', publicReason: REASON });
  const correctedTo = ['100 null undefined', `999 null ${REASON}`];
  const retracted = ['100 null undefined', `null withdrawn ${REASON}`];
  test.each([
    ['a correction, word for word', correction, correction, 'unchanged', correctedTo],
    [
      'a correction with another reason',
      correction,
      but(correction, { publicReason: other }),
      'accepted',
      [...correctedTo, `999 null ${other}`],
    ],
    [
      'a retraction with another reason',
      withdrawal,
      but(withdrawal, { publicReason: other }),
      'accepted',
      [...retracted, `null withdrawn ${other}`],
    ],
    [
      'a retraction with another reason, which leaves the kind out',
      withdrawal,
      retraction(price('a', 0, 1), { publicReason: other }),
      'accepted',
      [...retracted, `null withdrawn ${other}`],
    ],
  ] as const)('%s', async (_, first, second, outcome, versions) => {
    const world = await published();
    await send(world, [JSON.parse(JSON.stringify(first))]);
    const report = await send(world, [JSON.parse(JSON.stringify(second))]);
    expect(report).toMatchObject({ [outcome]: 1 });
    expect(await versionsAt(world, 0)).toEqual(versions);
    await expectSound(world);
  });
});

describe('is refused, and not lost,', () => {
  test.each([
    ['in the mode append', 'append', price('a', 0, 999), 'record.invalid'],
    ['of an observation that is not known', 'correct', price('a', 9, 1), 'observation.unknown'],
    ['of a value that is known already', 'correct', price('a', 0, 100), 'conflict.existing'],
    ['of a value that was retracted', 'correct', price('a', 1, 101), 'conflict.existing'],
  ] as const)('%s', async (_, mode, record, code) => {
    const world = await published();
    await send(world, [retraction(price('a', 1, 101), { kind: 'withdrawn' })]);
    const { taken, faults } = await send(world, [but(record, { publicReason: REASON })], mode);
    expect({ taken, faults }).toEqual({ taken: false, faults: [`${code} /publicReason`] });
    expect((await rowsOf(world)).filter((row) => 'publicReason' in row)).toEqual([]);
  });

  test('of a value that was retracted, it is taken with `reinstated`', async () => {
    const world = await published();
    await send(world, [retraction(price('a', 1, 101), { kind: 'withdrawn' })]);
    await send(world, [but(price('a', 1, 101), { publicReason: REASON, reinstated: true })]);
    expect((await versionsAt(world, 1)).at(-1)).toEqual(`101 null ${REASON}`);
  });

  test.each([
    ['an e-mail address', 'Ask desk@source.example about it.'],
    ['a mark that turns the direction of text', 'price \u202e0.1'],
    ['281 characters', 'x'.repeat(281)],
    ['no text', 5],
  ])('if it has %s', async (_, publicReason) => {
    const world = await published();
    const records = [but(price('a', 0, 999), { publicReason }), retraction(price('a', 1, 101), { publicReason })];
    const { faults } = await send(world, records);
    expect(faults).toEqual(['record.invalid /publicReason', 'record.invalid /publicReason']);
  });
});
