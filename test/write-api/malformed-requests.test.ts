/** Requests whose path, query, header fields or body can be read in two ways, or in none, are refused and leave no trace. */
import { describe, expect, it } from 'vitest';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { watchLedger } from './watched-ledger.ts';
import { type Call, openApiWorld } from './world.ts';

const LISTS = '/api/v1/watchlists';
const CREATE: Call = { method: 'POST', path: LISTS, body: '{"name":"é"}', key: 'one-and-the-same-key' };

/** A call whose event has other fields than the world would give it. */
async function answerTo(call: Call, event: { readonly body?: string; readonly isBase64Encoded?: boolean } = {}) {
  const ledger = watchLedger(openMemoryLedger());
  const world = openApiWorld({ ledger });
  const { statusCode, body = '' } = await world.send({ ...world.eventOf(call), ...event });
  return { status: statusCode, text: body, code: statusCode < 400 ? null : JSON.parse(body).code, ledger };
}

async function expectRefused(code: string, call: Call, event = {}): Promise<void> {
  const refused = await answerTo(call, event);
  expect([refused.code, refused.ledger.calls]).toEqual([code, []]);
}

describe('a path', () => {
  it.each([
    ...['watchlists/%', 'watchlists/%zz', 'watchlists/%ff', 'watchlists/%ED%A0%80', 'watchlists/a/b/c/d'],
    ...['watchlists/a/markets', 'Watchlists', 'watchlists%2Fa', 'watchlists%2F', '__proto__', '/watchlists'],
  ])('%s is not found', async (path) => {
    await expectRefused('not-found', { path: `/api/v1/${path}` });
  });

  it('names the same with needless percent-encoding', async () => {
    expect((await answerTo({ path: '/api/v1/watch%6cists' })).status).toBe(200);
  });
});

describe('a query', () => {
  it.each([
    ...['a=%', 'a=%zz', '%=1', 'a=%FF', 'a=%C0%AF', 'a=%ED%A0%80', 'a=\ud83d', 'a=1&a=2', 'a=1&%61=2'],
    ...['__proto__=1&__proto__=2', '=1', 'a=1&', '&a=1', 'a=1&&b=2'],
  ])('%j is refused', async (query) => {
    await expectRefused('invalid-request', { path: LISTS, query });
  });

  it.each(['__proto__=1', 'constructor=1', 'keys=1&tokens=2'])('%s has unknown parameters only', async (query) => {
    await expectRefused('unknown-query-parameter', { path: LISTS, query });
  });

  it.each(['actor=user:alice', 'actor=user%3Aalice', '%61ctor=user:alice'])('%s names alice', async (query) => {
    const world = openApiWorld();
    await world.call(CREATE);
    const { json } = await world.call({ path: '/api/v1/audit-records', query });
    expect(json.data).toMatchObject([{ actor: 'user:alice' }]);
  });

  const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
  const API_KEY = 'tdm_live_01jd8n5w5xq6_c2VjcmV0c2VjcmV0';

  it.each([
    ...['access_token=abc', 'Access-Token=abc', 'token', 'apiKey=abc', 'key=abc', 'Authorization=abc', '%74oken=abc'],
    ...[`a=${JWT}`, `a=1&b=${API_KEY}`, 'a=tdm%5Flive', 'a=%20eyJhbGciOi', 'a=bearer%20abc', API_KEY, `${JWT}=1`],
    ...[`a=%&b=${JWT}`, `a=${API_KEY}%`, `a=1&a=${API_KEY}`],
  ])('%s holds a credential, which is not repeated', async (query) => {
    const { code, text } = await answerTo({ path: LISTS, query, as: null });
    expect([code, [JWT, API_KEY].some((secret) => text.includes(secret))]).toEqual(['credential-in-url', false]);
  });
});

describe('an Idempotency-Key', () => {
  const key = 'Z_9-'.repeat(4);

  it.each([key, key.repeat(4), `"${key}"`])('%s is taken', async (field) => {
    expect((await answerTo({ ...CREATE, key: field })).status).toBe(201);
  });

  it.each([
    ...['', '""', 'a'.repeat(15), 'a'.repeat(65), `"${key}`, `${key}"`, `'${key}'`, `"${key}";p=1`, `${key},${key}`],
    ...[`${key}\n`, `${key} b`, 'é'.repeat(16)],
  ])('%j is refused', async (field) => {
    await expectRefused('idempotency-key-malformed', { ...CREATE, key: field });
  });
});

describe('a precondition', () => {
  const remove = async (headers: Readonly<Record<string, string>>) => {
    const world = openApiWorld();
    const { json } = await world.call(CREATE);
    const answer = await world.call({ method: 'DELETE', path: `${LISTS}/${json.id}`, headers });
    return answer.json?.code ?? answer.status;
  };

  it.each([...['*', ' * ', '"1"', '"7", "1"', '"7","1" ,\t"0"', ', ,"1",', 'W/"7", "1"', '"a,b", "1"']])(
    'If-Match: %j names revision 1',
    async (field) => {
      expect(await remove({ 'if-match': field })).toBe(204);
    },
  );

  it.each([
    ...['', ',', '1', '"1', '1"', '"1" "8"', '"1""8"', 'w/"1"', 'W/ "1"', '*, "1"', '"1", *', '"1", 8', "'1'"],
    ...['"a b"', '"1"\n', '"\u20ac"', `${' '.repeat(1_000_000)}x`],
  ])('If-Match: %.20j is refused', async (field) => {
    expect(await remove({ 'if-match': field })).toBe('invalid-request');
  });

  it.each(['', '"7"', '*, *', '*,"7"', '**'])('If-None-Match: %j is refused', async (field) => {
    const path = '/api/v1/entitlements/user:bob/watchlists';
    const call = { method: 'PUT', path, body: { limit: 1 }, headers: { 'if-none-match': field } };
    await expectRefused('invalid-request', call);
  });
});

describe('a body', () => {
  const withHeaders = (headers: Call['headers']): Call => ({ ...CREATE, ...(headers && { headers }) });
  const base64 = (bytes: Uint8Array | string) => ({
    body: Buffer.from(bytes).toString('base64'),
    isBase64Encoded: true,
  });

  it.each<[string, Call['headers'], object]>([
    ['of a type in capitals', { 'content-type': 'Application/JSON' }, {}],
    ['of UTF-8 by name', { 'content-type': 'application/json;charset="UTF-8"' }, {}],
    ['that is encoded as itself', { 'content-encoding': 'Identity' }, {}],
    ['in Base64', { 'content-length': '1' }, base64('{"name":"é"}')],
    ['of the announced length', { 'content-length': '13' }, {}],
    ['of an announced length that is none', { 'content-length': '3, 3' }, {}],
    ['with a replacement character that was sent', { 'content-length': '14' }, { body: '{"name":"\ufffd"}' }],
  ])('%s is taken', async (_, headers, event) => {
    expect((await answerTo(withHeaders(headers), event)).status).toBe(201);
  });

  it.each([
    ...[undefined, '', 'text/plain', 'application/problem+json', 'application/jsonx', 'json'],
    ...['application/json; charset=iso-8859-1', 'application/json; charset=utf-8; charset=utf-8'],
    ...['application/json; version=2', 'application/json;', 'application/json, application/json', ' / '],
  ])('of the type %j is refused', async (type) => {
    await expectRefused('unsupported-media-type', withHeaders({ 'content-type': type }));
  });

  it.each(['gzip', 'identity, gzip', ''])('encoded as %j is refused', async (coding) => {
    await expectRefused('unsupported-media-type', withHeaders({ 'content-encoding': coding }));
  });

  it.each<[string, object]>([
    ['that is empty', { body: '' }],
    ['in Base64 of URLs', { body: '-_-_', isBase64Encoded: true }],
    ['in Base64 without padding', { body: 'MQ', isBase64Encoded: true }],
    ['in Base64 with bits after the end', { body: 'MR==', isBase64Encoded: true }],
    ['in Base64 of two lines', { body: 'MTIz\nMTIz', isBase64Encoded: true }],
    ['with a byte order mark', base64('\ufeff{"name":"A"}')],
    ['of a byte that begins nothing', base64(Uint8Array.of(0x22, 0xff, 0x22))],
    ['with a character that is cut off', base64(Uint8Array.of(0x22, 0xe2, 0x82))],
    ['with an overlong form', base64(Uint8Array.of(0xc0, 0xaf))],
    ['with half a surrogate in UTF-8', base64(Uint8Array.of(0xed, 0xa0, 0x80))],
    ['with half a surrogate in a text', { body: '{"name":"\ud83d"}' }],
  ])('%s is refused', async (_, event) => {
    await expectRefused('malformed-body', CREATE, event);
  });

  // API Gateway decodes a text body, with U+FFFD for invalid UTF-8. Only the length shows it.
  it.each<[string, number[]]>([
    ['ISO 8859-1', [0xe9]],
    ['a character of four bytes without the last two', [0xf0, 0x9f]],
    ['an overlong form', [0xc0, 0xaf]],
  ])('that was decoded from %s is refused', async (_, bytes) => {
    const sent = Uint8Array.from([...Buffer.from('{"name":"'), ...bytes, ...Buffer.from('"}')]);
    const headers = { 'content-length': String(sent.length) };
    await expectRefused('malformed-body', withHeaders(headers), { body: new TextDecoder().decode(sent) });
  });

  it('of an operation that takes none is refused', async () => {
    await expectRefused('invalid-request', {
      method: 'PUT',
      path: `${LISTS}/wl_01JD8N5W5XQ6M4T0VZ8R2K7C3A/markets/gold-usd`,
      body: ' ',
    });
  });
});
