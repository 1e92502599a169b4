/**
 * The permissions of each function are enough: everything runs on ledgers that note what it would ask of IAM, and each role
 * allows what its function asks.
 */
import { describe, expect, it } from 'vitest';
import type { FunctionName } from '../../infra/deployment/permissions.ts';
import { hasOperatorKey, registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { publish } from '../../publisher/publish.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { assertApplied, resume } from '../../publisher/repair/resume.ts';
import { siteOf } from '../../publisher/site.ts';
import { checkFormat, claimFormat, type FormatDependencies } from '../../storage/ports/format.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { migrateLedger, moveItems } from '../../storage/ports/migrate-ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { MOVED_PARTITIONS } from '../../storage/records/format-3.ts';
import { FORMAT_KEY, OLDEST_FORMAT } from '../../storage/records/formats.ts';
import { marketKey, observationsOf } from '../../storage/records/markets.ts';
import { workOff } from '../ingest/work-off.ts';
import { diesAfter, faultyStorage } from '../publisher/faulty-storage.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { removeMarket } from '../publisher/remove-market.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { metalsCsv } from '../sources/example-recipe.ts';
import { failing, ok, openSourceWorld } from '../sources/source-world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { API_OPERATIONS, seedWorld, validCall } from '../write-api/valid-calls.ts';
import { type ApiWorld, openApiWorld } from '../write-api/world.ts';
import { roleOf } from './access.ts';
import { type AccessCall, allows, recordAccess, recordObjectAccess } from './recorded-access.ts';

const SLUGS = ['aluminium-usd', 'copper-usd', 'gold-usd', 'silver-usd', 'tin-usd'];

const DAY_MS = 24 * 60 * 60 * 1000;

/** The calls that the role of the function would refuse. */
function refused(name: FunctionName, calls: readonly AccessCall[]): readonly AccessCall[] {
  return calls.filter((call) => !allows(roleOf(name), call));
}

/** A world with markets, whose write API is recorded. */
async function openRecordedWorld(): Promise<{ world: ApiWorld; ledger: Ledger; asked: AccessCall[] }> {
  const ledger = openMemoryLedger();
  await seedWorld(openApiWorld({ ledger }));
  const asked: AccessCall[] = [];
  return { world: openApiWorld({ ledger: recordAccess(ledger, asked) }), ledger, asked };
}

let attempts = 0;
const newAttemptId = () => `worker-${++attempts}`;

/** Works off the queue. Returns its calls. */
async function work({ uploads, nowMs }: ApiWorld, inner: Ledger): Promise<AccessCall[]> {
  const asked: AccessCall[] = [];
  const ledger = recordAccess(inner, asked);
  await workOff({ ledger, uploads, newAttemptId, nowMs: () => nowMs });
  return asked;
}

/** Publishes, collects garbage three days later, and gives what both asked for. */
async function publishAll({ nowMs }: ApiWorld, inner: Ledger) {
  const objects = openMemoryObjects();
  const published: AccessCall[] = [];
  const collected: AccessCall[] = [];
  const recordedObjects = recordObjectAccess(objects, published);
  const publisher = withLog(dependenciesOn(recordAccess(inner, published), recordedObjects, { nowMs }));
  for (const text of ['one', 'two']) await publish({ ...publisher, site: siteOf(new Map([['index.html', text]])) });
  while ((await publish(publisher)).isMoreDue);
  const recorded = recordObjectAccess(objects, collected);
  await collectGarbage(dependenciesOn(recordAccess(inner, collected), recorded, { nowMs: nowMs + 3 * DAY_MS }), {
    dryRun: false,
  });
  return { published, collected };
}

describe('a role that allows nothing', () => {
  it('is found to refuse', async () => {
    const { world, asked } = await openRecordedWorld();
    await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'Metals' } });
    expect(asked.length).toBeGreaterThan(3);
    expect(refused('verify', asked)).toEqual(asked);
  });
});

describe.each(API_OPERATIONS)('after %s', (id) => {
  it('the write API, the worker, the publisher and garbage collection may do all that they do', async () => {
    const { world, ledger, asked } = await openRecordedWorld();
    expect((await world.call(await validCall(world, id))).status).toBeLessThan(300);
    expect(refused('write-api', asked)).toEqual([]);
    expect(refused('worker', await work(world, ledger))).toEqual([]);
    const { published, collected } = await publishAll(world, ledger);
    expect(refused('publish', published)).toEqual([]);
    expect(refused('collect-garbage', collected)).toEqual([]);
  });
});

describe('a large file', () => {
  it('may be queued once it has arrived, and applied by the worker', async () => {
    const { world, ledger } = await openRecordedWorld();
    const text = `${JSON.stringify(price('gold-usd', 3, 412_345))}\n`;
    const bytes = Buffer.from(text);
    const body = { sha256: sha256Hex(bytes), bytes: bytes.length, records: 1 };
    const { json } = await world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body });
    world.uploads.put(json.id, bytes);
    const queued: AccessCall[] = [];
    await queueUpload(
      { ledger: recordAccess(ledger, queued), uploads: world.uploads, nowMs: () => world.nowMs, newAttemptId },
      json.id,
    );
    expect(queued).toContainEqual({ action: 'dynamodb:PutItem', partition: expect.stringMatching(/^work\/\d$/) });
    expect(refused('upload-arrived', queued)).toEqual([]);
    const asked = await work(world, ledger);
    expect(asked).toContainEqual({ action: 'dynamodb:DeleteItem', partition: expect.stringMatching(/^work\/\d$/) });
    expect(refused('worker', asked)).toEqual([]);
  });
});

describe('the worker', () => {
  it.each(['user:alice', 'operator'])('may erase what %s has left behind', async (subject) => {
    const { world, ledger } = await openRecordedWorld();
    for (const id of API_OPERATIONS.filter((operation) => !operation.includes('Upload'))) {
      await world.call(await validCall(world, id));
    }
    await world.call({ method: 'POST', path: '/api/v1/erasures', body: { subject } });
    expect(refused('worker', await work(world, ledger))).toEqual([]);
  });
});

describe('the runner of sources', () => {
  it('may take an answer in, fail, and replay', async () => {
    const world = openSourceWorld();
    const asked: AccessCall[] = [];
    const ledger = recordAccess(world.api.ledger, asked);
    await world.add();
    world.answers = [ok(metalsCsv(['gold', '2026-11-18', '4129.10'])), failing()];
    world.api.nowMs = Date.parse('2026-11-20T16:30:00Z');
    for (let rounds = 0; rounds < 3; rounds++) {
      await world.round({ ledger });
      await world.work();
      world.api.nowMs += 1_000;
    }
    const [run] = await world.runs();
    await world.replay(run?.id as string);
    await world.ask();
    await world.round({ ledger });
    expect((await world.runs()).map(({ outcome }) => outcome).sort()).toEqual(['failed', 'same', 'taken-in']);
    expect(refused('sources', asked)).toEqual([]);
    for (const partition of [
      'market/gold-usd',
      'api-keys',
      'waitlist',
      'audit/actor/user:alice',
      'idempotency/key:a',
    ]) {
      for (const action of ['dynamodb:GetItem', 'dynamodb:PutItem']) {
        expect(refused('sources', [{ action, partition }])).toHaveLength(1);
      }
    }
  });
});

describe('the publisher', () => {
  it('may close pages, correct them and remove a market', async () => {
    const world = createWorld();
    const asked: AccessCall[] = [];
    const publisher = {
      ...world.dependencies,
      ledger: recordAccess(world.ledger, asked),
      objects: recordObjectAccess(world.objects, asked),
    };
    const prices = Array.from({ length: 10 }, (_, day) => price('gold-usd', day + 1, 400_000 + day));
    await world.ingest([...SLUGS.map((slug) => market(slug)), ...prices]);
    await publish(publisher);
    await world.ingest([price('gold-usd', 1, 399_999)], 'correct');
    await publish(publisher);
    await removeMarket(world, 'gold-usd');
    await publish(publisher);
    for (const [action, partition] of [
      ['dynamodb:PutItem', 'superseded'],
      ['dynamodb:DeleteItem', 'published/market/gold-usd'],
    ]) {
      expect(asked).toContainEqual({ action, partition });
    }
    expect(refused('publish', asked)).toEqual([]);
  });
});

describe('the format of a ledger', () => {
  const check = ({ ledger }: FormatDependencies) => checkFormat(ledger);
  const USES: readonly [FunctionName, (dependencies: FormatDependencies) => Promise<unknown>][] = [
    ['write-api', check],
    ['worker', claimFormat],
    ['upload-arrived', check],
    ['sources', check],
    ['publish', claimFormat],
    ['collect-garbage', check],
    ['export', check],
    ['repair', check],
  ];

  it.each(USES)('%s may learn, of an empty ledger and of one in use', async (name, use) => {
    const ledger = openMemoryLedger();
    const asked: AccessCall[] = [];
    const dependencies = { ledger: recordAccess(ledger, asked), newAttemptId };
    await use(dependencies);
    await claimFormat({ ledger, newAttemptId });
    await use(dependencies);
    expect(asked).toContainEqual({ action: 'dynamodb:GetItem', partition: 'format' });
    expect(refused(name, asked)).toEqual([]);
  });
});

describe('a repair', () => {
  it('may migrate a ledger of format 3, and take up what was written late', async () => {
    const ledger = openMemoryLedger();
    const asked: AccessCall[] = [];
    const dependencies = { ledger: recordAccess(ledger, asked), newAttemptId };
    const items = [
      [FORMAT_KEY, OLDEST_FORMAT, { format: OLDEST_FORMAT }],
      [{ partition: 'dirty', sort: 'market/gold-usd' }, 2, null],
      [{ partition: 'list-changes', sort: 'gold-usd' }, 2, { wasListed: true }],
      [{ partition: 'awaiting-generation', sort: 'batch/one' }, 0, { revisions: {} }],
      [{ partition: 'generation-of', sort: 'batch/none' }, 0, { generation: 1, publishedAt: '' }],
      [{ partition: 'work', sort: '~lane/0000/bat_1' }, 0, { kind: 'ingest', lane: 'alice' }],
    ] as const;
    const puts = items.map(([key, revision, value]) => ({ kind: 'put', key, revision, value, if: { kind: 'any' } }));
    await ledger.transact(puts as unknown as Change[], { attemptId: 'of before' });
    expect(await migrateLedger(dependencies)).toBe('migrated');
    await ledger.transact(puts.slice(1) as unknown as Change[], { attemptId: 'late' });
    expect([await migrateLedger(dependencies), await moveItems(dependencies, () => true)]).toEqual(['current', true]);
    for (const partition of MOVED_PARTITIONS) expect(await readAll(ledger, { partition })).toEqual([]);
    expect(refused('repair', asked)).toEqual([]);
  });

  it('may restore a ledger that holds parts of transactions, beside a store that is later', async () => {
    const world = createWorld();
    await world.ingest([...SLUGS.map((slug) => market(slug)), price('gold-usd', 1, 400_000)]);
    await publish(world.dependencies);
    const observations = await readAll(world.ledger, observationsOf('gold-usd'));
    const torn = [marketKey('tin-usd'), ...observations.map(({ partition, sort }) => ({ partition, sort }))];
    const deletes = torn.map((key) => ({ kind: 'delete', key, if: { kind: 'any' } }) as const);
    await world.ledger.transact(deletes, { attemptId: 'a restore' });
    const asked: AccessCall[] = [];
    const ledger = recordAccess(world.ledger, asked);
    const objects = recordObjectAccess(world.objects, asked);
    const { repaired } = await restore({ ...world.dependencies, ledger, objects });
    expect(repaired).toEqual(
      new Map([
        ['gold-usd', 'repaired'],
        ['tin-usd', 'removed'],
      ]),
    );
    expect(refused('repair', asked)).toEqual([]);
  });
});

describe('a rebuild or a restore', () => {
  it('may be asked for, and again before anything is published, after the bucket has lost its files', async () => {
    const world = createWorld();
    await world.ingest([market('gold-usd'), price('gold-usd', 1, 400_000)]);
    await publish(world.dependencies);
    for (const key of (await world.objects.list('')).keys) {
      await world.objects.delete(key, (await world.objects.stat(key))?.etag as never);
    }
    const asked: AccessCall[] = [];
    const ledger = recordAccess(world.ledger, asked);
    const objects = recordObjectAccess(world.objects, asked);
    for (const generation of [2, 3]) {
      await assertApplied({ ...world.dependencies, ledger, objects });
      expect(await resume({ ...world.dependencies, ledger, objects })).toBe(generation);
    }
    expect(refused('repair', asked)).toEqual([]);
    while ((await publish(world.dependencies)).isMoreDue);
    expect((await world.objects.list('public/')).keys.length).toBeGreaterThan(3);
  });

  it('changes nothing while a generation waits for the publisher, which only the publisher may apply', async () => {
    const world = createWorld();
    await world.ingest([market('gold-usd')]);
    await publish(world.dependencies);
    await world.ingest([price('gold-usd', 1, 400_000)]);
    const dying = faultyStorage(world.ledger, world.objects, 'all', (operation) => {
      const isSwap = operation.what.startsWith('ledger.transact') && operation.what.includes('"head"');
      return isSwap ? diesAfter(operation) : operation.run();
    });
    await expect(publish({ ...world.dependencies, ledger: dying.ledger, objects: dying.objects })).rejects.toThrow();
    const asked: AccessCall[] = [];
    const ledger = recordAccess(world.ledger, asked);
    const objects = recordObjectAccess(world.objects, asked);
    await expect(assertApplied({ ...world.dependencies, ledger, objects })).rejects.toThrow('generation 2');
    expect(refused('repair', asked)).toEqual([]);
  });
});

describe('the first key', () => {
  it('may be made, and looked for', async () => {
    const asked: AccessCall[] = [];
    const ledger = recordAccess(openMemoryLedger(), asked);
    const newId = (prefix: string) => `${prefix}_1`;
    const nowMs = () => Date.parse('2026-11-20T12:00:00Z');
    expect(await registerFirstKey({ ledger, nowMs, newId }, { keyId: 'k1', secret: 's'.repeat(43) })).toBe(true);
    expect(await hasOperatorKey(ledger, nowMs())).toBe(true);
    expect(refused('first-key', asked)).toEqual([]);
  });
});
