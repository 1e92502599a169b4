/** The audit is as it was written: an altered, removed or inserted record is found and named. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { runErasure } from '../../lambdas/accounts/run-erasure.ts';
import { createAuditSealer } from '../../lambdas/review/seal-audit.ts';
import { type AuditFinding, verifyAudit } from '../../lambdas/review/verify-audit.ts';
import { created } from '../../storage/ports/changes.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Item, ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import { inBatches, readAll } from '../../storage/ports/paging.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import {
  AUDIT_SEALS,
  type AuditValue,
  auditKeys,
  auditOfDay,
  auditSealKey,
  auditSealPartKey,
  auditSealPartsOf,
  type ChainedAudit,
} from '../../storage/records/audit.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { deleteItem, putItem } from '../storage/put-item.ts';
import { ASSERTIONS, filed, openClaimWorld } from './claim-world.ts';
import { type Fate, watchLedger } from './watched-ledger.ts';
import { type ApiWorld, openApiWorld, START_MS, seededBytes } from './world.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = '2026-11-20';

let world: ApiWorld;
let attempts = 0;
const newAttemptId = () => `tamper-${++attempts}`;

function create(as = 'alice', of = world) {
  of.nowMs += 1;
  return of.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'A list' }, as });
}

const recordsOf = (ledger: Ledger, day = DAY) => readAll(ledger, auditOfDay(day)) as Promise<Item<ChainedAudit>[]>;

/** In order of places. */
async function chainsOf(ledger: Ledger): Promise<ChainedAudit[][]> {
  const chains = new Map<string, ChainedAudit[]>();
  for (const { value } of await recordsOf(ledger)) {
    chains.set(value.chain.id, [...(chains.get(value.chain.id) ?? []), value]);
  }
  return [...chains.values()].map((chain) => chain.sort((one, other) => one.chain.place - other.chain.place));
}

const verified = async (ledger = world.ledger) => await verifyAudit(ledger, world.nowMs);
const named = (findings: readonly AuditFinding[]) => findings.map(({ id, fault }) => [id, fault]);

/** Writes all copies of the record, as somebody does who may write to the ledger and knows its form. */
async function rewrite(value: AuditValue): Promise<void> {
  const changes = auditKeys(value).map(
    (key) => ({ kind: 'put', key, revision: 0, value, if: { kind: 'any' } }) as const,
  );
  await world.ledger.transact(changes, { attemptId: newAttemptId() });
}

async function remove(value: AuditValue): Promise<void> {
  const changes = auditKeys(value).map((key) => ({ kind: 'delete', key, if: { kind: 'any' } }) as const);
  await world.ledger.transact(changes, { attemptId: newAttemptId() });
}

async function seal(ledger = world.ledger): Promise<void> {
  await createAuditSealer({ ledger, nowMs: () => world.nowMs, newAttemptId })();
}

/** Three writes one after the other: one chain. The day before is sealed. */
beforeEach(async () => {
  // The ledgers that keep data refuse to change an audit record. Somebody who gets past them is not refused.
  world = openApiWorld({ ledger: openMemoryLedger() });
  await seal();
  for (let count = 0; count < 3; count++) await create();
});

test('writes one after the other make one chain; each record has the digest of the one before', async () => {
  const [chain = [], ...others] = await chainsOf(world.ledger);
  expect([chain.map(({ chain: { place } }) => place), others]).toEqual([[1, 2, 3], []]);
  expect(await verified()).toMatchObject({ records: 3, chains: 1, findings: [] });
});

test('writes at once take a chain each, wait for nobody, and later writes continue these chains', async () => {
  world = openApiWorld();
  await Promise.all(Array.from({ length: 5 }, () => create()));
  for (let count = 0; count < 5; count++) await create();
  const chains = await chainsOf(world.ledger);
  expect(chains.length).toBeLessThanOrEqual(5);
  expect(await verified()).toMatchObject({ records: 10, findings: [] });
});

test('processes and days have chains of their own', async () => {
  const other = openApiWorld({ ledger: world.ledger, process: 'other' });
  await create('alice', other);
  world.nowMs += DAY_MS;
  await create();
  expect(await chainsOf(world.ledger)).toHaveLength(2);
  expect(await verified()).toMatchObject({ records: 5, chains: 3, findings: [] });
});

test('a refused write, a replay and a read leave no record, and the chain goes on', async () => {
  const call = { method: 'POST', path: '/api/v1/watchlists', body: { name: 'A list' }, key: 'one-and-the-same-key' };
  await world.call(call);
  expect((await world.call(call)).headers['idempotency-replayed']).toBe('true');
  expect((await world.call({ ...call, body: { name: 'Another' } })).status).toBe(422);
  await world.call({ ...call, key: 'another-key-of-mine', body: { name: 'A', markets: ['unknown'] } });
  await create();
  expect(await chainsOf(world.ledger)).toHaveLength(1);
  expect(await verified()).toMatchObject({ records: 5, findings: [] });
});

test.each<[string, readonly Fate[], number]>([
  ['a lost answer that a second attempt recognises', ['lost-answer'], 1],
  ['an outcome that stays unknown, and was done', ['lost-answer', 'lost-answer', 'lost-answer'], 2],
  ['an outcome that stays unknown, and was not done', ['lost-request', 'lost-request', 'lost-request'], 2],
])('after %s no chain has a gap or two ends', async (_, fates, chains) => {
  const rest: Fate[] = [];
  const ledger = watchLedger(openMemoryLedger(), {
    fateOf: (method) => (method === 'transact' ? (rest.shift() ?? 'answered') : 'answered'),
  });
  world = openApiWorld({ ledger });
  const call = { method: 'POST', path: '/api/v1/watchlists', body: { name: 'A list' }, key: 'one-and-the-same-key' };
  await create();
  rest.push(...fates);
  await world.call(call);
  await world.call(call);
  await create();
  expect(await verified(ledger)).toMatchObject({ records: 3, chains, findings: [] });
});

test('the audit of an erasure is a chain of its own', async () => {
  world = await openClaimWorld({ scopes: {} });
  await filed(world, ASSERTIONS.representation);
  const erasure = { method: 'POST', path: '/api/v1/erasures', body: { subject: 'user:alice' }, as: 'operator' };
  const { json } = await world.call(erasure);
  const newId = (prefix: string) => `${prefix}_${newUlid(world.nowMs, seededBytes(newAttemptId()))}`;
  await runErasure({ ledger: world.ledger, nowMs: () => world.nowMs, newAttemptId, newId }, json.id);
  expect(await verified()).toMatchObject({ records: 3, chains: 2, findings: [] });
});

describe('somebody who may write to the ledger', () => {
  let chain: ChainedAudit[];
  beforeEach(async () => {
    [chain = []] = await chainsOf(world.ledger);
  });

  test.each([0, 1])('alters record %i: it is named before the day is over', async (index) => {
    await rewrite({ ...(chain[index] as ChainedAudit), actor: 'user:alice', action: 'deleteWatchlist' });
    expect(named((await verified()).findings)).toEqual([[chain[index]?.id, 'altered']]);
  });

  test('alters the actor of one copy: the record is named', async () => {
    const [record] = chain as [ChainedAudit];
    const [key] = auditKeys(record) as [ItemKey<AuditValue>];
    await putItem(world.ledger, key, { ...record, actor: 'user:eve' });
    expect(named((await verified()).findings)).toContainEqual([record.id, 'altered']);
  });

  test.each(['audit/actor/', 'audit/target/'])('removes the copy in %s: the record is named', async (prefix) => {
    const [, record] = chain as [ChainedAudit, ChainedAudit];
    const key = auditKeys(record).find(({ partition }) => partition.startsWith(prefix));
    await deleteItem(world.ledger, key as never);
    expect(named((await verified()).findings)).toEqual([[record.id, 'removed']]);
  });

  test.each([0, 1])('removes record %i: the record after it is named', async (index) => {
    await remove(chain[index] as ChainedAudit);
    expect(named((await verified()).findings)).toEqual([[chain[index + 1]?.id, 'removed']]);
  });

  test.each<[string, (chain: ChainedAudit[]) => AuditValue]>([
    [
      'without a place in a chain',
      ([first]) => ({ ...(first as AuditValue), id: 'aud_01KB0000000000000000000000', chain: undefined as never }),
    ],
    ['in a place that is taken', ([, second]) => ({ ...(second as AuditValue), id: 'aud_01KB0000000000000000000000' })],
  ])('inserts a record %s: it is named', async (_, forge) => {
    const { chain: link, ...forged } = forge(chain);
    await rewrite({ ...forged, ...(link && { chain: link }) });
    expect(named((await verified()).findings)).toContainEqual(['aud_01KB0000000000000000000000', 'inserted']);
  });

  describe('after the day was sealed', () => {
    beforeEach(async () => {
      world.nowMs += DAY_MS;
      await seal();
      expect(await verified()).toMatchObject({ findings: [], sealed: { from: '2026-11-19', to: DAY } });
    });

    test.each<[string, () => Promise<void>, () => readonly [string | undefined, string]]>([
      ['cuts off the end', () => remove(chain[2] as ChainedAudit), () => [chain[1]?.id, 'removed']],
      [
        'alters the end',
        () => rewrite({ ...(chain[2] as ChainedAudit), action: 'x' }),
        () => [chain[2]?.id, 'altered'],
      ],
      [
        'removes the whole chain',
        async () => {
          for (const record of chain) await remove(record);
        },
        () => [chain[0]?.id, 'removed'],
      ],
      [
        'adds a chain',
        () =>
          rewrite({
            ...(chain[0] as ChainedAudit),
            id: 'aud_01KB0000000000000000000000',
            chain: { id: 'aud_01KB0000000000000000000000', place: 1, previous: null },
          }),
        () => ['aud_01KB0000000000000000000000', 'inserted'],
      ],
    ])('%s: it is named', async (_, tamper, expected) => {
      await tamper();
      expect(named((await verified()).findings)).toEqual([expected()]);
    });

    test.each([
      ['removes', null],
      ['rewrites', { day: DAY, ends: {}, previous: null }],
    ])('%s a seal: the seal after it does not follow', async (_, value) => {
      world.nowMs += DAY_MS;
      await seal();
      const key = auditSealKey(DAY);
      const change =
        value === null
          ? ({ kind: 'delete', key, if: { kind: 'any' } } as const)
          : ({ kind: 'put', key, revision: 0, value, if: { kind: 'any' } } as const);
      await world.ledger.transact([change], { attemptId: newAttemptId() });
      expect((await verified()).findings).toContainEqual(expect.objectContaining({ fault: 'seal' }));
    });

    test('rewrites record, seal and everything after: only the digest that was kept elsewhere differs', async () => {
      const before = (await verified()).sealed;
      for (const record of chain) await remove(record);
      await deleteItem(world.ledger, auditSealKey(DAY));
      await seal();
      const after = await verified();
      expect(after.findings).toEqual([]);
      expect(after.sealed?.digest).not.toBe(before?.digest);
    });
  });
});

describe('seals', () => {
  test('begin an hour after the end of a day, are made once, and follow each other also after a pause', async () => {
    const days = async () => (await readAll(world.ledger, AUDIT_SEALS)).map(({ sort }) => sort);
    expect(await days()).toEqual(['2026-11-19']);
    world.nowMs = Date.parse('2026-11-21T00:59:59Z');
    await seal();
    expect(await days()).toEqual(['2026-11-19']);
    world.nowMs = Date.parse('2026-11-24T01:00:00Z');
    await Promise.all([seal(), seal(), seal()]);
    await seal();
    expect(await days()).toEqual(['2026-11-19', DAY, '2026-11-21', '2026-11-22', '2026-11-23']);
    expect(await verified()).toMatchObject({ records: 3, findings: [] });
  });

  /** One write of each of so many processes, of which each begins a chain. */
  async function writesOf(processes: number): Promise<readonly ChainedAudit[]> {
    const audits = Array.from({ length: processes }, (_, index): ChainedAudit => {
      const id = `aud_${newUlid(world.nowMs + index, seededBytes(`process ${index}`))}`;
      const [at, requestId] = [new Date(world.nowMs + index).toISOString(), `request-${index}`];
      const by = { actor: 'user:bob', action: 'create', target: 'watchlist/1', fingerprint: '' };
      return { id, at, requestId, ...by, chain: { id, place: 1, previous: null } };
    });
    for (const some of inBatches(audits, 30)) {
      const changes = some.flatMap((audit) => auditKeys(audit).map((key) => created(key, audit)));
      await world.ledger.transact(changes, { attemptId: newAttemptId() });
    }
    return audits;
  }

  test('name all chains of a day with many, in parts, and a chain that is cut out of any part is found', async () => {
    const audits = await writesOf(3_500);
    world.nowMs += DAY_MS;
    await seal();
    expect(await verified()).toMatchObject({ chains: 3_501, sealed: { to: DAY }, findings: [] });
    const cut = [audits[0], audits[1_500], audits[3_499]] as const;
    for (const audit of cut) await remove(audit as AuditValue);
    expect(named((await verified()).findings).sort()).toEqual(cut.map((audit) => [audit?.id, 'removed']).sort());
  });

  test('of a day in parts go on after the last part, if they are cut off', async () => {
    await writesOf(7);
    world.nowMs += DAY_MS;
    const rest: Fate[] = ['answered', 'answered', 'lost-request'];
    const ledger = watchLedger(world.ledger, {
      fateOf: (method) => (method === 'transact' ? (rest.shift() ?? 'answered') : 'answered'),
    });
    const sealer = createAuditSealer({ ledger, nowMs: () => world.nowMs, newAttemptId, mostChains: 2 });
    await expect(sealer()).rejects.toThrow(StorageUnavailable);
    const query = vi.spyOn(world.ledger, 'query');
    await sealer();
    const [, second] = await readAll(world.ledger, auditSealPartsOf(DAY));
    const ofDay = query.mock.calls.filter(([partition]) => partition.startsWith(`audit/day/${DAY}/`));
    expect(new Set(ofDay.map(([, { after }]) => after))).toEqual(new Set([second?.value.upTo]));
    expect(await verified()).toMatchObject({ chains: 8, sealed: { to: DAY }, findings: [] });
    await deleteItem(world.ledger, auditSealPartKey(DAY, 1));
    expect((await verified()).findings).toContainEqual(expect.objectContaining({ day: DAY, fault: 'seal' }));
  });

  test('cost nothing until the next day is over', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const sealer = createAuditSealer({ ledger, nowMs: () => START_MS, newAttemptId });
    await sealer();
    ledger.calls.splice(0);
    await sealer();
    expect(ledger.calls).toEqual([]);
  });
});
