/** Attack: a feed's key writes what is not its own. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type FeedAuthority, marketLimitSchema } from '../../contract/files/feed-authority.ts';
import { FEED_SCOPES, type FeedScope, type Scope } from '../../contract/operations/scopes.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { workOff } from '../ingest/work-off.ts';
import { market, price } from '../publisher/world.ts';
import { openApiWorld } from '../write-api/world.ts';

const [GOLD, EURO] = ['gold-usd', 'fx-eur'];
const append = (slug: string, day = 5) => ({ ...price(slug, day, 6117), outlierConfirmed: false });
const retraction = (slug: string) => {
  const { type: _, observedAt, sourceUrl, metric } = price(slug, 0, 6117) as unknown as Record<string, string>;
  return { type: 'retraction', market: slug, metric, observedAt, sourceUrl, reason: 'a misprint' };
};

/** Sends records as a feed with this power, to a ledger with two markets; gives the codes of the refused rows. */
async function sent(power: FeedAuthority, records: readonly unknown[], path: 'batch' | 'upload', mode = 'append') {
  const scopes: Record<string, readonly Scope[]> = { 'acme/feed': power.scopes };
  const world = openApiWorld({ scopes, markets: power.markets === null ? {} : { 'acme/feed': power.markets } });
  const dependencies = { ledger: world.ledger, uploads: world.uploads, nowMs: () => world.nowMs };
  const known = [GOLD, EURO].flatMap((slug) => [market(slug), price(slug, 0, 6117)]);
  const batches = '/api/v1/ingest/batches';
  await world.call({ method: 'POST', path: batches, body: { records: known }, as: 'operator' });
  await workOff(dependencies);
  const as = 'acme/feed';
  if (path === 'batch') {
    const { status, json } = await world.call({
      method: 'POST',
      path: batches,
      body: { records, mode, partial: true },
      as,
    });
    if (status !== 202) return status;
    await workOff(dependencies);
    const report = await world.call({ path: `${batches}/${json.id}`, as });
    return report.json.errors.map(({ code }: { code: string }) => code);
  }
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const body = { sha256: hash('sha256', text), bytes: Buffer.byteLength(text), records: records.length, mode };
  const { status, json } = await world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body, as });
  if (status !== 201) return status;
  world.uploads.put(json.id, Buffer.from(text));
  await queueUpload({ ...dependencies, newAttemptId: () => 'arrived' }, json.id);
  await workOff(dependencies);
  const upload = (await world.call({ path: `/api/v1/ingest/uploads/${json.id}`, as })).json;
  const report = await world.call({ path: `${batches}/${upload.refusedIn[0]?.batch ?? upload.id}`, as });
  return report.json.errors?.map(({ code }: { code: string }) => code) ?? [];
}

const ALL: FeedScope[] = [...FEED_SCOPES];
const only = (scope: FeedScope): FeedAuthority => ({ scopes: [scope], markets: null });

const ATTACKS: readonly [string, FeedAuthority, unknown, string, readonly string[] | 403][] = [
  ['append, to append', only('ingest:write'), append(GOLD), 'append', []],
  ['append, to define a market', only('ingest:write'), market('new-usd'), 'append', ['scope.missing']],
  ['append, to redefine a market', only('ingest:write'), market(GOLD), 'append', ['scope.missing']],
  ['append, to retract', only('ingest:write'), retraction(GOLD), 'append', ['scope.missing']],
  [
    'append, to confirm an outlier',
    only('ingest:write'),
    { ...append(GOLD), outlierConfirmed: true },
    'append',
    ['scope.missing'],
  ],
  ['append, to correct', only('ingest:write'), append(GOLD, 0), 'correct', 403],
  ['correct, to correct', only('ingest:correct'), append(GOLD, 0), 'correct', []],
  ['correct, to retract', only('ingest:correct'), retraction(GOLD), 'append', []],
  ['correct, to append', only('ingest:correct'), append(GOLD), 'append', ['scope.missing']],
  ['correct, to define a market', only('ingest:correct'), market('new-usd'), 'append', ['scope.missing']],
  ['define, to define a market', only('markets:write'), market('new-usd'), 'append', []],
  ['define, to append', only('markets:write'), append(GOLD), 'append', ['scope.missing']],
  ['everything of its market, to append', { scopes: ALL, markets: [GOLD] }, append(GOLD), 'append', []],
  [
    'everything of its market, for another',
    { scopes: ALL, markets: [GOLD] },
    append(EURO),
    'append',
    ['market.not-allowed'],
  ],
  [
    'everything of its market, for one that is not defined',
    { scopes: ALL, markets: [GOLD] },
    append('silver-usd'),
    'append',
    ['market.not-allowed'],
  ],
  ['everything of its prefix, to append', { scopes: ALL, markets: ['fx-*'] }, append(EURO), 'append', []],
  [
    'everything of its prefix, for another',
    { scopes: ALL, markets: ['fx-*'] },
    market(GOLD),
    'append',
    ['market.not-allowed'],
  ],
  [
    'everything of its prefix, to retract another',
    { scopes: ALL, markets: ['fx-*'] },
    retraction(GOLD),
    'append',
    ['market.not-allowed'],
  ],
];

test.each(ATTACKS)('in a batch, a feed that may %s', async (_, power, record, mode, expected) => {
  expect(await sent(power, [record], 'batch', mode)).toEqual(expected);
});

test.each(ATTACKS)('in a file, a feed that may %s', async (_, power, record, mode, expected) => {
  expect(await sent(power, [record], 'upload', mode)).toEqual(expected);
});

test.each(['', '*', '-*', 'Gold*', 'gold**', 'a*b', '../x', 'ä*'])('%j is no market or prefix of a key', (pattern) => {
  expect(marketLimitSchema.safeParse([pattern]).success).toBe(false);
});

test('a key that is limited to some markets gives and takes no key for others', async () => {
  const world = openApiWorld({ markets: { 'acme/feed': ['fx-*'] } });
  const asOperator = (path: string, body: object) => world.call({ method: 'POST', path, body, as: 'operator' });
  const consentedAt = '2026-11-19T09:30:00Z';
  const application = { contact: 'jo@example.org', useCase: 'Feed', requestsPerDay: 10, consentedAt };
  const { id } = (await asOperator('/api/v1/waitlist-requests', application)).json;
  await asOperator(`/api/v1/waitlist-requests/${id}/decision`, { outcome: 'approved' });
  const key = { waitlistRequest: id, label: 'Feed', scopes: ['ingest:write'] };
  const issue = (markets: string[] | null, as: string) =>
    world.call({ method: 'POST', path: '/api/v1/api-keys', body: { ...key, markets }, as });
  const wide = await issue(null, 'operator');
  expect(wide).toMatchObject({ status: 201, json: { markets: null } });
  expect(await issue(['fx-eur', 'fx-gbp*'], 'acme/feed')).toMatchObject({
    status: 201,
    json: { markets: ['fx-eur', 'fx-gbp*'] },
  });
  for (const markets of [null, ['gold-usd'], ['fx-eur', 'fx*']]) {
    expect((await issue(markets, 'acme/feed')).status).toBe(403);
  }
  const path = `/api/v1/api-keys/${wide.json.id}`;
  expect((await world.call({ method: 'DELETE', path, as: 'acme/feed' })).status).toBe(403);
});

test('uses up the day of the operators, who have the same subject: each key has a count of its own', async () => {
  const world = openApiWorld({ scopes: { 'operator/feed': ['ingest:write'] } });
  const announce = (as: string, records: number) => {
    const body = { sha256: hash('sha256', `${as} ${records}`), bytes: 1000 * records, records };
    return world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body, as });
  };
  expect((await announce('operator/feed', 999_000)).status).toBe(201);
  expect((await announce('operator/feed', 2_000)).status).toBe(429);
  expect((await announce('operator', 2_000)).status).toBe(201);
});
