/** Nothing that a sender hides in texts or names reaches reviewers, reports, answers, the audit or logs. */
import { describe, expect, test } from 'vitest';
import { createSecrets, pseudonymised } from '../../lambdas/pipeline/secrets.ts';
import { workOff } from '../ingest/work-off.ts';
import { market, price } from '../publisher/world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { ASSERTIONS, openClaimWorld } from './claim-world.ts';
import { watchLedger } from './watched-ledger.ts';
import { openApiWorld } from './world.ts';

describe('a text for reviewers', () => {
  const note = (text: string) => ({ url: 'https://evidence.example/1', note: text });

  test.each([
    ['an override of the direction', 'rejected \u202edetpecca'],
    ['an escape sequence', '\u001b[2Ja'],
  ])('with %s is refused, and not silently changed', async (_, text) => {
    const world = await openClaimWorld({ scopes: {} });
    const body = { assertion: { ...ASSERTIONS.dispute, reason: text }, evidence: [note(text)] };
    const { status, json } = await world.call({ method: 'POST', path: '/api/v1/claims', body });
    expect([status, json.code]).toEqual([422, 'validation-failed']);
    const places = json.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(places).toEqual(expect.arrayContaining(['/assertion/reason', '/evidence/0/note']));
  });

  test('of several lines and scripts is kept as it was sent', async () => {
    const world = await openClaimWorld({ scopes: {} });
    const text = 'Line one\n\tline two – “日本銀行” قیمت\u200cها \u{1f375}';
    const body = { assertion: ASSERTIONS.dispute, evidence: [note(text)] };
    const { status, json } = await world.call({ method: 'POST', path: '/api/v1/claims', body });
    expect([status, json.evidence[0].note]).toEqual([201, text]);
  });
});

describe('a credential as the name of a field', () => {
  const KEY = `tdm_live_4f8TqLw0ZkXcY2Rb_${'s'.repeat(43)}`;
  const TOKEN = `eyJ${'h'.repeat(20)}.${'p'.repeat(20)}.${'s'.repeat(20)}`;

  test.each([KEY, TOKEN])('%s is not repeated in a problem or a log', async (secret) => {
    const world = openApiWorld();
    for (const body of [
      { name: 'A', [secret]: 1 },
      `{"name":"A","${secret}":1,"${secret}":2}`,
      `{"${secret}":1e999}`,
    ]) {
      const { text, status } = await world.call({ method: 'POST', path: '/api/v1/watchlists', body });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain(secret);
      expect(text).toContain('[redacted]');
    }
    expect(JSON.stringify(world.log)).not.toContain(secret);
  });

  test.each([KEY, TOKEN])('%s is not repeated in the report of a batch', async (secret) => {
    const world = openApiWorld();
    const body = { records: [{ ...market('gold-usd'), [secret]: 1 }] };
    const { json } = await world.call({ method: 'POST', path: '/api/v1/ingest/batches', body });
    await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
    const report = await world.call({ path: `/api/v1/ingest/batches/${json.id}` });
    expect(report.json.errors).toHaveLength(1);
    expect(report.text).not.toContain(secret);
  });
});

describe('a URL with a credential of its sender', () => {
  const SECRET = '9F8E7D6C5B4A3928';
  const URL_OF_QUERY = `https://a.example/query?symbol=X&apikey=${SECRET}`;

  test('is refused in each row that would make it public, with the place and the parameter, and is not repeated', async () => {
    const world = openApiWorld();
    const source = { label: 'A', publisher: null, licence: null, attribution: null };
    const records = [
      { ...market('gold-usd'), sources: [{ ...source, url: URL_OF_QUERY }] },
      market('silver-usd'),
      { ...price('silver-usd', 0, 6117), sourceUrl: URL_OF_QUERY },
      { ...price('silver-usd', 1, 6117), sourceUrl: 'https://b.s3.amazonaws.com/x.csv?X-Amz-Signature=0123' },
      { ...price('silver-usd', 2, 6117), sourceUrl: 'https://data.example/?key=EXR.D.USD.EUR.SP00.A' },
    ];
    const { json } = await world.call({ method: 'POST', path: '/api/v1/ingest/batches', body: { records } });
    await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
    const report = await world.call({ path: `/api/v1/ingest/batches/${json.id}` });
    const faults = report.json.errors.map(({ pointer, code, detail }: Record<string, string>) => [
      pointer,
      code,
      detail,
    ]);
    expect(faults).toEqual([
      ['/records/0/sources/0/url', 'source.url-not-public', expect.stringContaining('the parameter apikey')],
      ['/records/2/sourceUrl', 'source.url-not-public', expect.stringContaining('the parameter apikey')],
      ['/records/3/sourceUrl', 'source.url-not-public', expect.stringContaining('the parameter X-Amz-Signature')],
    ]);
    expect(report.text).not.toContain(SECRET);
    expect(JSON.stringify(world.log)).not.toContain(SECRET);
  });

  test('is refused in claims', async () => {
    const world = await openClaimWorld({ scopes: {} });
    const body = { assertion: ASSERTIONS.dispute, evidence: [{ url: URL_OF_QUERY, note: 'a note' }] };
    const { status, json, text } = await world.call({ method: 'POST', path: '/api/v1/claims', body });
    expect([status, json.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      422,
      ['/evidence/0/url'],
    ]);
    expect(text).not.toContain(SECRET);
  });
});

describe('a user whose `sub` is an e-mail address', () => {
  const ADDRESS = 'jo@example.org';
  const secrets = createSecrets(new Uint8Array(32).fill(7));
  const pseudonym = pseudonymised(secrets, `user:${ADDRESS}`);

  test('has a pseudonym in the audit and in logs, also as the target, and can be found by the address', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const world = openApiWorld({ ledger });
    const { status } = await world.call({
      method: 'POST',
      path: '/api/v1/watchlists',
      body: { name: 'A' },
      as: ADDRESS,
    });
    expect(status).toBe(201);
    const path = `/api/v1/entitlements/user:${encodeURIComponent(ADDRESS)}/watchlists`;
    const headers = { 'if-none-match': '*' };
    await world.call({ method: 'PUT', path, body: { limit: 9 }, headers, as: 'operator' });
    const audits = [...(await ledger.everything()).values()].filter(({ partition }) => partition.startsWith('audit/'));
    expect(audits).toHaveLength(6);
    for (const audit of audits) expect(JSON.stringify(audit)).not.toContain(ADDRESS);
    expect(JSON.stringify(world.log)).not.toContain(ADDRESS);
    const list = async (query: string) => {
      const { json } = await world.call({ path: '/api/v1/audit-records', query, as: 'operator' });
      return json.data.map(({ actor, target }: Record<string, string>) => [actor, target]);
    };
    const own = [[pseudonym, expect.stringMatching(/^watchlist\//)]];
    expect(await list(`actor=user:${ADDRESS}`)).toEqual(own);
    expect(await list(`actor=${pseudonym}`)).toEqual(own);
    expect(await list(`target=entitlements/user:${ADDRESS}/watchlists`)).toEqual([
      ['key:operator', `entitlements/${pseudonym}/watchlists`],
    ]);
  });
});
