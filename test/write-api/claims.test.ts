import { beforeEach, describe, expect, it } from 'vitest';
import { CLAIM_EVIDENCE_MAX, type ClaimAssertion } from '../../contract/operations/accounts/claims.ts';
import { LISTING_PAGE_SIZE } from '../../contract/operations/resources.ts';
import { createdClaim } from '../../lambdas/review/claim-record.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { type ClaimValue, claimKey } from '../../storage/records/review.ts';
import { deleteItem } from '../storage/put-item.ts';
import {
  ASSERTIONS,
  act,
  CLAIM_TYPES,
  CLAIMS,
  dirtyMarks,
  file,
  filed,
  goldRecord,
  ingest,
  interfere,
  KEY,
  KEY_SUBJECT,
  openClaimWorld,
  priceOn,
  priceRecord,
} from './claim-world.ts';
import { grant } from './seeds.ts';
import type { Answer, ApiWorld } from './world.ts';

let world: ApiWorld;

beforeEach(async () => {
  world = await openClaimWorld();
});

const codesOf = ({ json }: Answer) =>
  json.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]);
const correction = (corrected: object, identity: object = {}) => ({
  ...ASSERTIONS.correction,
  ...identity,
  corrected: { confidence: 'high', status: 'final', ...corrected },
});

describe('filing a claim', () => {
  it.each(CLAIM_TYPES)('of type %s answers with the claim, and leaves the market alone', async (type) => {
    const before = await goldRecord(world.ledger);
    const evidence = [{ url: 'https://evidence.example/1' }];
    const { status, headers, json } = await file(world, ASSERTIONS[type], 'alice', evidence);
    expect(status).toBe(201);
    expect(headers).toMatchObject({ etag: '"1"', location: `${CLAIMS}/${json.id}` });
    expect(json).toMatchObject({
      subject: 'user:alice',
      state: 'submitted',
      assertion: ASSERTIONS[type],
      evidence: [{ url: 'https://evidence.example/1', note: null }],
      reviewNote: null,
      decision: null,
      observationId: null,
    });
    expect((await world.call({ path: headers.location as string })).json).toEqual(json);
    expect(await goldRecord(world.ledger)).toEqual(before);
    expect(await dirtyMarks(world.ledger)).toEqual([]);
  });

  it('by a key makes it its account’s', async () => {
    const { json } = await file(world, undefined, KEY);
    expect(json.subject).toBe(KEY_SUBJECT);
  });

  it.each([
    [
      'a market that is not there',
      { ...ASSERTIONS.dispute, market: 'no-market' },
      '/assertion/market',
      'market.unknown',
    ],
    [
      'a correction of an observation that is not there',
      { ...ASSERTIONS.correction, sourceUrl: 'https://bullion.example/other' },
      '/assertion',
      'observation.unknown',
    ],
    [
      'a retraction of an observation that is not there',
      { ...ASSERTIONS.retraction, ...priceOn(19) },
      '/assertion',
      'observation.unknown',
    ],
  ])('about %s is refused', async (_, assertion, pointer, code) => {
    const answer = await file(world, assertion);
    expect([answer.status, answer.json.code]).toEqual([422, 'validation-failed']);
    expect(codesOf(answer)).toEqual([[pointer, code]]);
  });

  it.each([
    [
      'the price in another currency',
      { amountMinor: 1, currency: 'EUR' },
      '/assertion/corrected/currency',
      'currency.not-native',
    ],
    [
      'null without a reason',
      { amountMinor: null, currency: 'USD' },
      '/assertion/corrected/unknownReason',
      'provenance.incomplete',
    ],
  ])('to correct to %s is refused by the rules of ingest', async (_, corrected, pointer, code) => {
    const answer = await file(world, correction(corrected));
    expect([answer.status, answer.json.code]).toEqual([422, 'validation-failed']);
    expect(codesOf(answer)).toContainEqual([pointer, code]);
  });

  it('to correct to a currency that ended before the observation is refused', async () => {
    const volume = { metric: 'volume', observedAt: '2026-11-18T00:00:00Z', sourceUrl: 'https://exchange.example/' };
    const answer = await file(world, correction({ amountMinor: 1, currency: 'HRK' }, volume));
    expect(codesOf(answer)).toEqual([['/assertion/corrected/currency', 'currency.retired']]);
  });

  it.each([
    ['a zero, which a claim asserts', { amountMinor: 0, currency: 'USD' }],
    ['an amount below zero', { amountMinor: -3763, currency: 'USD' }],
    ['null with a reason', { amountMinor: null, currency: 'USD', unknownReason: 'not-published' }],
  ])('to correct to %s is taken', async (_, corrected) => {
    expect((await file(world, correction(corrected))).status).toBe(201);
  });

  it('is checked against the ledger at the commit', async () => {
    interfere(world, () => deleteItem(world.ledger, marketKey('gold-usd')));
    const answer = await file(world, ASSERTIONS.correction);
    expect(codesOf(answer)).toEqual([['/assertion/market', 'market.unknown']]);
  });
});

describe('the quotas of claims', () => {
  it('refuse a subject that may not file any', async () => {
    await grant(world.ledger, 'user:alice', { claims: 0 });
    const { status, json } = await file(world);
    expect([status, json.code]).toEqual([403, 'quota-exceeded']);
    expect((await file(world, undefined, 'bob')).status).toBe(201);
  });

  it('do not count refused requests', async () => {
    await grant(world.ledger, 'user:alice', { 'claims-per-day': 1 });
    expect((await file(world, { ...ASSERTIONS.dispute, market: 'no-market' })).status).toBe(422);
    expect((await file(world)).status).toBe(201);
  });
});

describe('listing claims', () => {
  const list = (as: string, query = '') => world.call({ path: CLAIMS, as, query });
  const ids = ({ json }: Answer) => json.data.map(({ id }: { id: string }) => id);

  it('leaves out of a queue what moves to another one while it is read', async () => {
    const id = await filed(world);
    const { query } = world.ledger;
    world.ledger.query = async (...range) => {
      world.ledger.query = query;
      const page = await query.apply(world.ledger, range);
      await act(world, id, 'start');
      return page;
    };
    expect(ids(await list('rita', 'state=submitted'))).toEqual([]);
  });

  it.each([
    ['a queue to those who do not review', 'alice', 'state=submitted', 'claims:review'],
    ['one’s own to those who only review', 'rita', '', 'claims:read'],
  ])('refuses %s', async (_, as, query, scope) => {
    const { status, json, headers } = await list(as, query);
    expect([status, json.code]).toEqual([403, 'forbidden']);
    expect(headers['www-authenticate']).toContain(`scope="${scope}"`);
  });

  it('refuses an unknown state', async () => {
    const { status, json } = await list('rita', 'state=open');
    expect([status, json.code]).toEqual([400, 'invalid-request']);
  });

  /** Lambda answers with at most 6 MB, in which the body is a JSON string. */
  it.each([
    ['three bytes', '金'],
    ['four bytes', '😀'],
    ['escapes', '"'],
  ])('gives a page of the longest claims, all of %s, in less than 4 MB', async (_, character) => {
    const text = (length: number) => character.repeat(length / character.length);
    const url = 'https://evidence.example/'.padEnd(2048, 'x');
    const evidence = Array.from({ length: CLAIM_EVIDENCE_MAX }, () => ({ url, note: text(500) }));
    const longest = { ...ASSERTIONS.correction, reason: text(2000) };
    const { json, status } = await file(world, longest, 'alice', evidence);
    expect(status).toBe(201);
    await act(world, json.id, 'start');
    await act(world, json.id, 'request-evidence', { body: { action: 'request-evidence', note: text(2000) } });
    expect((await act(world, json.id, 'reject', { body: { outcome: 'rejected', note: text(2000) } })).status).toBe(200);
    const value = (await world.ledger.get(claimKey(json.id)))?.value as ClaimValue;
    const assertion = { ...value.assertion, sourceUrl: url } as ClaimAssertion;
    for (let copy = 1; copy < LISTING_PAGE_SIZE; copy++) {
      const id = `claim_${String(copy).padStart(26, '0')}`;
      await world.ledger.transact(createdClaim({ ...value, assertion, id }), { attemptId: id });
    }
    for (const answer of [await list('alice'), await list('rita', 'state=rejected')]) {
      expect(answer.json.data).toHaveLength(LISTING_PAGE_SIZE);
      expect(Buffer.byteLength(JSON.stringify(answer.text))).toBeLessThan(4_000_000);
    }
  });
});

describe('reading a claim', () => {
  it('is for its owner and for reviewers; others get 404', async () => {
    const id = await filed(world);
    const read = async (as: string, name = id) => (await world.call({ path: `${CLAIMS}/${name}`, as })).status;
    expect(await Promise.all(['alice', 'rita', 'bob', KEY].map((as) => read(as)))).toEqual([200, 200, 404, 404]);
  });
});

it('a claim about an observation that was corrected since it was first published is taken', async () => {
  await ingest(world.ledger, [priceRecord(18, 412911)]);
  expect((await file(world, ASSERTIONS.correction)).status).toBe(201);
});
