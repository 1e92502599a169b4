/** Attack: a credential that manages keys makes itself more powerful. Real keys, real authentication. */
import { beforeEach, describe, expect, it } from 'vitest';
import { coversMarket } from '../../contract/files/feed-authority.ts';
import type { Scope } from '../../contract/operations/scopes.ts';
import { formatApiKey, newApiKey, parseApiKey } from '../../lambdas/credentials/api-key-format.ts';
import type { TokenVerifier } from '../../lambdas/credentials/jwt.ts';
import { registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { type ApiWorld, openApiWorld, START_MS, seededBytes } from '../write-api/world.ts';

const KEYS = '/api/v1/api-keys';
const at = (hours: number) => new Date(START_MS + hours * 3_600_000).toISOString().replace('.000Z', 'Z');

interface Power {
  readonly subject: string;
  readonly scopes: readonly Scope[];
  readonly markets: readonly string[] | null;
  readonly expiresAt: string | null;
}

const ADMIN: readonly Scope[] = ['ingest:write', 'keys:admin'];
const OPERATOR: Power = { subject: 'operator', scopes: ADMIN, markets: null, expiresAt: null };

/** Holders of `keys:admin`. The user has a token of an issuer that gives this scope. */
const HOLDERS: Readonly<Record<string, Power>> = {
  'an operator key': OPERATOR,
  'a limited operator key': { ...OPERATOR, markets: ['fx-*'] },
  'an operator key that ends': { ...OPERATOR, expiresAt: at(2) },
  'a user': { ...OPERATOR, subject: 'user:ada' },
};

/** The keys that they issue, rotate and revoke. `account`: that of an approved request. */
const TARGETS: Readonly<Record<string, Power>> = {
  'the same': OPERATOR,
  'fewer scopes': { ...OPERATOR, scopes: ['ingest:write'] },
  'other scopes': { ...OPERATOR, scopes: ['ingest:correct', 'ingest:write'] },
  'fewer markets': { ...OPERATOR, markets: ['fx-eur'] },
  'other markets': { ...OPERATOR, markets: ['fx-eur', 'gold-usd'] },
  'an earlier end': { ...OPERATOR, markets: ['fx-eur'], expiresAt: at(1) },
  'a later end': { ...OPERATOR, markets: ['fx-eur'], expiresAt: at(3) },
  'an account, the same': { ...OPERATOR, subject: 'account', scopes: ['ingest:write'] },
  'an account, with an earlier end': {
    subject: 'account',
    scopes: ['ingest:write'],
    markets: ['fx-eur'],
    expiresAt: at(1),
  },
};

/** By holder: the targets that it may issue and rotate. All others are refused. */
const MAY_HOLD: Readonly<Record<string, readonly string[]>> = {
  'an operator key': Object.keys(TARGETS).filter((name) => name !== 'other scopes'),
  'a limited operator key': ['fewer markets', 'an earlier end', 'a later end', 'an account, with an earlier end'],
  'an operator key that ends': ['an earlier end', 'an account, with an earlier end'],
  'a user': ['an account, the same', 'an account, with an earlier end'],
};

const tokenIssuer: TokenVerifier = {
  async verify() {
    return { token: { subject: 'ada', scopes: new Set(ADMIN), expiresAt: at(0.1) } } as never;
  },
};

let world: ApiWorld;
let first: string;
let request: string;

const call = (as: string, method: string, path: string, body?: unknown) => world.call({ method, path, body, as });

beforeEach(async () => {
  const ledger = openMemoryLedger();
  const nowMs = () => START_MS;
  const authenticator = createAuthenticator({ ledger, nowMs, env: 'test', tokenIssuer });
  world = openApiWorld({ ledger, authenticator });
  const parts = newApiKey('test', seededBytes('first key'));
  await registerFirstKey({ ledger, nowMs, newId: (prefix) => `${prefix}_first` }, parts);
  first = formatApiKey(parts);
  const consentedAt = '2026-11-19T09:30:00Z';
  const application = { contact: 'jo@example.org', useCase: 'Feed', requestsPerDay: 10, consentedAt };
  request = (await call(first, 'POST', '/api/v1/waitlist-requests', application)).json.id;
  await call(first, 'POST', `/api/v1/waitlist-requests/${request}/decision`, { outcome: 'approved' });
});

function issue(as: string, { subject, scopes, markets, expiresAt }: Power) {
  const waitlistRequest = subject === 'operator' ? null : request;
  return call(as, 'POST', KEYS, { waitlistRequest, label: 'Key', scopes, markets, expiresAt });
}

async function credentialOf(holder: string): Promise<string> {
  const power = HOLDERS[holder] as Power;
  return power.subject.startsWith('user:') ? 'a.token.ofada' : (await issue(first, power)).json.key;
}

/** What a key can do, as the service says. */
async function powerOf(key: string): Promise<Power> {
  const { subject, scopes, markets, expiresAt } = (await call(key, 'GET', '/api/v1/me')).json;
  return { subject, scopes, markets, expiresAt };
}

function isWithin(given: Power, holder: Power): boolean {
  const isEnded = holder.expiresAt !== null && !holder.subject.startsWith('user:');
  return (
    (given.subject === holder.subject || given.subject.startsWith('account:')) &&
    given.scopes.every((scope) => holder.scopes.includes(scope)) &&
    (holder.markets === null || given.markets?.every((each) => coversMarket(holder.markets ?? [], each)) === true) &&
    (!isEnded || (given.expiresAt !== null && given.expiresAt <= (holder.expiresAt ?? '')))
  );
}

const PAIRS = Object.keys(HOLDERS).flatMap((holder) => Object.keys(TARGETS).map((target) => [holder, target] as const));

describe.each(PAIRS)('%s, and a key with %s', (holder, target) => {
  const power = TARGETS[target] as Power;
  const isAllowed = MAY_HOLD[holder]?.includes(target) === true;

  it(`${isAllowed ? 'is' : 'is not'} issued and rotated`, async () => {
    const credential = await credentialOf(holder);
    const victim = (await issue(first, power)).json;
    const answers = [
      await issue(credential, power),
      await call(credential, 'POST', `${KEYS}/${victim.id}/rotation`, {}),
    ];
    for (const { status, json } of answers) {
      if (!isAllowed) expect([status, json.code]).toEqual([403, 'forbidden']);
      else {
        expect(status).toBeLessThan(300);
        expect(isWithin(await powerOf(json.key), HOLDERS[holder] as Power)).toBe(true);
      }
    }
    // The old secret still opens what it opened.
    expect(await powerOf(victim.key)).toMatchObject({ scopes: power.scopes, markets: power.markets });
  });

  it('is revoked by nobody who has less than it, but for its lifetime', async () => {
    const credential = await credentialOf(holder);
    const victim = (await issue(first, power)).json;
    const { status } = await call(credential, 'DELETE', `${KEYS}/${victim.id}`);
    const mayRevoke =
      isAllowed || isWithin({ ...power, subject: subjectOf(power), expiresAt: at(0) }, HOLDERS[holder] as Power);
    expect(status).toBe(mayRevoke ? 204 : 403);
  });
});

function subjectOf({ subject }: Power): string {
  return subject === 'account' ? `account:${request}` : subject;
}

it('a key that ends cannot become one that does not, by a rotation of itself', async () => {
  const credential = await credentialOf('an operator key that ends');
  const id = parseApiKey(credential)?.keyId;
  const { json } = await call(credential, 'POST', `${KEYS}/${id}/rotation`, {});
  expect(await powerOf(json.key)).toEqual(HOLDERS['an operator key that ends']);
});
