/** A dry run of a file says what the real run says, over all its parts, and changes nothing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { createUploadRunner } from '../../lambdas/ingest/run-upload.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { MARKET_INDEX, marketKey, observationsOf } from '../../storage/records/markets.ts';
import { FRESH_MARKS } from '../../storage/records/publication.ts';
import { ingest } from '../ingest/ingest.ts';
import { workOff } from '../ingest/work-off.ts';
import { market, price } from '../publisher/world.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

/** Parts of three lines. */
const LIMITS = { maxLines: 3, maxBytes: 1024 * 1024, maxLineBytes: 128 * 1024 };

const strict = (record: IngestRecordInput) => ({ ...record, outlierConfirmed: false }) as IngestRecordInput;
const KNOWN = [market('known'), ...[0, 1, 2, 3].map((day) => price('known', 10 * day, 1_000 + day))];

async function openWorld(): Promise<ApiWorld> {
  const world = heldToSchemas(openApiWorld());
  let attempts = 0;
  const nowMs = () => world.nowMs;
  await ingest({ ledger: world.ledger, nowMs, newAttemptId: () => `seed-${++attempts}` }, KNOWN);
  return world;
}

/** Announces the file, puts it, works it off, and reads the upload and the reports of its refused parts. */
async function run(
  world: ApiWorld,
  records: readonly unknown[],
  dryRun: boolean,
  mode: IngestMode,
  hasManyWorkers = false,
) {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const bytes = Buffer.from(text);
  const body = { sha256: sha256Hex(text), bytes: bytes.length, records: records.length, mode, dryRun };
  const { status, json } = await world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body });
  expect([status, json.dryRun]).toEqual([201, dryRun]);
  world.uploads.put(json.id, bytes);
  let attempts = 0;
  const common = { ledger: world.ledger, uploads: world.uploads, limits: LIMITS, nowMs: () => world.nowMs };
  const dependencies = { ...common, newAttemptId: () => `worker-${json.id}-${++attempts}` };
  await queueUpload(dependencies, json.id);
  // A new worker for each part has nothing of the earlier ones in memory.
  const next = () => createUploadRunner({ ...dependencies })(json.id);
  if (hasManyWorkers) while ((await next()) !== 'done');
  await workOff(dependencies);
  const upload = (await world.call({ path: `/api/v1/ingest/uploads/${json.id}` })).json;
  const faults: unknown[] = [];
  for (const { batch } of upload.refusedIn) {
    const report = (await world.call({ path: `/api/v1/ingest/batches/${batch}` })).json;
    expect(report.state).toBe(dryRun ? 'examined' : 'applied');
    faults.push(...report.errors);
  }
  return { upload, faults };
}

/** Everything that a dry run must leave alone. */
async function marketsOf({ ledger }: ApiWorld) {
  const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  return {
    records: await ledger.getMany(slugs.map(marketKey)),
    histories: await Promise.all(slugs.map((slug) => readAll(ledger, observationsOf(slug)))),
    marks: await readAll(ledger, FRESH_MARKS),
  };
}

async function expectSame(records: readonly unknown[], mode: IngestMode = 'append', hasManyWorkers = false) {
  const [dry, real] = [await openWorld(), await openWorld()];
  const before = await marketsOf(dry);
  const examined = await run(dry, records, true, mode, hasManyWorkers);
  expect(await marketsOf(dry)).toEqual(before);
  const applied = await run(real, records, false, mode);
  expect(examined.faults).toEqual(applied.faults);
  expect(examined.upload.counts).toEqual(applied.upload.counts);
  expect(examined.upload.done).toEqual(applied.upload.done);
  expect([examined.upload.state, applied.upload.state]).toEqual(['examined', 'applied']);
  expect(examined.upload.generation).toBeNull();
  return examined;
}

/** A market in part 1, observations of it in part 3; then a duplicate, a conflict and an outlier of earlier parts. */
const FILE: readonly IngestRecordInput[] = [
  market('new'),
  ...[1, 2].map((day) => price('known', 100 + day, 1_100)),
  ...[3, 4, 5].map((day) => price('known', 100 + day, 1_100)),
  ...[0, 1, 2].map((day) => strict(price('new', day, 500))),
  price('new', 0, 500),
  price('new', 1, 501),
  strict(price('new', 3, 500_000)),
  market('new'),
  price('nowhere', 0, 1),
];

describe('a dry run of a file of several parts', () => {
  test('knows the markets and the observations of earlier parts', async () => {
    const { upload, faults } = await expectSame(FILE);
    expect(upload.counts).toEqual({ accepted: 9, unchanged: 2, refused: 3, newMarkets: 1 });
    expect(faults).toMatchObject([
      { line: 11, code: 'conflict.existing' },
      { line: 12, code: 'outlier' },
      { line: 14, code: 'market.unknown' },
    ]);
  });

  test('knows what earlier parts have corrected and retracted', async () => {
    const { sourceUrl } = price('known', 0, 1) as { sourceUrl: string };
    const observedAt = '2026-01-11T00:00:00Z';
    const retraction = { type: 'retraction', market: 'known', metric: 'price', observedAt, sourceUrl, reason: 'x' };
    await expectSame(
      [
        ...[price('known', 0, 1_500), price('known', 20, 1_500), price('known', 5, 1_200)],
        ...[retraction, price('known', 0, 1_500), strict(price('known', 21, 90_000))],
        ...[retraction, price('known', 10, 1_001), strict(price('known', 6, 1_210))],
      ],
      'correct',
    );
  });

  test('in any order of any records', async () => {
    const slug = fc.constantFrom('known', 'new', 'other');
    const record = fc.oneof(
      { weight: 1, arbitrary: slug.map((name) => market(name) as unknown) },
      {
        weight: 6,
        arbitrary: fc
          .tuple(slug, fc.nat({ max: 30 }), fc.constantFrom(1_000, 1_001, 1_500, 90_000), fc.boolean())
          .map(([name, day, amount, isSure]) => {
            const row = price(name, day, amount);
            return (isSure ? row : strict(row)) as unknown;
          }),
      },
      { weight: 1, arbitrary: fc.constant({ type: 'nonsense' } as unknown) },
    );
    const mode = fc.constantFrom<IngestMode>('append', 'correct');
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 15 }),
        mode,
        fc.boolean(),
        async (records, ...how) => {
          await expectSame(records, ...how);
        },
      ),
      { numRuns: 8 },
    );
  });
});
