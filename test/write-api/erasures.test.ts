import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimAssertion } from '../../contract/operations/accounts/claims.ts';
import { runErasure } from '../../lambdas/accounts/run-erasure.ts';
import { CLAIM_TRANSITIONS } from '../../lambdas/review/transitions.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { answersOf, entitlementsKey, reserveKey, reservesOf, usageOf } from '../../storage/records/accounts.ts';
import { auditOfActor } from '../../storage/records/audit.ts';
import { WORK_QUEUE, workKey } from '../../storage/records/batches.ts';
import { type MarketRecordValue, marketKey } from '../../storage/records/markets.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';
import {
  type ClaimValue,
  claimKey,
  claimsInState,
  claimsOfSubject,
  type VerificationValue,
  verificationKey,
  verificationsOfMarket,
} from '../../storage/records/review.ts';
import { type DumpedLedger, holdersOf, openDumpedLedger } from './dumped-ledger.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { overtakenLedger } from './overtaken-ledger.ts';
import { type ApiWorld, openApiWorld, seededBytes } from './world.ts';

const URL = '/api/v1/erasures';
/** A part of all texts of the erased person. */
const MARK = 'Jo-was-here';
const OTHER = 'Somebody-else';

describe('erasures', () => {
  let ledger: DumpedLedger;
  let world: ApiWorld;
  let attempts: number;

  beforeEach(() => {
    ledger = openDumpedLedger();
    world = heldToSchemas(openApiWorld({ ledger, scopes: { bob: ['watchlists:write'] } }));
    attempts = 0;
  });

  const erase = (subject: unknown) => world.call({ method: 'POST', path: URL, body: { subject }, as: 'operator' });
  const read = (id: string) => world.call({ path: `${URL}/${id}`, as: 'operator' });
  const run = (id: string, through: Ledger = ledger) => {
    const newAttemptId = () => `erasure-${++attempts}`;
    const newId = (prefix: string) => `${prefix}_${newUlid(world.nowMs, seededBytes(newAttemptId()))}`;
    return runErasure({ ledger: through, nowMs: () => world.nowMs, newAttemptId, newId }, id);
  };
  /** The audit records of a target that the erasure has made. */
  const auditsOf = async (target: string) => {
    const query = `target=${target}&actor=system:erasure`;
    const { json } = await world.call({ path: '/api/v1/audit-records', query, as: 'operator' });
    return json.data;
  };
  const itemsOf = async (partition: string) => (await ledger.query(partition, { limit: 1000 })).items;

  async function put(key: ItemKey, revision: number, value: Extract<Change, { kind: 'put' }>['value']): Promise<void> {
    const change: Change = { kind: 'put', key, revision, value, if: { kind: 'any' } };
    await ledger.transact([change], { attemptId: `seed-${++attempts}` });
  }

  function createWatchlist(as: string, name: string) {
    return world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name }, as });
  }

  function grant(subject: string, limit: number, feature = 'watchlists') {
    const path = `/api/v1/entitlements/${subject}/${feature}`;
    return world.call({ method: 'PUT', path, body: { limit }, headers: { 'if-none-match': '*' }, as: 'operator' });
  }

  async function seedClaim(id: string, more: Partial<ClaimValue>, text: string): Promise<void> {
    const value: ClaimValue = {
      id,
      subject: 'user:jo',
      state: 'accepted',
      assertion: { type: 'dispute', market: 'gold-usd', metric: 'price', reason: text },
      evidence: [{ url: `https://example.org/${text}`, note: text, addedAt: '2026-11-20T12:00:00.000Z' }],
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
      decision: { outcome: 'accepted', note: text, decidedAt: '2026-11-20T12:00:00.000Z' },
      reviewNote: text,
      observationId: null,
      ...more,
    };
    await put(claimKey(id), 3, value);
    await put({ partition: claimsOfSubject(value.subject).partition, sort: id }, 0, null);
    await put({ partition: claimsInState(value.state).partition, sort: id }, 0, null);
  }

  async function seedVerification(id: string, subjectOwner: string, text: string): Promise<void> {
    const value: VerificationValue = {
      id,
      market: 'gold-usd',
      subject: { type: 'source', url: 'https://source.example/' },
      outcome: 'mismatch',
      verifiedAt: '2026-11-20T12:00:00Z',
      found: text,
      note: text,
      createdAt: '2026-11-20T12:00:00.000Z',
      subjectOwner,
    };
    await put(verificationKey(id), 0, value);
    await put({ partition: verificationsOfMarket('gold-usd').partition, sort: id }, 0, value);
  }

  const observation = {
    market: 'gold-usd',
    metric: 'price',
    observedAt: '2026-11-18T00:00:00Z',
    sourceUrl: 'https://source.example/',
    reason: MARK,
  } as const;
  const representation: ClaimAssertion = { type: 'representation', market: 'gold-usd', name: MARK, reason: MARK };

  const saltOf = (name: string) => `salt of ${name}`;

  async function representedMarket(name: string, claim: string): Promise<void> {
    const standing = { representedBy: { name, claim, salt: saltOf(name) }, disputes: {}, verifications: {} };
    await put(marketKey('gold-usd'), 5, { name: 'Gold', standing, updatedAt: null } as unknown as MarketRecordValue);
  }

  /** Everything that a user can leave in the ledger, for two users. */
  async function seedUser(): Promise<void> {
    for (let count = 0; count < 3; count++) await createWatchlist('jo', `${MARK} ${count}`);
    await createWatchlist('bob', OTHER);
    await grant('user:jo', 7);
    const reserve = { kind: 'count', key: reserveKey('user:jo', 'ingest-rows-per-day', '2026-11-20', 3) } as const;
    await ledger.transact([{ ...reserve, by: 9, atLeast: 0, atMost: 9 }], { attemptId: 'reserve' });
    await seedClaim('claim_1', {}, MARK);
    await seedClaim(
      'claim_2',
      { state: 'submitted', decision: null, assertion: { type: 'retraction', ...observation } },
      MARK,
    );
    await seedClaim('claim_3', { assertion: representation }, MARK);
    await seedClaim('claim_4', { subject: 'user:bob' }, OTHER);
    await representedMarket(MARK, 'claim_3');
    await seedVerification('verification_1', 'user:jo', MARK);
    await seedVerification('verification_2', 'user:bob', OTHER);
  }

  it('are accepted, and read until they have finished', async () => {
    const accepted = await erase('user:jo');
    expect([accepted.status, accepted.headers.location]).toEqual([202, `${URL}/${accepted.json.id}`]);
    expect(accepted.json).toMatchObject({ subject: 'user:jo', state: 'running', finishedAt: null });
    const { id } = accepted.json;
    expect((await read(id)).json).toEqual(accepted.json);
    expect(await readAll(ledger, WORK_QUEUE)).toMatchObject([
      { ...workKey(id), value: { kind: 'erasure', erasure: id } },
    ]);
    world.nowMs += 5;
    await run(id);
    const finished = { ...accepted.json, state: 'finished', finishedAt: '2026-11-20T12:00:00.005Z' };
    expect((await read(id)).json).toEqual(finished);
    expect(await readAll(ledger, WORK_QUEUE)).toEqual([]);
    const audit = await world.call({ path: '/api/v1/audit-records', query: `target=erasure/${id}`, as: 'operator' });
    expect(audit.json.data).toMatchObject([{ actor: 'key:operator', action: 'createErasure' }]);
  });

  it('that are unknown are not run', async () => {
    await expect(run('era_1')).rejects.toThrow('era_1');
  });

  it('leave nothing in the ledger that a user has written, and everything of others', async () => {
    await seedUser();
    expect(holdersOf(await ledger.dump(), MARK).length).toBeGreaterThan(8);
    const others = holdersOf(await ledger.dump(), OTHER);
    const { json } = await erase('user:jo');
    await run(json.id);
    const items = await ledger.dump();
    expect(holdersOf(items, MARK)).toEqual([]);
    expect(holdersOf(items, OTHER)).toEqual(others);
    const named = holdersOf(items, 'user:jo').filter((key) => !key.startsWith('audit'));
    expect(named).toEqual([`erasures ${json.id}`]);
    for (const partition of [
      usageOf('user:jo').partition,
      reservesOf('user:jo', 3).partition,
      answersOf('user:jo').partition,
      claimsOfSubject('user:jo').partition,
    ]) {
      expect(await itemsOf(partition)).toEqual([]);
    }
    expect(await itemsOf(auditOfActor('user:jo').partition)).toHaveLength(3);
  });

  it('let a returning user start again, with an unused revision of entitlements', async () => {
    await seedUser();
    const { json } = await erase('user:jo');
    await run(json.id);
    const lists = await world.call({ path: '/api/v1/watchlists', as: 'jo' });
    expect(lists.json.data).toEqual([]);
    const { entitlements } = (await world.call({ path: '/api/v1/entitlements', as: 'jo' })).json;
    expect(entitlements[0]).toMatchObject({ limit: 20, used: 0, source: 'default' });
    expect((await grant('user:jo', 7)).json.revision).toBe(3);
    expect((await createWatchlist('jo', 'New')).status).toBe(201);
  });

  it.each(Object.entries(CLAIM_TRANSITIONS))(
    'keep what a claim that is %s is about, without its owner, and withdraw it if it is open',
    async (state, to) => {
      const corrected = { value: '1', unit: 'oz', sourceValue: '1', rounded: false, unknownReason: null } as const;
      await seedClaim(
        'claim_1',
        {
          state: state as ClaimValue['state'],
          assertion: {
            type: 'correction',
            ...observation,
            corrected: { ...corrected, confidence: 'high', status: 'final' },
          },
        },
        MARK,
      );
      world.nowMs += 1;
      const { json } = await erase('user:jo');
      await run(json.id);
      const item = await ledger.get(claimKey('claim_1'));
      const after = to.withdraw ?? state;
      expect(item?.revision).toBe(4);
      expect(item?.value).toMatchObject({
        subject: 'erased',
        state: after,
        assertion: { ...observation, corrected, reason: 'erased' },
        evidence: [],
        reviewNote: 'erased',
        decision: { outcome: 'accepted', note: 'erased' },
      });
      for (const each of Object.keys(CLAIM_TRANSITIONS)) {
        const listed = await itemsOf(claimsInState(each as ClaimValue['state']).partition);
        expect(listed).toHaveLength(each === after ? 1 : 0);
      }
    },
  );

  it.each([
    ['takes the name of the person off the market, which is due for publication', MARK, 'claim_1', null],
    [
      'leaves the name of a later representative',
      OTHER,
      'claim_2',
      { name: OTHER, claim: 'claim_2', salt: saltOf(OTHER) },
    ],
  ])('of a representative: %s', async (_, name, claim, expected) => {
    await seedClaim('claim_1', { assertion: representation }, MARK);
    await representedMarket(name, claim);
    const { json } = await erase('user:jo');
    await run(json.id);
    const market = await ledger.get(marketKey('gold-usd'));
    expect((market?.value as MarketRecordValue | undefined)?.standing?.representedBy).toEqual(expected);
    expect(market?.revision).toBe(expected === null ? 6 : 5);
    expect((await ledger.get(marketMarkKey('gold-usd'))) !== null).toBe(expected === null);
  });

  it('leave an audit record of each claim and each market that they change, and of nothing else', async () => {
    await seedUser();
    const { json } = await erase('user:jo');
    await run(json.id);
    await run(json.id);
    const record = { action: 'system:erasure', actor: 'system:erasure', requestId: json.id };
    for (const target of ['claim/claim_1', 'claim/claim_2', 'claim/claim_3', 'market/gold-usd']) {
      expect(await auditsOf(target)).toMatchObject([{ ...record, target, at: '2026-11-20T12:00:00.000Z' }]);
    }
    expect(await auditsOf('claim/claim_4')).toEqual([]);
    const byActor = await itemsOf(auditOfActor('system:erasure').partition);
    expect(byActor).toHaveLength(4);
    expect(JSON.stringify(byActor)).not.toContain(MARK);
  });

  it('leave no audit record of a market whose representative has changed', async () => {
    await seedClaim('claim_1', { assertion: representation }, MARK);
    await representedMarket(OTHER, 'claim_2');
    await run((await erase('user:jo')).json.id);
    expect(await auditsOf('claim/claim_1')).toHaveLength(1);
    expect(await auditsOf('market/gold-usd')).toEqual([]);
  });

  it('include additions to a claim during its erasure', async () => {
    await seedClaim('claim_1', {}, OTHER);
    const { json } = await erase('user:jo');
    const isClaim = ({ key }: Change) => key.partition === claimKey('claim_1').partition;
    const added = async () => {
      const item = await ledger.get(claimKey('claim_1'));
      if (item === null) throw new Error('the claim was to be seeded');
      await put(claimKey('claim_1'), item.revision + 1, { ...(item.value as ClaimValue), reviewNote: MARK });
    };
    await run(json.id, overtakenLedger(ledger, added, isClaim));
    const item = await ledger.get(claimKey('claim_1'));
    expect(item).toMatchObject({ revision: 5, value: { reviewNote: 'erased', evidence: [] } });
  });

  it('are continued by the next worker, wherever the previous one died', async () => {
    // Each round the worker gets one transaction further; every other one is done although its answer is lost.
    for (let survived = 0, died = true; died; survived++) {
      ledger = openDumpedLedger();
      world = heldToSchemas(openApiWorld({ ledger }));
      await seedUser();
      const { json } = await erase('user:jo');
      let transactions = 0;
      const dying: Ledger = {
        ...ledger,
        async transact(changes, options) {
          if (transactions++ < survived) return ledger.transact(changes, options);
          if (survived % 2 === 0) await ledger.transact(changes, options);
          throw new StorageUnavailable('gone');
        },
      };
      died = await run(json.id, dying).then(
        () => false,
        () => true,
      );
      await run(json.id);
      expect(holdersOf(await ledger.dump(), MARK)).toEqual([]);
      expect((await read(json.id)).json.state).toBe('finished');
      expect(await readAll(ledger, WORK_QUEUE)).toEqual([]);
      expect((await ledger.get(marketKey('gold-usd')))?.revision).toBe(6);
      expect(await itemsOf(auditOfActor('system:erasure').partition)).toHaveLength(4);
    }
  });

  it('never use a revision of entitlements twice, also with a grant at the same time', async () => {
    await grant('user:jo', 7);
    const { json } = await erase('user:jo');
    const isEntitlements = ({ key }: Change) => key.partition === entitlementsKey('user:jo').partition;
    await run(
      json.id,
      overtakenLedger(ledger, () => grant('user:jo', 3, 'api-keys'), isEntitlements),
    );
    expect(await ledger.get(entitlementsKey('user:jo'))).toMatchObject({ revision: 3, value: { features: {} } });
  });

  it('have the same effect with several workers as with one', async () => {
    await seedUser();
    const { json } = await erase('user:jo');
    await Promise.all([run(json.id), run(json.id), run(json.id)]);
    expect(holdersOf(await ledger.dump(), MARK)).toEqual([]);
    expect((await read(json.id)).json.state).toBe('finished');
    expect((await ledger.get(marketKey('gold-usd')))?.revision).toBe(6);
  });
});
