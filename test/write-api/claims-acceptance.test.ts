import { beforeEach, describe, expect, it } from 'vitest';
import { observationId } from '../../storage/records/markets.ts';
import {
  ASSERTIONS,
  act,
  CLAIM_TYPES,
  filed,
  filedIn,
  goldHistory,
  goldRecord,
  ingest,
  interfere,
  openClaimWorld,
  priceOn,
  priceRecord,
} from './claim-world.ts';
import type { ApiWorld } from './world.ts';

const PRICE_18 = { market: 'gold-usd', ...priceOn(18) };

let world: ApiWorld;

beforeEach(async () => {
  world = await openClaimWorld();
});

async function decide(assertion: object, decision: object) {
  const id = await filed(world, assertion);
  await act(world, id, 'start');
  return await act(world, id, 'accept', { body: { outcome: 'accepted', note: 'secret-decision', ...decision } });
}

async function accept(assertion: object, decision: object = {}) {
  const answer = await decide(assertion, decision);
  expect(answer.status).toBe(200);
  return answer.json;
}

describe('accepting a claim', () => {
  it('of a correction supersedes the newest version, where the observation has been superseded meanwhile', async () => {
    const id = await filedIn(world, 'under-review', ASSERTIONS.correction);
    await ingest(world.ledger, [priceRecord(18, 500000)]);
    const { json } = await act(world, id, 'accept');
    expect(json.observationId).toBe(observationId({ ...PRICE_18, ordinal: 2 }));
    const history = await goldHistory(world.ledger);
    expect(history.find((observation) => observation.id === json.observationId)).toMatchObject({
      amountMinor: 419210,
      supersedes: observationId({ ...PRICE_18, ordinal: 1 }),
    });
  });

  it('of a correction to the stored value changes only the claim', async () => {
    const first = await accept(ASSERTIONS.correction);
    const before = await goldRecord(world.ledger);
    const again = await accept(ASSERTIONS.correction);
    expect(again.observationId).toBe(first.observationId);
    expect(await goldRecord(world.ledger)).toEqual(before);
  });

  it('of a correction by a decimal takes the amount that it gives', async () => {
    const { amountMinor, ...corrected } = ASSERTIONS.correction.corrected;
    await accept({ ...ASSERTIONS.correction, corrected: { ...corrected, sourceValue: null, value: '4192.104' } });
    expect((await goldRecord(world.ledger)).value.latest.price?.metric).toMatchObject({
      amountMinor: 419210,
      rounded: true,
      sourceValue: '4192.104',
    });
  });

  it('of a correction to a zero publishes a zero', async () => {
    const { corrected } = ASSERTIONS.correction;
    await accept({ ...ASSERTIONS.correction, corrected: { ...corrected, amountMinor: 0, sourceValue: '0' } });
    expect((await goldRecord(world.ledger)).value.latest.price?.metric).toMatchObject({ amountMinor: 0 });
  });

  it.each(['correction', 'retraction'] as const)(
    'of a %s may say to the public why, and the claim shows it',
    async (type) => {
      const publicReason = 'The desk has corrected its own number.';
      const claim = await accept(ASSERTIONS[type], { publicReason });
      expect(claim.decision).toMatchObject({ outcome: 'accepted', publicReason });
      const history = await goldHistory(world.ledger);
      expect(history.flatMap((version) => version.publicReason ?? [])).toEqual([publicReason]);
      expect(history.find(({ id }) => id === claim.observationId)).toMatchObject({ publicReason });
    },
  );

  it.each([
    ['a dispute', 'dispute', { outcome: 'accepted' }, 'The source is in doubt.'],
    ['a representation', 'representation', { outcome: 'accepted' }, 'It is theirs.'],
    ['a rejected correction', 'correction', { outcome: 'rejected' }, 'It is right as it is.'],
    [
      'a correction that has an address in its reason',
      'correction',
      { outcome: 'accepted' },
      'Ask desk@bullion.example.',
    ],
  ] as const)('refuses a reason for the public of %s', async (_, type, decision, publicReason) => {
    const { status, json } = await decide(ASSERTIONS[type], { ...decision, publicReason });
    expect([status, json.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([422, ['/publicReason']]);
    expect((await goldHistory(world.ledger)).filter((version) => 'publicReason' in version)).toEqual([]);
  });

  it('of a dispute of a metric that the market does not have is a conflict', async () => {
    const before = await goldRecord(world.ledger);
    const id = await filedIn(world, 'under-review', { ...ASSERTIONS.dispute, metric: 'openInterest' });
    const { status, json } = await act(world, id, 'accept');
    expect([status, json.code]).toEqual([409, 'conflict']);
    expect((await world.call({ path: `/api/v1/claims/${id}` })).json.state).toBe('under-review');
    expect(await goldRecord(world.ledger)).toEqual(before);
    expect((await act(world, id, 'reject')).status).toBe(200);
  });
});

describe('a decision at the same time as other writers', () => {
  it.each(CLAIM_TYPES)('is made again on the new state (%s)', async (type) => {
    const id = await filedIn(world, 'under-review', ASSERTIONS[type]);
    const before = await goldRecord(world.ledger);
    interfere(world, (turn) => ingest(world.ledger, [priceRecord(18, 500000 + turn)]), 3);
    expect((await act(world, id, 'accept')).status).toBe(200);
    const { revision, value } = await goldRecord(world.ledger);
    expect(revision).toBe(before.revision + 4);
    expect(value.observations).toBe((await goldHistory(world.ledger)).length);
  });

  it('is given up if other writers never pause', async () => {
    const id = await filedIn(world, 'under-review', ASSERTIONS.dispute);
    interfere(world, (turn) => ingest(world.ledger, [priceRecord(18, 500000 + turn)]), Number.POSITIVE_INFINITY);
    const { status, json, headers } = await act(world, id, 'accept');
    expect([status, json.code, headers['retry-after']]).toEqual([409, 'contention', '1']);
    expect((await world.call({ path: `/api/v1/claims/${id}` })).json.state).toBe('under-review');
  });

  it('is not made on a claim that has been withdrawn meanwhile', async () => {
    const id = await filedIn(world, 'under-review', ASSERTIONS.dispute);
    const before = await goldRecord(world.ledger);
    interfere(world, () => act(world, id, 'withdraw'));
    const { status, json } = await act(world, id, 'accept', { ifMatch: '"2"' });
    expect([status, json.code]).toEqual([412, 'precondition-failed']);
    expect(await goldRecord(world.ledger)).toEqual(before);
  });

  it('that changes nothing is made only if that is still so', async () => {
    await accept(ASSERTIONS.correction);
    const id = await filedIn(world, 'under-review', ASSERTIONS.correction);
    interfere(world, () => ingest(world.ledger, [priceRecord(18, 500000)]));
    expect((await act(world, id, 'accept')).status).toBe(200);
    expect((await goldRecord(world.ledger)).value.latest.price?.metric).toMatchObject({ amountMinor: 419210 });
  });
});
