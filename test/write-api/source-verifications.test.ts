import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { pageSchema } from '../../contract/operations/resources.ts';
import { sourceVerificationRecordSchema } from '../../contract/operations/source-verifications.ts';
import { standingOf, verified } from '../../lambdas/markets/rules/standing.ts';
import type { MarketStanding } from '../../storage/records/markets.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';
import {
  ASSERTIONS,
  DESK,
  dirtyMarks,
  EXCHANGE,
  filedIn,
  goldRecord,
  ingest,
  openClaimWorld,
  priceOn,
  priceRecord,
} from './claim-world.ts';
import type { Answer, ApiWorld } from './world.ts';

const PATH = '/api/v1/source-verifications';
const OUTCOMES = ['confirmed', 'mismatch', 'moved', 'unreachable', 'gone', 'inconclusive'] as const;
const QUIET = OUTCOMES.filter((outcome) => outcome !== 'mismatch' && outcome !== 'confirmed');

const LATEST_PRICE = { type: 'observation', ...priceOn(18) };
const OLDER_PRICE = { type: 'observation', ...priceOn(17) };
const VOLUME = {
  type: 'observation',
  metric: 'volume',
  observedAt: '2026-11-18T00:00:00Z',
  sourceUrl: EXCHANGE.url,
};
const SPREAD = { ...LATEST_PRICE, metric: 'spread' };
const SPREAD_OF_DESK: IngestRecordInput = {
  ...SPREAD,
  type: 'observation',
  market: 'gold-usd',
  value: '0.5',
  unit: 'percent',
  sourceLabel: DESK.label,
  confidence: 'low',
  status: 'final',
};
const WHOLE_DESK = { type: 'source', url: DESK.url };

/** An hour of the day of the tests, which begin at noon. */
const at = (hour: string) => `2026-11-20T${hour}:00:00Z`;

let world: ApiWorld;

beforeEach(async () => {
  world = await openClaimWorld({ scopes: { vera: ['sources:verify', 'sources:read'], rita: ['claims:review'] } });
});

function record(body: object = {}): Promise<Answer> {
  const whole = { market: 'gold-usd', subject: LATEST_PRICE, outcome: 'confirmed', verifiedAt: at('11'), ...body };
  return world.call({ method: 'POST', path: PATH, as: 'vera', body: whole });
}

async function recorded(body: object = {}): Promise<string> {
  const { status, json } = await record(body);
  expect(status).toBe(201);
  return json.id;
}

const standing = async () => standingOf((await goldRecord(world.ledger)).value);
/** The metrics that a mismatch disputes, with that mismatch. */
const mismatches = async () => {
  const found = Object.entries((await standing()).comparisons).filter(([, { outcome }]) => outcome === 'mismatch');
  return Object.fromEntries(found.map(([metric, { verification }]) => [metric, verification]));
};
const codesOf = ({ json }: Answer) =>
  json.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]);

describe('recording a source verification', () => {
  it.each([
    ['an observation', LATEST_PRICE],
    ['a source', WHOLE_DESK],
  ])('of %s answers with it, and reads back the same', async (_, subject) => {
    const said = { outcome: 'moved', verifiedAt: at('11'), found: '4,129.10', note: null };
    const { status, headers, json } = await record({ subject, ...said });
    expect(status).toBe(201);
    expect(headers.location).toBe(`${PATH}/${json.id}`);
    expect(json).toEqual({ id: json.id, market: 'gold-usd', subject, ...said, createdAt: '2026-11-20T12:00:00.000Z' });
    expect(sourceVerificationRecordSchema.parse(json)).toEqual(json);
    expect((await world.call({ path: `${PATH}/${json.id}`, as: 'vera' })).json).toEqual(json);
  });

  it.each([
    ['a market that is not there', { market: 'no-market' }, '/market', 'market.unknown'],
    [
      'an observation that is not there',
      { subject: { ...LATEST_PRICE, metric: 'volume' } },
      '/subject',
      'observation.unknown',
    ],
    [
      'a source that the market does not list',
      { subject: { ...WHOLE_DESK, url: 'https://other.example/' } },
      '/subject/url',
      'source.unknown',
    ],
    ['a time 6 minutes ahead', { verifiedAt: '2026-11-20T12:06:00Z' }, '/verifiedAt', 'date.future'],
    ['a time before 2000', { verifiedAt: '1999-12-31T23:59:59Z' }, '/verifiedAt', 'date.implausible'],
  ])('of %s is refused', async (_, body, pointer, code) => {
    const before = await goldRecord(world.ledger);
    const answer = await record(body);
    expect([answer.status, answer.json.code]).toEqual([422, 'validation-failed']);
    expect(codesOf(answer)).toEqual([[pointer, code]]);
    expect(await goldRecord(world.ledger)).toEqual(before);
  });

  it('of an observation whose source the market does not list is refused', async () => {
    const other = { ...priceRecord(18, 412900), sourceLabel: 'Unlisted', sourceUrl: 'https://unlisted.example/' };
    await ingest(world.ledger, [other]);
    const answer = await record({ subject: { ...LATEST_PRICE, sourceUrl: 'https://unlisted.example/' } });
    expect(codesOf(answer)).toEqual([['/subject', 'source.unknown']]);
  });

  it('gives every fault at once', async () => {
    const answer = await record({ market: 'no-market', verifiedAt: '1999-12-31T23:59:59Z' });
    expect(codesOf(answer)).toEqual([
      ['/verifiedAt', 'date.implausible'],
      ['/market', 'market.unknown'],
    ]);
  });

  it.each([
    ['within the 5 minutes that clocks may differ', '2026-11-20T12:05:00Z'],
    ['at the beginning of 2000', '2000-01-01T00:00:00Z'],
  ])('at a time %s is taken', async (_, verifiedAt) => {
    expect((await record({ verifiedAt })).status).toBe(201);
  });
});

describe('the public verification of a source', () => {
  it.each(OUTCOMES)('shows %s, with its time and the compared value', async (outcome) => {
    const before = await goldRecord(world.ledger);
    await recorded({ outcome, verifiedAt: '2026-11-20T11:00:00.000Z' });
    const { revision, value } = await goldRecord(world.ledger);
    expect(value.standing?.verifications).toEqual({
      [DESK.url]: { outcome, verifiedAt: at('11'), subject: 'observation' },
    });
    expect(revision).toBe(before.revision + 1);
    expect((await dirtyMarks(world.ledger)).map(({ sort }) => sort)).toEqual([marketMarkKey('gold-usd').sort]);
  });

  it('each source has its own', async () => {
    await recorded({ subject: WHOLE_DESK, outcome: 'gone' });
    await recorded({ subject: VOLUME, outcome: 'moved', verifiedAt: at('09') });
    expect((await standing()).verifications).toEqual({
      [DESK.url]: { outcome: 'gone', verifiedAt: at('11'), subject: 'source' },
      [EXCHANGE.url]: { outcome: 'moved', verifiedAt: at('09'), subject: 'observation' },
    });
  });

  it('the latest by verifiedAt shows; an older one is recorded, and the market is not touched', async () => {
    await recorded({ verifiedAt: at('10') });
    const before = await goldRecord(world.ledger);
    for (const outcome of OUTCOMES) {
      const id = await recorded({ verifiedAt: at('09'), outcome });
      expect((await world.call({ path: `${PATH}/${id}`, as: 'vera' })).status).toBe(200);
    }
    expect(await goldRecord(world.ledger)).toEqual(before);
    await recorded({ verifiedAt: at('11'), outcome: 'moved' });
    expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: 'moved', verifiedAt: at('11') });
  });

  it('of two at one time the one that was recorded last shows', async () => {
    await recorded({ outcome: 'confirmed' });
    await recorded({ outcome: 'inconclusive' });
    expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: 'inconclusive' });
  });

  it.each(OUTCOMES)('is not changed by %s of the same time', async (outcome) => {
    await recorded({ outcome });
    const before = await goldRecord(world.ledger);
    await recorded({ outcome });
    expect(await goldRecord(world.ledger)).toEqual(before);
  });

  it('is the latest, in any order of arrival', () => {
    const source = { ...DESK, publisher: null, licence: null, attribution: null };
    const one = fc.record({ outcome: fc.constantFrom(...OUTCOMES), second: fc.nat({ max: 59 }) });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 8 }), (all) => {
        const time = (second: number) => new Date(Date.UTC(2026, 10, 20, 0, 0, second)).toISOString();
        let after: MarketStanding = standingOf({});
        for (const { outcome, second } of all) {
          const shown = { outcome, verifiedAt: time(second), subject: 'source' } as const;
          after = verified(after, { id: 'v', source, metrics: ['price'], shown });
        }
        const latest = Math.max(...all.map(({ second }) => second));
        const last = all.findLast(({ second }) => second === latest);
        expect(after.verifications[DESK.url]).toMatchObject({ verifiedAt: time(latest), outcome: last?.outcome });
      }),
    );
  });
});

describe('the disputes of a source verification', () => {
  it.each([
    ['the latest price', LATEST_PRICE, ['price']],
    ['an older price', OLDER_PRICE, []],
    ['the latest volume', VOLUME, ['volume']],
    ['the source of the prices', WHOLE_DESK, ['price']],
    ['the source of the volume', { type: 'source', url: EXCHANGE.url }, ['volume']],
  ])('a mismatch of %s', async (_, subject, metrics) => {
    const id = await recorded({ subject, outcome: 'mismatch' });
    expect(await mismatches()).toEqual(Object.fromEntries(metrics.map((metric) => [metric, id])));
    await recorded({ subject, outcome: 'confirmed', verifiedAt: at('12') });
    expect(await mismatches()).toEqual({});
  });

  it('a source’s mismatch disputes every metric whose latest observation carries its label', async () => {
    const scalar = { ...VOLUME, type: 'observation', market: 'gold-usd', value: '1', unit: 'x' } as const;
    const more = ['openInterest', 'spread'].map((metric) => ({
      ...scalar,
      metric,
      sourceLabel: EXCHANGE.label,
      confidence: 'low' as const,
      status: 'final' as const,
    }));
    await ingest(world.ledger, more);
    await recorded({ subject: { type: 'source', url: EXCHANGE.url }, outcome: 'mismatch' });
    expect(Object.keys(await mismatches()).sort()).toEqual(['openInterest', 'spread', 'volume']);
  });

  it.each(QUIET)('%s neither disputes nor settles', async (outcome) => {
    await recorded({ outcome, verifiedAt: at('09') });
    expect((await standing()).comparisons).toEqual({});
    await recorded({ outcome: 'mismatch', verifiedAt: at('10') });
    const before = await standing();
    await recorded({ outcome, verifiedAt: at('11') });
    expect((await standing()).comparisons).toEqual(before.comparisons);
  });

  it('a newer mismatch replaces an older one', async () => {
    await recorded({ outcome: 'mismatch', verifiedAt: at('09') });
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('10') });
    expect(await mismatches()).toEqual({ price: id });
  });

  it('a confirmation older than the mismatch settles nothing', async () => {
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('10') });
    await recorded({ outcome: 'confirmed', verifiedAt: at('09') });
    expect(await mismatches()).toEqual({ price: id });
  });

  it('a confirmation of something else settles nothing', async () => {
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('09') });
    await recorded({ subject: OLDER_PRICE, verifiedAt: at('10') });
    await recorded({ subject: VOLUME, verifiedAt: at('10') });
    expect(await mismatches()).toEqual({ price: id });
  });

  it('a confirmation keeps the dispute of a claim', async () => {
    const claim = await filedIn(world, 'accepted', ASSERTIONS.dispute);
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('09') });
    expect([(await standing()).disputes, await mismatches()]).toEqual([{ price: claim }, { price: id }]);
    await recorded({ outcome: 'confirmed', verifiedAt: at('10') });
    expect([(await standing()).disputes, await mismatches()]).toEqual([{ price: claim }, {}]);
  });

  it('a claim keeps the dispute of a mismatch', async () => {
    const id = await recorded({ outcome: 'mismatch' });
    const claim = await filedIn(world, 'accepted', ASSERTIONS.dispute);
    expect([(await standing()).disputes, await mismatches()]).toEqual([{ price: claim }, { price: id }]);
  });

  describe.each([
    ['the observation', LATEST_PRICE],
    ['the source', WHOLE_DESK],
  ])('a mismatch of %s', (_, subject) => {
    it('that was compared after a correction was recorded is about the correction', async () => {
      await ingest(world.ledger, [priceRecord(18, 500000)]);
      const id = await recorded({ subject, outcome: 'mismatch', verifiedAt: at('12') });
      expect(await mismatches()).toEqual({ price: id });
    });

    it('that was compared before a correction was recorded is shown, but does not dispute the correction', async () => {
      await ingest(world.ledger, [priceRecord(18, 500000)]);
      await recorded({ subject, outcome: 'mismatch', verifiedAt: '2026-11-20T11:59:59.999Z' });
      expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: 'mismatch' });
      expect((await standing()).comparisons).toEqual({});
    });

    it('is taken in although another metric of its source has been compared since', async () => {
      await ingest(world.ledger, [SPREAD_OF_DESK]);
      await recorded({ subject: SPREAD, verifiedAt: at('11') });
      const before = await goldRecord(world.ledger);
      const id = await recorded({ subject, outcome: 'mismatch', verifiedAt: at('10') });
      expect(await mismatches()).toMatchObject({ price: id });
      expect((await goldRecord(world.ledger)).revision).toBe(before.revision + 1);
      expect((await goldRecord(world.ledger)).value.standing?.verifications[DESK.url]).toMatchObject({
        outcome: 'confirmed',
        verifiedAt: at('11'),
      });
    });

    it('older than a confirmation is not taken in, even when something newer shows on the source', async () => {
      await recorded({ verifiedAt: at('10') });
      await recorded({ outcome: 'gone', verifiedAt: at('11') });
      await recorded({ subject, outcome: 'mismatch', verifiedAt: at('09') });
      expect(await mismatches()).toEqual({});
    });

    it.each([
      ['a correction by a claim', () => filedIn(world, 'accepted', ASSERTIONS.correction)],
      ['a retraction by a claim', () => filedIn(world, 'accepted', ASSERTIONS.retraction)],
      ['a correction by a batch', () => ingest(world.ledger, [priceRecord(18, 500000)])],
      ['a newer observation', () => ingest(world.ledger, [priceRecord(19, 412910)])],
      [
        'a newer observation, and then a correction of the compared one',
        () => ingest(world.ledger, [priceRecord(19, 412910), priceRecord(18, 500000)]),
      ],
    ])('is settled by %s', async (_what, settle) => {
      await recorded({ subject, outcome: 'mismatch' });
      await settle();
      expect((await standing()).comparisons).toEqual({});
    });

    it.each([
      ['a correction of an older observation', [priceRecord(17, 500000)]],
      ['an older observation', [priceRecord(15, 410000)]],
      ['another metric', [SPREAD_OF_DESK]],
    ])('is not settled by %s', async (_what, records) => {
      const id = await recorded({ subject, outcome: 'mismatch' });
      await ingest(world.ledger, records);
      expect(await mismatches()).toEqual({ price: id });
    });
  });

  it('has the same result in any order of verifications of several metrics', () => {
    const one = fc.record({
      outcome: fc.constantFrom(...OUTCOMES),
      metrics: fc.subarray(['price', 'spread', 'volume']),
      id: fc.constantFrom('v1', 'v2'),
    });
    const arrivals = fc.array(one, { maxLength: 6 }).chain((all) => {
      const timed = all.map((each, second) => ({ ...each, second }));
      return fc.tuple(fc.constant(timed), fc.shuffledSubarray(timed, { minLength: timed.length }));
    });
    const standingAfter = (
      all: readonly { outcome: (typeof OUTCOMES)[number]; metrics: string[]; id: string; second: number }[],
    ) =>
      all.reduce((before, { second, outcome, ...verification }) => {
        const verifiedAt = new Date(Date.UTC(2026, 10, 20, 0, 0, second)).toISOString();
        const source = { ...DESK, publisher: null, licence: null, attribution: null };
        return verified(before, { ...verification, source, shown: { outcome, verifiedAt, subject: 'observation' } });
      }, standingOf({}));
    fc.assert(
      fc.property(arrivals, ([inOrder, shuffled]) => {
        expect(standingAfter(shuffled)).toEqual(standingAfter(inOrder));
      }),
    );
  });
});

describe('a source verification at the same time as other writers', () => {
  /** Runs a rival between the next read of a handler and its commit. */
  function interfere(what: () => Promise<unknown>): void {
    const { transact } = world.ledger;
    world.ledger.transact = async (changes, options) => {
      world.ledger.transact = transact;
      await what();
      return await transact.call(world.ledger, changes, options);
    };
  }

  it.each([
    ['newer', at('11'), 'gone'],
    ['older', at('08'), 'moved'],
  ])('is decided again on the new state, if it is %s', async (_, verifiedAt, shown) => {
    await recorded({ verifiedAt: at('09') });
    interfere(() => recorded({ verifiedAt: at('10'), outcome: 'moved' }));
    await recorded({ verifiedAt, outcome: 'gone' });
    expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: shown });
  });

  it('that would show nothing is recorded only if that is still so', async () => {
    await recorded({ outcome: 'mismatch', verifiedAt: at('12') });
    interfere(() => ingest(world.ledger, [priceRecord(18, 500000)]));
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('12') });
    expect(await mismatches()).toEqual({ price: id });
  });
});

describe('listing source verifications', () => {
  const list = (query = '', as = 'vera') => world.call({ path: PATH, query, as });
  const ids = ({ json }: Answer) => json.data.map(({ id }: { id: string }) => id);

  it('gives all of them, newest first, or those of one market', async () => {
    const tin = { market: 'tin-usd', subject: WHOLE_DESK };
    const first = await recorded();
    world.nowMs += 1;
    const second = await recorded(tin);
    const all = await list();
    expect(ids(all)).toEqual([second, first]);
    expect(pageSchema(sourceVerificationRecordSchema).parse(all.json)).toEqual(all.json);
    expect(ids(await list('market=gold-usd'))).toEqual([first]);
    expect(ids(await list('market=tin-usd'))).toEqual([second]);
    expect(ids(await list('market=no-market'))).toEqual([]);
  });

  it('does not show who verified', async () => {
    const id = await recorded();
    expect((await list()).text + (await world.call({ path: `${PATH}/${id}`, as: 'vera' })).text).not.toContain('user:');
  });
});
