/** Attack: an API key that is limited to some markets is used for others, by every operation of the write API. */
import { describe, expect, it, test } from 'vitest';
import { ACCOUNT_SCOPES } from '../../contract/operations/accounts/api-keys.ts';
import { OPERATIONS, operationOf, UNLIMITED_SCOPES } from '../../contract/operations/operations.ts';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { workOff } from '../ingest/work-off.ts';
import { openDumpedLedger } from '../write-api/dumped-ledger.ts';
import { API_OPERATIONS, type ApiOperationId, seedWorld, validCall } from '../write-api/valid-calls.ts';
import { openApiWorld } from '../write-api/world.ts';

/** Resources are made with keys without limits, of the same accounts. */
const CAST = { owner: 'acme/maker', reviewer: 'desk/maker' };
const OF_THE_MARKETS = ['gold-*', 'tin-usd'];
const OF_OTHERS = ['gold-eur', 'fx-*'];

/** The statuses of the operation's valid call, with a key of its markets and with a key of other markets. */
type Expected =
  | 'both pass'
  /** Refused at once with the key of other markets. */
  | 'bound'
  /** Taken in, and then refused record by record. */
  | 'bound later'
  | 'both refused';

/** Written by hand: it judges the table of operations. */
const OPERATIONS_BY: { readonly [Outcome in Expected]: readonly ApiOperationId[] } = {
  'both pass': [
    ...(['listWatchlists', 'createWatchlist', 'getWatchlist', 'replaceWatchlist', 'deleteWatchlist'] as const),
    ...(['addWatchlistMarket', 'removeWatchlistMarket', 'listClaims', 'getClaim', 'listSourceVerifications'] as const),
    ...(['getSourceVerification', 'getIngestBatch', 'getIngestUpload', 'listSources', 'getSource'] as const),
    ...(['listSourceRuns', 'getSourceRun', 'getPublication', 'listTakedowns', 'getEntitlements'] as const),
    ...(['listWaitlistRequests', 'createWaitlistRequest', 'decideWaitlistRequest', 'listApiKeys'] as const),
    ...(['getErasure', 'listAuditRecords', 'getMe'] as const),
  ],
  bound: [
    ...(['createClaim', 'addClaimEvidence', 'withdrawClaim', 'reviewClaim', 'decideClaim'] as const),
    ...(['createSourceVerification', 'removeMarket', 'createTakedown'] as const),
  ],
  'bound later': ['createIngestBatch', 'createIngestUpload'],
  // A quota of 0 stops the feeds of all markets. These keys have no limit. An erasure takes a name off every market.
  'both refused': [
    ...(['putSource', 'deleteSource', 'pauseSource', 'resumeSource', 'createSourceRun', 'replaySourceRun'] as const),
    ...(['createPublication', 'putEntitlement', 'deleteEntitlement', 'createApiKey', 'rotateApiKey'] as const),
    ...(['revokeApiKey', 'createErasure'] as const),
  ],
};
const expectedOf = (id: ApiOperationId) =>
  (Object.keys(OPERATIONS_BY) as Expected[]).filter((outcome) => OPERATIONS_BY[outcome].includes(id));

/** Sends the valid call with a key that is limited to these markets, and lets the worker do what it then has to do. */
async function attack(id: ApiOperationId, limit: readonly string[]) {
  const ledger = openDumpedLedger();
  const markets = { 'acme/limited': limit, 'desk/limited': limit };
  const world = openApiWorld({ ledger, markets });
  await seedWorld(world);
  const call = await validCall(world, id, CAST);
  const work = () => workOff({ ledger, uploads: world.uploads, nowMs: () => world.nowMs });
  const ofMarkets = async () =>
    (await ledger.dump()).filter(({ partition }) => /^(market\/|markets$|dirty$|sources)/.test(partition));
  await work();
  const before = await ofMarkets();
  const answer = await world.call({ ...call, as: call.as?.replace('maker', 'limited') ?? null });
  await work();
  return { answer, before, after: await ofMarkets() };
}

describe.each(API_OPERATIONS)('%s', (id) => {
  const [expected, ...more] = expectedOf(id);
  const passes = operationOf(id).success.status;

  it(`with a key of other markets changes nothing of these: ${expected}`, async () => {
    expect([expected, more]).toEqual([expect.any(String), []]);
    const { answer, before, after } = await attack(id, OF_OTHERS);
    expect(after).toEqual(before);
    if (expected === 'both pass' || expected === 'bound later') expect(answer.status, answer.text).toBe(passes);
    else expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  });

  it(`with a key of its markets: ${expected}`, async () => {
    const { answer } = await attack(id, OF_THE_MARKETS);
    if (expected === 'both refused') expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    else expect(answer.status, answer.text).toBe(passes);
  });
});

describe('a key that is limited to markets', () => {
  const UNBOUND = ['entitlements:admin', 'recipes:write', 'publications:write', 'waitlist:admin'];
  const issue = (scopes: readonly string[], markets: readonly string[] | null) =>
    openApiWorld().call({
      method: 'POST',
      path: '/api/v1/api-keys',
      as: 'operator',
      body: { waitlistRequest: null, label: 'Feed', scopes, markets },
    });

  test.each(ALL_SCOPES)('is issued with %s if the scope can be bound', async (scope) => {
    const limited = await issue(['ingest:write', ...(scope === 'ingest:write' ? [] : [scope])], ['fx-*']);
    if (UNBOUND.includes(scope)) {
      expect(limited).toMatchObject({ status: 422, json: { errors: [{ pointer: '/scopes/1' }] } });
    } else expect(limited.status).toBe(201);
    expect((await issue([scope], null)).status).toBe(201);
  });

  test('can have every scope of accounts, and the description of keys names the others', () => {
    expect(UNLIMITED_SCOPES.filter((scope) => (ACCOUNT_SCOPES as readonly string[]).includes(scope))).toEqual([]);
    const { scopes } = OPERATIONS.createApiKey.body.shape;
    for (const scope of UNLIMITED_SCOPES) expect(scopes.description).toContain(scope);
  });
});
