import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { readBody, refuseBody } from '../../lambdas/http/body.ts';
import { httpEvent } from './http-event.ts';

const RULES = { maxBytes: 16, mediaTypes: ['application/json', 'application/x-ndjson'] };
const JSON_TYPE = { 'content-type': 'application/json' };

function read(parts: Parameters<typeof httpEvent>[0]) {
  const result = readBody(httpEvent(parts), RULES);
  return 'problem' in result ? result.problem.code : result.body;
}

const base64 = (bytes: Uint8Array | string) => ({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true });

describe('readBody', () => {
  it.each([
    ['as text', { body: '{"é":1}', isBase64Encoded: false }],
    ['in Base64', base64('{"é":1}')],
  ])('gives bytes and text of a body that comes %s', (_, parts) => {
    const bytes = Buffer.from('{"é":1}');
    expect(read({ headers: JSON_TYPE, ...parts })).toEqual({ bytes, text: '{"é":1}', mediaType: 'application/json' });
  });

  it('leaves a byte order mark to the parser', () => {
    expect(read({ headers: JSON_TYPE, ...base64('\ufeff1') })).toHaveProperty('text', '\ufeff1');
  });

  it.each([
    ['application/json'],
    ['Application/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['application/x-ndjson ; charset=utf-8 '],
  ])('takes Content-Type %j', (type) => {
    const expected = type.toLowerCase().replace(/ ?;.*/, '');
    expect(read({ headers: { 'content-type': type }, body: '1' })).toHaveProperty('mediaType', expected);
  });

  it.each([
    [undefined],
    [''],
    ['text/plain'],
    ['application/problem+json'],
    ['application/jsonx'],
    ['json'],
    ['application/json; charset=utf-16'],
    ['application/json; charset=iso-8859-1'],
    ['application/json; charset=utf-8; charset=utf-8'],
    ['application/json; version=2'],
    ['application/json;'],
    ['application/json, application/json'],
    ['application/json,text/plain'],
    ['multipart/form-data; boundary=x'],
    [' / '],
  ])('refuses Content-Type %j', (type) => {
    expect(read({ headers: { 'content-type': type }, body: '1' })).toBe('unsupported-media-type');
  });

  it.each([['gzip'], ['br'], ['identity, gzip'], ['gzip, identity'], ['']])('refuses Content-Encoding %j', (coding) => {
    expect(read({ headers: { ...JSON_TYPE, 'content-encoding': coding }, body: '1' })).toBe('unsupported-media-type');
  });

  it('takes Content-Encoding identity', () => {
    expect(read({ headers: { ...JSON_TYPE, 'content-encoding': 'Identity' }, body: '1' })).toHaveProperty('text', '1');
  });

  it.each([[{}], [{ body: '' }], [{ body: '', isBase64Encoded: true }]])('refuses an empty body: %j', (parts) => {
    expect(read({ headers: JSON_TYPE, ...parts })).toBe('malformed-body');
  });

  it.each([
    ['characters that are not in the alphabet', '!!!!'],
    ['the alphabet of URLs', '-_-_'],
    ['white space', 'MTIz\nMTIz'],
    ['padding that is missing', 'MQ'],
    ['padding that is too long', 'MQ==='],
    ['bits after the end', 'MR=='],
    ['text after the padding', 'MQ==MQ=='],
  ])('refuses Base64 with %s', (_, body) => {
    expect(read({ headers: JSON_TYPE, body, isBase64Encoded: true })).toBe('malformed-body');
  });

  it.each([
    ['a byte that begins nothing', [0xff]],
    ['a character that is cut off', [0x22, 0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('refuses %s instead of UTF-8', (_, bytes) => {
    expect(read({ headers: JSON_TYPE, ...base64(Uint8Array.from(bytes)) })).toBe('malformed-body');
  });

  it('refuses text that no bytes stand for', () => {
    expect(read({ headers: JSON_TYPE, body: '"\ud83d"' })).toBe('malformed-body');
  });

  // API Gateway decodes a text body, with U+FFFD for invalid UTF-8. Only the length shows it.
  describe('of a text with an announced length', () => {
    const announced = (body: string, length: string | number) =>
      read({ headers: { ...JSON_TYPE, 'content-length': String(length) }, body });
    const sentAs = (...bytes: number[]) => new TextDecoder().decode(Uint8Array.from([0x22, ...bytes, 0x22]));

    it.each([
      ['ASCII', '"x"'],
      ['characters of two bytes', '"éé"'],
      ['characters of three bytes', '"€"'],
      ['characters beyond the first plane', '"😀"'],
      ['a replacement character that was sent as such', '"\ufffd"'],
      ['a byte order mark', '\ufeff1'],
    ])('takes %s', (_, text) => {
      expect(announced(text, Buffer.byteLength(text))).toHaveProperty('text', text);
    });

    it.each<[string, number[]]>([
      ['ISO 8859-1', [0xe9]],
      ['a byte that begins nothing', [0xff]],
      ['a character of two bytes without the second', [0xc3]],
      ['a character of three bytes without the last', [0xe2, 0x82]],
      ['a character of four bytes without the last two', [0xf0, 0x9f]],
      ['a surrogate', [0xed, 0xa0, 0x80]],
      ['an overlong form', [0xc0, 0xaf]],
      ['a valid character before an invalid byte', [0xf0, 0x9f, 0x98, 0x80, 0xe9]],
    ])('refuses %s', (_, bytes) => {
      expect(announced(sentAs(...bytes), bytes.length + 2)).toBe('malformed-body');
    });

    it('refuses an empty body with any announcement', () => {
      expect([announced('', 0), announced('', 5)]).toEqual(['malformed-body', 'malformed-body']);
    });

    it.each([[undefined], [''], ['x'], ['3, 3']])('takes any text where the announcement is %j', (length) => {
      const headers = { ...JSON_TYPE, 'content-length': length };
      expect(read({ headers, body: '"é"' })).toHaveProperty('text', '"é"');
    });

    it('does not check Base64, whose bytes are exact', () => {
      expect(read({ headers: { ...JSON_TYPE, 'content-length': '1' }, ...base64('"é"') })).toHaveProperty(
        'text',
        '"é"',
      );
    });
  });

  it.each([
    ['as text', (body: string) => ({ body, isBase64Encoded: false })],
    ['in Base64', base64],
  ])('counts decoded bytes %s', (_, encode) => {
    expect(read({ headers: JSON_TYPE, ...encode('é'.repeat(8)) })).toHaveProperty('bytes.length', 16);
    expect(read({ headers: JSON_TYPE, ...encode(`${'é'.repeat(8)}1`) })).toBe('content-too-large');
  });

  test('returns exactly the bytes that were sent, or a problem, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (sent) => {
        const result = read({ headers: JSON_TYPE, ...base64(sent) });
        if (typeof result === 'object') expect(result.bytes).toEqual(Buffer.from(sent));
        else expect(['malformed-body', 'content-too-large']).toContain(result);
      }),
    );
  });

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.boolean(),
        (body, type, isBase64Encoded) => {
          expect(read({ headers: { 'content-type': type }, body, isBase64Encoded })).toBeDefined();
          expect(read({ headers: JSON_TYPE, body, isBase64Encoded })).toBeDefined();
        },
      ),
    );
  });
});

describe('refuseBody', () => {
  it.each([[{}], [{ body: '' }]])('has nothing against %j', (parts) => {
    expect(refuseBody(httpEvent(parts))).toBeNull();
  });

  it.each([['{}'], [' ']])('refuses a body %j', (body) => {
    expect(refuseBody(httpEvent({ body }))?.code).toBe('invalid-request');
  });
});
