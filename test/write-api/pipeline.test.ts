/** The promises that follow from each row of the table of operations: scopes, answers, replays. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_BODY_BYTES } from '../../contract/operations/operation.ts';
import { operationOf, type ReadOperationId } from '../../contract/operations/operations.ts';
import { ALL_SCOPES, type Scope } from '../../contract/operations/scopes.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { answersOf } from '../../storage/records/accounts.ts';
import { auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { API_OPERATIONS, type ApiOperationId, seedWorld, validCall } from './valid-calls.ts';
import { watchLedger } from './watched-ledger.ts';
import { type Answer, type ApiWorld, type ApiWorldOptions, openApiWorld } from './world.ts';

const isRead = (id: ApiOperationId): id is ReadOperationId => operationOf(id).method === 'GET';
const WRITES = API_OPERATIONS.filter((id) => !isRead(id));

const EVERY_ANSWER = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed',
};

async function openWorld(options: ApiWorldOptions = {}): Promise<ApiWorld> {
  const world = openApiWorld({ ledger: openMemoryLedger(), ...options });
  await seedWorld(world);
  return world;
}

describe.each(API_OPERATIONS)('%s', (id) => {
  const row = operationOf(id);

  it('has a path that the server hands to the write API', () => {
    expect(isWritePath(row.path.replaceAll(/\{\w+\}/g, 'x'))).toBe(true);
  });

  it('answers a valid call with the status, the body and the headers of its row', async () => {
    const world = await openWorld();
    const { status, headers, json, text } = await world.call(await validCall(world, id));
    expect(status, text).toBe(row.success.status);
    if (row.success.body === null) expect(text).toBe('');
    else expect(row.success.body.parse(json)).toEqual(json);
    for (const name of row.success.headers ?? []) expect(headers).toHaveProperty(name.toLowerCase());
    expect(headers).toMatchObject(EVERY_ANSWER);
    expect(headers['content-type']).toBe(text === '' ? undefined : 'application/json');
  });

  it('is refused without a credential, before any other check', async () => {
    const world = await openWorld();
    const call = await validCall(world, id);
    for (const each of [call, { ...call, body: '{', query: 'no=where', headers: {} }]) {
      const answer = await world.call({ ...each, as: null });
      expect(answer).toMatchObject({ status: 401, json: { code: 'unauthenticated' }, headers: EVERY_ANSWER });
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  });

  it('is for credentials with one of its scopes, and for no others', async () => {
    const nameOf = (scope: Scope) => `only-${scope.replace(':', '-')}`;
    const scopes = Object.fromEntries(ALL_SCOPES.map((scope) => [nameOf(scope), [scope]]));
    const world = await openWorld({ scopes: { ...scopes, nobody: [] } });
    const call = await validCall(world, id);
    const needed = row.scopes as readonly Scope[];
    const challenge = `error="insufficient_scope", scope="${needed.join(' ')}"`;
    const passes = async (as: string) => {
      const answer = await world.call({ ...call, as });
      // A handler may ask for more, and then names something else.
      const isRefused = answer.status === 403 && answer.headers['www-authenticate']?.endsWith(challenge) === true;
      expect(answer.status).not.toBe(401);
      if (isRefused) expect(answer.json.code).toBe('forbidden');
      return !isRefused;
    };
    expect(await passes('nobody')).toBe(needed.length === 0);
    for (const scope of ALL_SCOPES) {
      expect([scope, await passes(nameOf(scope))]).toEqual([scope, needed.length === 0 || needed.includes(scope)]);
    }
  });

  it('answers HEAD as GET, OPTIONS with the supported methods, and other methods with 405', async () => {
    const world = await openWorld();
    const call = { ...(await validCall(world, id)), body: undefined };
    const methods = API_OPERATIONS.filter((each) => operationOf(each).path === row.path).map(
      (each) => operationOf(each).method,
    );
    const preflight = await world.call({ ...call, method: 'OPTIONS', as: null });
    expect(preflight).toMatchObject({ status: 204, text: '' });
    const allowed = preflight.headers['access-control-allow-methods']?.split(', ') ?? [];
    expect(allowed.filter((method) => !['OPTIONS', 'HEAD'].includes(method)).sort()).toEqual([...methods].sort());
    for (const method of ['PATCH', 'TRACE', 'get', 'PROPFIND']) {
      const answer = await world.call({ ...call, method });
      expect([method, answer.status, answer.json.code]).toEqual([method, 405, 'method-not-allowed']);
      expect(answer.headers.allow).toBe(preflight.headers.allow);
    }
    const head = await world.call({ ...call, method: 'HEAD' });
    if (methods.includes('GET'))
      expect(head.headers.etag).toBe((await world.call({ ...call, method: 'GET' })).headers.etag);
    else expect(head.status).toBe(405);
  });

  it('refuses query parameters that it does not have', async () => {
    const world = await openWorld();
    const { query, ...call } = await validCall(world, id);
    const answer = await world.call({ ...call, query: [query, 'unheard=1'].filter(Boolean).join('&') });
    expect(answer).toMatchObject({ status: 400, json: { code: 'unknown-query-parameter' } });
  });
});

/** The place of an id in the path of an operation; -1 if it has none. */
const placeOfId = (id: ApiOperationId): number =>
  operationOf(id)
    .path.split('/')
    .findLastIndex((part) => /^\{(id|run)\}$/.test(part));
const idIn = (id: ApiOperationId, path: string): string | undefined => path.split('/')[placeOfId(id)];

describe('what is not there', () => {
  it.each(API_OPERATIONS.filter((id) => placeOfId(id) >= 0))('is not found by %s, whatever its id', async (id) => {
    const ledger = watchLedger(openMemoryLedger());
    const world = await openWorld({ ledger });
    const call = await validCall(world, id);
    const own = idIn(id, call.path) as string;
    const before = ledger.commits.length;
    const neighbour = own.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const other of [neighbour, own.slice(0, -1), 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A', 'no-id', '%2e%2e', '%zz']) {
      const answer = await world.call({ ...call, path: call.path.split('/').with(placeOfId(id), other).join('/') });
      expect([other, answer.status, answer.json.code]).toEqual([other, 404, 'not-found']);
    }
    expect(ledger.commits).toHaveLength(before);
  });
});

describe('what belongs to another subject', () => {
  const isOwned = (id: ApiOperationId) =>
    /^\/api\/v1\/(watchlists|claims|ingest\/\w+)\/\{id\}/.test(operationOf(id).path) &&
    !['reviewClaim', 'decideClaim'].includes(id);
  /** An operator reads every report. */
  const strangersTo = (id: ApiOperationId) =>
    id.startsWith('getIngest') ? ['bob', 'acme/k1'] : ['bob', 'acme/k1', 'operator'];

  it.each(API_OPERATIONS.filter(isOwned))('is not found by %s, with any credential', async (id) => {
    const ledger = watchLedger(openMemoryLedger());
    // Reviewers read the claims of others.
    const scopes = id === 'getClaim' ? (['claims:read'] as const) : ALL_SCOPES;
    const world = await openWorld({ ledger, scopes: { bob: scopes, 'acme/k1': scopes, operator: scopes } });
    const call = await validCall(world, id);
    const before = ledger.commits.length;
    for (const as of strangersTo(id)) {
      const { status, json } = await world.call({ ...call, as });
      expect([as, status, json.code]).toEqual([as, 404, 'not-found']);
    }
    expect(ledger.commits).toHaveLength(before);
  });
});

describe.each(WRITES)('%s', (id) => {
  const KEY = 'one-and-the-same-key';
  const substance = ({ status, text, headers: { etag, location } }: Answer) => ({ status, text, etag, location });

  it('has one effect and is replayed, with one audit record that names it', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const world = await openWorld({ ledger });
    const call = { ...(await validCall(world, id)), key: KEY };
    const before = ledger.commits.length;
    const first = await world.call(call);
    const copies = await Promise.all(Array.from({ length: 5 }, () => world.call(call)));
    for (const copy of copies) {
      expect(substance(copy)).toEqual(substance(first));
      expect(copy.headers['idempotency-replayed']).toBe('true');
    }
    const own = ledger.commits.slice(before).flatMap(({ changes }) => changes);
    expect(ledger.commits.length - before).toBe(1);
    const audit = own.flatMap((change) => (change.key.partition.startsWith('audit/') ? [change] : []));
    const actor = `user:${call.as}`;
    const isOfMarket = ['decideClaim', 'createSourceVerification'].includes(id);
    expect(audit.map(({ key }) => key.partition).sort()).toEqual([
      auditOfActor(actor).partition,
      expect.stringMatching(/^audit\/day\/2026-11-20\/\d$/),
      ...[
        expect.stringMatching(/^audit\/target\/./),
        ...(isOfMarket ? [expect.stringMatching(/^audit\/target\/./)] : []),
      ],
    ]);
    expect(audit.filter(({ key }) => key.partition === auditOfTarget('market/gold-usd').partition)).toHaveLength(
      isOfMarket || id === 'removeMarket' ? 1 : 0,
    );
    const texts = { id: expect.any(String), at: expect.any(String), requestId: expect.any(String) };
    const rest = { target: expect.any(String), fingerprint: expect.any(String), chain: expect.anything() };
    for (const change of audit) expect(change).toHaveProperty('value', { actor, action: id, ...texts, ...rest });
    const named = first.json?.id ?? idIn(id, call.path);
    if (named !== undefined) expect(audit.map(({ key }) => key.partition.split('/').at(-1))).toContain(named);
    expect(own.filter(({ key }) => key.partition === answersOf(actor).partition)).toHaveLength(1);
  });

  it('needs a key', async () => {
    const world = await openWorld();
    const call = await validCall(world, id);
    for (const [key, code] of [
      [undefined, 'idempotency-key-missing'],
      ['short', 'idempotency-key-malformed'],
    ]) {
      const answer = await world.call({ ...call, headers: { ...call.headers, 'idempotency-key': key } });
      expect(answer).toMatchObject({ status: 400, json: { code } });
    }
  });

  it('stores its answer for replays in sealed form only', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const world = await openWorld({ ledger });
    const { text, json } = await world.call({ ...(await validCall(world, id)), key: KEY });
    const stored = [...(await ledger.everything()).values()].find(({ sort }) => sort === KEY);
    const value = stored?.value as { readonly sealedBody: string };
    expect(Object.keys(value).sort()).toEqual(['fingerprint', 'headers', 'sealedBody', 'status']);
    if (text !== '') expect(Buffer.from(value.sealedBody, 'base64').toString()).not.toContain(text.slice(0, 20));
    if (json?.key !== undefined) expect(JSON.stringify([...(await ledger.everything())])).not.toContain(json.key);
  });
});

describe('a condition on the version', () => {
  const VERSIONED = WRITES.filter((id) => operationOf(id).precondition !== undefined);

  it.each(VERSIONED)('is checked by %s, and required for an overwrite', async (id) => {
    const world = await openWorld();
    const call = await validCall(world, id);
    // Strong comparison (RFC 9110, section 13.1.1), of the only spelling of a revision.
    for (const stale of ['"999"', 'W/"1"', '"another"', '"01"', '"1.0"', '"-1"', '"1e+21"', '"NaN"']) {
      const answer = await world.call({ ...call, headers: { 'if-match': stale } });
      expect([stale, answer.status, answer.json.code]).toEqual([stale, 412, 'precondition-failed']);
      const hasIt = call.headers?.['if-none-match'] === undefined;
      if (hasIt) expect(answer.headers.etag).toMatch(/^"[12]"$/);
      // A weak tag does not say that the resource has changed.
      if (hasIt)
        expect([stale, answer.json.detail.includes('W/')]).toEqual([stale, stale !== '"999"' && stale !== '"-1"']);
    }
    const { status, json } = await world.call({ ...call, headers: {} });
    if (operationOf(id).precondition === 'if-match-if-sent') expect(status).toBe(200);
    else expect([status, json.code]).toEqual([428, 'precondition-required']);
    if (operationOf(id).precondition !== 'if-match-or-none-match') return;
    const headers = [{ 'if-none-match': '*' }, { 'if-none-match': '*' }, { 'if-match': '"1"' }, { 'if-match': '*' }];
    const statuses: number[] = [];
    for (const each of headers) statuses.push((await world.call({ ...call, headers: each })).status);
    expect(statuses).toEqual([200, 412, 200, 200]);
  });
});

describe('a condition that the operation does not check', () => {
  const UNVERSIONED = WRITES.filter((id) => operationOf(id).precondition === undefined);

  it.each(UNVERSIONED)('is refused by %s, so that no client relies on it', async (id) => {
    const world = await openWorld();
    const call = await validCall(world, id);
    for (const headers of [{ 'if-match': '"999"' }, { 'if-none-match': '*' }]) {
      const answer = await world.call({ ...call, headers });
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid-request']);
    }
    expect((await world.call(call)).status).toBe(operationOf(id).success.status);
  });

  it('is refused beside one that is checked', async () => {
    const world = await openWorld();
    const call = await validCall(world, 'replaceWatchlist');
    const answer = await world.call({ ...call, headers: { ...call.headers, 'if-none-match': '*' } });
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid-request']);
  });
});

describe('the body', () => {
  it.each(WRITES.filter((id) => operationOf(id).body !== undefined))(
    'of %s has no fault without its place',
    async (id) => {
      const ledger = watchLedger(openMemoryLedger());
      const world = await openWorld({ ledger });
      const call = await validCall(world, id);
      const body = call.body as Readonly<Record<string, unknown>>;
      const before = ledger.commits.length;
      const refusal = async (wrong: unknown) => {
        const { status, json } = await world.call({ ...call, body: wrong });
        return [status, json.code, ...json.errors.map(({ pointer }: { pointer: string }) => pointer)];
      };
      expect(await refusal('{')).toEqual([400, 'malformed-body', '']);
      expect(await refusal([])).toEqual([422, 'validation-failed', '']);
      expect(await refusal({ ...body, unheard: 1 })).toEqual([422, 'validation-failed', '/unheard']);
      for (const [name, value] of Object.entries(body)) {
        const ofAnotherType = typeof value === 'number' ? 'one' : 1;
        expect(await refusal({ ...body, [name]: ofAnotherType })).toContain(`/${name}`);
        const { [name]: _, ...without } = body;
        if (operationOf(id).body?.safeParse(without).success === false) {
          expect(await refusal(without)).toEqual([422, 'validation-failed', `/${name}`]);
        }
      }
      expect(ledger.commits).toHaveLength(before);
    },
  );
});

describe('the size of a body', () => {
  const filled = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes - 11) });

  it.each([
    ['as large as its operation takes', DEFAULT_BODY_BYTES, 'validation-failed'],
    ['larger by one byte', DEFAULT_BODY_BYTES + 1, 'content-too-large'],
  ])('%s', async (_, bytes, code) => {
    const world = await openWorld();
    const call = await validCall(world, 'createWatchlist');
    expect(filled(bytes)).toHaveLength(bytes);
    expect((await world.call({ ...call, body: filled(bytes) })).json.code).toBe(code);
  });

  it('limits the faults that are reported for unknown fields', async () => {
    const world = await openWorld();
    const call = await validCall(world, 'createWatchlist');
    const names = Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 0]);
    const { json } = await world.call({ ...call, body: Object.fromEntries(names) });
    expect(json.code).toBe('validation-failed');
    expect(json.errors.length).toBeLessThan(100);
  });
});

describe('the pipeline', () => {
  it('refuses a credential in the URL, also without another one', async () => {
    const world = await openWorld();
    for (const as of [null, 'alice']) {
      const { status, json } = await world.call({ path: '/api/v1/me', query: 'access_token=abc', as });
      expect([status, json.code]).toEqual([400, 'credential-in-url']);
    }
  });

  it('limits the requests of each credential separately', async () => {
    const world = await openWorld({ requestsPerMinute: 2 });
    const call = { path: '/api/v1/me' };
    const [first, second, third] = [await world.call(call), await world.call(call), await world.call(call)];
    expect([first, second].map(({ status }) => status)).toEqual([200, 200]);
    expect(first?.headers).toMatchObject({
      'ratelimit-policy': '"default";q=2;w=60',
      ratelimit: expect.stringMatching(/^"default";r=1;t=\d+$/),
    });
    expect(third).toMatchObject({ status: 429, json: { code: 'rate-limited' } });
    expect(third.headers).toMatchObject({ ratelimit: expect.stringMatching(/^"default";r=0;t=\d+$/) });
    expect((await world.call({ ...call, as: 'bob' })).status).toBe(200);
    world.nowMs += Number(third.headers['retry-after']) * 1000;
    expect((await world.call(call)).status).toBe(200);
  });

  it('answers 404 for unknown paths, with and without a credential', async () => {
    const world = await openWorld();
    for (const path of ['/', '/api/v1', '/api/v1/', '/api/v1/me/', '/api/v1//me', '/api/v2/me', '/api/v1/ME', '']) {
      for (const as of ['alice', null]) {
        expect(await world.call({ path, as })).toMatchObject({ status: 404, json: { code: 'not-found' } });
      }
    }
  });

  it('reports internal faults in the log, and only there', async () => {
    const broken = {
      ...openMemoryLedger(),
      query: () => Promise.reject(new StorageCorrupt('items.db is damaged; Bearer abc.def tdm_live_x_y')),
    };
    const world = openApiWorld({ ledger: broken });
    const answer = await world.call({ path: '/api/v1/watchlists' });
    expect(answer).toMatchObject({ status: 500, json: { code: 'internal-error' } });
    expect(answer.text).not.toMatch(/damaged|items\.db|at /);
    const [entry] = world.log;
    expect(entry?.fault).toMatch(/StorageCorrupt: items\.db is damaged/);
    expect(entry?.fault).not.toMatch(/abc\.def|tdm_live_x/);
  });

  it('logs one line for each request, without its content', async () => {
    const world = await openWorld();
    await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'Secret plans' } });
    await world.call({ path: '/api/v1/nowhere', as: null });
    expect(world.log).toEqual([
      expect.objectContaining({ operation: 'createWatchlist', status: 201, code: null, actor: 'user:alice' }),
      expect.objectContaining({ operation: null, status: 404, code: 'not-found', actor: null, fault: null }),
    ]);
    expect(JSON.stringify(world.log)).not.toContain('Secret');
  });

  it('names the request in every problem as in the log', async () => {
    const world = await openWorld();
    const { json } = await world.call({ path: '/api/v1/nowhere' });
    expect(json.instance).toBe(`/requests/${world.log.at(-1)?.requestId}`);
  });
});

describe('reads', () => {
  it.each(API_OPERATIONS.filter(isRead))('%s gives 304 for its current ETag', async (id) => {
    const world = await openWorld();
    const call = await validCall(world, id);
    const { headers } = await world.call(call);
    const again = await world.call({ ...call, headers: { ...call.headers, 'if-none-match': headers.etag } });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: headers.etag } });
    expect((await world.call({ ...call, headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});
