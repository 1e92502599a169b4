import { describe, expect, test } from 'vitest';
import { NEVER_PUBLIC, neverPublicIn, publicTextSchema } from '../../contract/public-text.ts';

const schema = publicTextSchema(200);

describe('a public text', () => {
  test.each([
    'Gold, US dollar',
    'Crude oil, “West Texas”',
    'N° 5 – 100 % <b>&amp;</b> "x" \\ {}',
    'Bank of Exämple',
    'a\u00a0b',
    '日本銀行',
    'قیمت\u200cها',
    'क्\u200dष',
    '\u{1f375} tea',
    'npm/@scope/currency-api@2026-10-01/v1',
    '@bank',
    'one @ 2 USD',
    'rates@home',
  ])('%j is taken as it is', (text) => {
    expect(schema.parse(text)).toBe(text);
  });

  test('loses the white space around it', () => {
    expect(schema.parse('\u3000 \tGold\r\n')).toBe('Gold');
  });

  test.each<[string, unknown]>([
    ['nothing', ''],
    ['white space', ' \n\u00a0\ufeff'],
    ['too much', 'x'.repeat(201)],
    ['no text', 7],
    ['two lines', 'a\nb'],
    ['a header field', 'a\r\nSet-Cookie: x=1'],
    ['NUL', 'a\u0000b'],
    ['a tab', 'a\tb'],
    ['an escape sequence', '\u001b[2Ja'],
    ['DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u0085b'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ...[...'\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'].map(
      (mark): [string, unknown] => [`a mark of direction, U+${mark.codePointAt(0)?.toString(16)}`, `a${mark}b`],
    ),
    ['a zero-width space', 'Go\u200bld'],
    ['a word joiner', 'Go\u2060ld'],
    ['a soft hyphen', 'Go\u00adld'],
    ['a byte order mark inside', 'Go\ufeffld'],
    ['a letter that shows as nothing', '\u3164'],
    ['a tag', 'Gold\u{e0041}'],
    ['a variation selector', 'Gold\ufe0f'],
    ['an annotation', 'Gold\ufff9x\ufffb'],
    ['a joiner between letters that do not join', 'Go\u200dld'],
    ['a joiner at the beginning', '\u200cGold'],
    ['two joiners', 'قیمت\u200c\u200cها'],
    ['half of a surrogate pair', 'Gold \ud83d'],
    ['the other half', '\udf75 Gold'],
    ['braille without dots', '\u2800\u2800'],
    ['an address with an Arabic zero for the dot', 'jo@example\u{660}org'],
    ['an address with an extended Arabic zero for the dot', 'jo@example\u{6f0}org'],
    ['an address with a Syriac full stop for the dot', 'jo@example\u{701}org'],
    ['an address with another Syriac full stop for the dot', 'jo@example\u{702}org'],
    ['an address with an ideographic full stop for the dot', 'jo@example\u{3002}org'],
    ['an address with a half-width full stop for the dot', 'jo@example\u{ff61}org'],
    ['an address with a Lisu tone for the dot', 'jo@example\u{a4f8}org'],
    ['an address with a Vai full stop for the dot', 'jo@example\u{a60e}org'],
    ['an address with a Kharoshthi dot for the dot', 'jo@example\u{10a50}org'],
    ['an address with an augmentation dot for the dot', 'jo@example\u{1d16d}org'],
    ['an address in Cyrillic letters', '\u0458\u043e@\u0435xampl\u0435.org'],
    ['an address in mathematical letters', '\u{1d423}\u{1d428}@example.org'],
    ['an accent on nothing', '\u0301'],
    ['an address with a full-width at sign', 'jo\uff20example.org'],
    ['an address with a small at sign', 'jo\ufe6bexample.org'],
    ['an address in full-width letters', '\uff4a\uff4f\uff20\uff45\uff58.\uff4f\uff52\uff47'],
    ['an address with a full-width full stop', 'jo@example\uff0eorg'],
    ['an address with a one dot leader', 'jo@example\u2024org'],
    ['an API key in full-width letters', '\uff54dm_live_4f8TqLw0ZkXcY2Rb'],
    ['an e-mail address', 'Jo Smith, jo.smith@example.org'],
    ['one in brackets', '<jo+prices@mail.example.co.uk>'],
    ['one in capitals', 'JO@EXAMPLE.ORG'],
    ['one with letters beyond ASCII', 'jö@example.org'],
    ['one at a host beyond ASCII', 'jo@exämple.org'],
    ['one beside a slash', '/jo@example.org/'],
    ['an API key', 'key tdm_live_k3y1d_c0ffee'],
    ['a token', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
  ])('with %s is refused', (_, text) => {
    expect(schema.safeParse(text).success).toBe(false);
  });
});

describe('forbidden text', () => {
  test.each([
    ['an e-mail address', 'https://a.example/?to=jo@example.org&x=1'],
    ['an e-mail address', 'mailto:jo@example.org'],
    ['an API key', 'https://a.example/?key=tdm_live_k3y1d_c0ffee'],
    ['a bearer token', 'https://a.example/#eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
    [null, 'https://cdn.example/npm/@scope/currency-api@2026-10-01/v1/currencies/xau.json'],
    [null, 'https://cdn.example/npm/package@latest.beta/x.json'],
    [null, 'https://social.example/@jo.smith'],
  ])('is %s of %s', (what, url) => {
    expect(neverPublicIn(url)).toBe(what);
    // Also after other texts.
    expect(neverPublicIn(url)).toBe(what);
  });

  test('an address is found whole, by which exceptions are made', () => {
    const found = 'Ask <Jo.Smith+x@mail.example.co.uk>, or ann@example.org.'.match(NEVER_PUBLIC['an e-mail address']);
    expect(found).toEqual(['Jo.Smith+x@mail.example.co.uk', 'ann@example.org']);
  });
});
