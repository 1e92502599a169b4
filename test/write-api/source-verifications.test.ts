import { beforeEach, describe, expect, it } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { pageSchema } from '../../contract/operations/resources.ts';
import { sourceVerificationRecordSchema } from '../../contract/operations/source-verifications.ts';
import { standingOf } from '../../lambdas/markets/rules/standing.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';
import {
  ASSERTIONS,
  DESK,
  dirtyMarks,
  EXCHANGE,
  filedIn,
  goldRecord,
  ingest,
  interfere,
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
const VOLUME = { type: 'observation', metric: 'volume', observedAt: '2026-11-18T00:00:00Z', sourceUrl: EXCHANGE.url };
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
const scalarOfExchange = (metric: string): IngestRecordInput => ({
  ...SPREAD_OF_DESK,
  metric,
  sourceUrl: EXCHANGE.url,
  sourceLabel: EXCHANGE.label,
});
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

  it('shows a mismatch with a value that has been corrected since', async () => {
    await ingest(world.ledger, [priceRecord(18, 500000)]);
    await recorded({ outcome: 'mismatch' });
    expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: 'mismatch' });
  });

  it.each(OUTCOMES)('is not changed by %s of the same time', async (outcome) => {
    await recorded({ outcome });
    const before = await goldRecord(world.ledger);
    await recorded({ outcome });
    expect(await goldRecord(world.ledger)).toEqual(before);
  });
});

/** What happens, one after the other; the index of a step is also its verification or claim. */
type Step = () => Promise<unknown>;
type History = readonly [what: string, steps: readonly Step[], ...left: readonly string[]];

const saw =
  (outcome: string, hour = '11', subject: object = LATEST_PRICE): Step =>
  () =>
    recorded({ subject, outcome, verifiedAt: at(hour) });
const batch =
  (...records: readonly IngestRecordInput[]): Step =>
  () =>
    ingest(world.ledger, records);
const claim =
  (assertion: object): Step =>
  () =>
    filedIn(world, 'accepted', assertion);

/** The correction is recorded at noon. */
const JUST_BEFORE = '2026-11-20T11:59:59.999Z';
const PRICE_CORRECTED = batch(priceRecord(18, 500000));
const WHOLE_EXCHANGE = { type: 'source', url: EXCHANGE.url };

/** The same for a mismatch of the observation and of its source. */
const ofSubject = (what: string, subject: object): readonly History[] => {
  const mismatch = saw('mismatch', '11', subject);
  const left = 'price: mismatch 0';
  return [
    [`${what} is settled by a correction by a claim`, [mismatch, claim(ASSERTIONS.correction)]],
    [`${what} is settled by a retraction by a claim`, [mismatch, claim(ASSERTIONS.retraction)]],
    [`${what} is settled by a correction by a batch`, [mismatch, PRICE_CORRECTED]],
    [`${what} is settled by a newer observation`, [mismatch, batch(priceRecord(19, 412910))]],
    [
      `${what} is settled by a newer observation, and then a correction of the compared one`,
      [mismatch, batch(priceRecord(19, 412910), priceRecord(18, 500000))],
    ],
    [`${what} is not settled by a correction of an older one`, [mismatch, batch(priceRecord(17, 500000))], left],
    [`${what} is not settled by an older observation`, [mismatch, batch(priceRecord(15, 410000))], left],
    [`${what} is not settled by another metric`, [mismatch, batch(SPREAD_OF_DESK)], left],
    [
      `${what} that was compared after a correction is about the correction`,
      [PRICE_CORRECTED, saw('mismatch', '12', subject)],
      'price: mismatch 1',
    ],
    [
      `${what} that was compared before a correction is not about it`,
      [PRICE_CORRECTED, () => recorded({ subject, outcome: 'mismatch', verifiedAt: JUST_BEFORE })],
    ],
    [
      `${what} is taken in although another metric of its source has been compared since`,
      [batch(SPREAD_OF_DESK), saw('confirmed', '11', SPREAD), saw('mismatch', '10', subject)],
      ...['price: mismatch 2', 'spread: confirmed 1'],
    ],
    [
      `${what} older than a confirmation is not taken in, even when something newer shows on the source`,
      [saw('confirmed', '10'), saw('gone', '11'), saw('mismatch', '09', subject)],
      'price: confirmed 0',
    ],
  ];
};

const HISTORIES: readonly History[] = [
  ['a mismatch of the latest price', [saw('mismatch')], 'price: mismatch 0'],
  ['a mismatch of an older price', [saw('mismatch', '11', OLDER_PRICE)]],
  ['a mismatch of the latest volume', [saw('mismatch', '11', VOLUME)], 'volume: mismatch 0'],
  ['a mismatch of the source of the prices', [saw('mismatch', '11', WHOLE_DESK)], 'price: mismatch 0'],
  ['a mismatch of the source of the volume', [saw('mismatch', '11', WHOLE_EXCHANGE)], 'volume: mismatch 0'],
  [
    'a mismatch of a source disputes every metric whose latest observation carries its label',
    [batch(scalarOfExchange('openInterest'), scalarOfExchange('spread')), saw('mismatch', '11', WHOLE_EXCHANGE)],
    ...['openInterest: mismatch 1', 'spread: mismatch 1', 'volume: mismatch 1'],
  ],
  ['a confirmation settles it', [saw('mismatch'), saw('confirmed', '12')], 'price: confirmed 1'],
  [
    'a confirmation of the source settles it',
    [saw('mismatch', '11', WHOLE_DESK), saw('confirmed', '12', WHOLE_DESK)],
    'price: confirmed 1',
  ],
  ['an older confirmation settles nothing', [saw('mismatch', '10'), saw('confirmed', '09')], 'price: mismatch 0'],
  [
    'a confirmation of something else settles nothing',
    [saw('mismatch', '09'), saw('confirmed', '10', OLDER_PRICE), saw('confirmed', '10', VOLUME)],
    ...['price: mismatch 0', 'volume: confirmed 2'],
  ],
  ['a newer mismatch replaces an older one', [saw('mismatch', '09'), saw('mismatch', '10')], 'price: mismatch 1'],
  ...QUIET.flatMap((outcome): readonly History[] => [
    [`${outcome} does not dispute`, [saw(outcome)]],
    [`${outcome} does not settle`, [saw('mismatch', '10'), saw(outcome, '11')], 'price: mismatch 0'],
  ]),
  [
    'a confirmation keeps the dispute of a claim',
    [claim(ASSERTIONS.dispute), saw('mismatch', '09'), saw('confirmed', '10')],
    ...['price: confirmed 2', 'price: claim 0'],
  ],
  [
    'a claim keeps the dispute of a mismatch',
    [saw('mismatch'), claim(ASSERTIONS.dispute)],
    ...['price: mismatch 0', 'price: claim 1'],
  ],
  ...ofSubject('a mismatch of the observation', LATEST_PRICE),
  ...ofSubject('a mismatch of the source', WHOLE_DESK),
];

describe('the disputes of a source verification:', () => {
  it.each(HISTORIES.map(([what, steps, ...left]) => ({ what, steps, left })))('$what', async ({ steps, left }) => {
    const ids: unknown[] = [];
    for (const step of steps) ids.push(await step());
    const { comparisons, disputes } = await standing();
    const compared = Object.entries(comparisons).map(
      ([metric, { outcome, verification }]) => `${metric}: ${outcome} ${ids.indexOf(verification)}`,
    );
    const disputed = Object.entries(disputes).map(([metric, id]) => `${metric}: claim ${ids.indexOf(id)}`);
    expect([...compared.sort(), ...disputed.sort()]).toEqual(left);
  });
});

describe('a source verification at the same time as other writers', () => {
  it.each([
    ['newer', at('11'), 'gone'],
    ['older', at('08'), 'moved'],
  ])('is decided again on the new state, if it is %s', async (_, verifiedAt, shown) => {
    await recorded({ verifiedAt: at('09') });
    interfere(world, () => recorded({ verifiedAt: at('10'), outcome: 'moved' }));
    await recorded({ verifiedAt, outcome: 'gone' });
    expect((await standing()).verifications[DESK.url]).toMatchObject({ outcome: shown });
  });

  it('that would show nothing is recorded only if that is still so', async () => {
    await recorded({ outcome: 'mismatch', verifiedAt: at('12') });
    interfere(world, () => ingest(world.ledger, [priceRecord(18, 500000)]));
    const id = await recorded({ outcome: 'mismatch', verifiedAt: at('12') });
    expect((await standing()).comparisons.price).toMatchObject({ outcome: 'mismatch', verification: id });
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
