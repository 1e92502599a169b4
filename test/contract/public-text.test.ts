import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NEVER_PUBLIC, neverPublicIn, publicTextSchema } from '../../contract/values/public-text.ts';

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
    'پیش\u200cبینی',
    'ശ്രീ\u200d',
    '\u{1f375} tea',
    'hot \u2615\ufe0f',
    '\u{1f469}\u{1f3fd}\u200d\u{1f33e} farmers',
    '\u2764\ufe0f\u200d\u{1f525}',
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
    ['a joiner after an emoji, at the end', 'Tea \u{1f375}\u200d'],
    ['a joiner from an emoji to a letter', '\u{1f375}\u200dtea'],
    ['a non-joiner between emoji', '\u{1f469}\u200c\u{1f33e}'],
    ['two variation selectors', '\u2615\ufe0f\ufe0f'],
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
  test.each<[string | null, string]>([
    ['an e-mail address', 'https://a.example/?to=jo@example.org&x=1'],
    ['an e-mail address', 'mailto:jo@example.org'],
    ['an API key', 'https://a.example/?key=tdm_live_k3y1d_c0ffee'],
    ['a bearer token', 'https://a.example/#eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
    ...[
      '"bob"@example.org',
      'See {"mail":"\\"bob b\\"@mail.example.org"}',
      'https://a.example/?to=bob%40example.org',
      'https://a.example/?to=bob%2540example.org',
      'https://a.example/?to=bob%252540example.org',
      'https://a.example/?to=%22bob%22%40example.org',
      'https://a.example/users/bob@example.org',
      'https://a.example/users/bob@example.org/posts',
      'https://a.example/users/bob@example.org?x=1',
      'https://a.example/users/bob%40mail.example.co.uk/posts',
      'https://a.example/?to=bob@example.org/x',
      'https://a.example/users/bob@163.com',
      'https://a.example/?to=bob%EF%BC%A0example%EF%BC%8Eorg',
      'https://a.example/?to=bob%25EF%25BC%25A0example.org',
      'bob\uff20example\uff0eorg',
      '\uff42\uff4f\uff42@example.org',
    ].map((text): [string, string] => ['an e-mail address', text]),
    ...[
      'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-09-29/v1/currencies/xau.json',
      'https://cdn.jsdelivr.net/npm/%40fawazahmed0/currency-api%402026-09-29/v1/currencies.json',
      'https://cdn.jsdelivr.net/npm/vue@3.5.13/dist/vue.global.prod.js',
      'https://cdn.jsdelivr.net/combine/npm/a@1.2.3,npm/b@4.5.6/dist/b.min.js',
      'https://cdn.jsdelivr.net/gh/o/r@v1.2.3/data/site.com.json',
      'https://cdn.jsdelivr.net/gh/o/r@main/rates.csv',
      'https://deno.land/x/oak@v12.6.1/mod.ts',
      'https://unpkg.com/package@next.js',
      'https://unpkg.com/package@1.0.0-rc.com',
      'https://a.example/images/logo@2x.png',
      'https://medium.com/@jo.smith/a-post',
      'https://www.google.example/maps/@52.5,13.4,15z',
      '{"@context":"https://schema.org","@type":"Dataset"}',
    ].map((text): [null, string] => [null, text]),
    [null, 'https://cdn.example/npm/@scope/currency-api@2026-10-01/v1/currencies/xau.json'],
    [null, 'https://cdn.example/npm/package@latest.beta/x.json'],
    [null, 'https://social.example/@jo.smith'],
  ])('is %s of %s', (what, url) => {
    expect(neverPublicIn(url)).toBe(what);
    // Also after other texts.
    expect(neverPublicIn(url)).toBe(what);
  });

  test.each([
    // Names that say it, in any spelling, whatever the value.
    ['apikey', 'https://www.alphavantage.example/query?function=X&apikey=9F8E7D6C5B4A3928'],
    ['api_key', 'https://api.stlouisfed.org/fred/series?series_id=GNPCA&api_key=abcdefghijklmnopqrstuvwxyz123456'],
    ['API-Key', 'https://a.example/?API-Key=x'],
    ['x-api-key', 'https://a.example/?x-api-key=x'],
    ['CMC_PRO_API_KEY', 'https://a.example/?CMC_PRO_API_KEY=x'],
    ['subscription-key', 'https://a.example/?subscription-key=x'],
    ['registrationkey', 'https://api.bls.gov/publicAPI/v2/timeseries/data/CUUR0000SA0?registrationkey=x'],
    ['access_token', 'https://a.example/#access_token=x&x=1'],
    ['auth_token', 'https://a.example/?auth_token=x'],
    ['client_secret', 'https://a.example/?client_secret=x'],
    ['secret', 'https://a.example/?secret=x'],
    ['password', 'https://a.example/?user=a&password=x'],
    ['passwd', 'https://a.example/?passwd=x'],
    ['pwd', 'https://a.example/?pwd=x'],
    ['Signature', 'https://b.s3.amazonaws.com/x.csv?Expires=1&Signature=x'],
    ['X-Amz-Credential', 'https://b.s3.amazonaws.com/x.csv?X-Amz-Credential=a%2F20261123%2Feu-west-1'],
    ['X-Amz-Signature', 'https://b.s3.amazonaws.com/x.csv?X-Amz-Expires=60&X-Amz-Signature=0123'],
    ['X-Amz-Security-Token', 'https://b.s3.amazonaws.com/x.csv?X-Amz-Security-Token=x'],
    ['X-Goog-Signature', 'https://storage.googleapis.com/b/x.csv?X-Goog-Signature=x'],
    ['jsessionid', 'https://a.example/x.do;jsessionid=1A530637289A03B07199A44E8D531427'],
    ['PHPSESSID', 'https://a.example/?PHPSESSID=x'],
    ['api_key', 'https://a.example/?api%5Fkey=x'],
    ['api_key', 'https://a.example/go?to=https%3A%2F%2Fb.example%2F%3Fapi_key%3Dx'],
    ['user[api_key]', 'https://a.example/?user[api_key]=x'],
    // Names that may be harmless, with a value that looks random.
    ['key', 'https://a.example/?key=9f86d081884c7d659a2feaa0c55ad015'],
    ['key', 'https://a.example/?key=1f0c36cb-3a51-4d0c-8d6a-6a3e4a3d3b1e'],
    ['token', 'https://finnhub.example/api/v1/quote?symbol=AAPL&token=c0j1v2f48v6tlon08p10'],
    ['app_id', 'https://openexchangerates.org/api/latest.json?app_id=0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    [
      'sig',
      'https://a.blob.core.windows.net/b/x.csv?sv=2024-11-04&se=2026-12-01T00%3A00%3A00Z&sig=h2Kd9%2FbQ7tYcGrTz1XvWu3EoPaLmNs5JfR8iV0yUq4w%3D',
    ],
    ['auth', 'https://a.example/?auth=Zx9Kq2LmPt7VwRb4NcYd'],
    ['sid', 'https://a.example/?sid=1A530637289A03B07199A44E8D531427'],
  ])('is the parameter %s of %s', (name, url) => {
    expect(neverPublicIn(url)).toContain(`the parameter ${name},`);
    expect(schema.safeParse(`See ${url.replace('?', '\uff1f')} .`.slice(0, 200)).success).toBe(false);
  });

  test.each([
    'AKIAIOSFODNN7EXAMPLE',
    'ASIAIOSFODNN7EXAMPLE',
    `ghp_${'a1B2'.repeat(9)}`,
    `github_pat_${'a1B2'.repeat(9)}`,
    `glpat-${'a1B2'.repeat(5)}`,
    `sk_live_${'a1B2'.repeat(6)}`,
    `rk_test_${'a1B2'.repeat(6)}`,
    `sk-${'a1B2'.repeat(12)}`,
    `sk-proj-${'a1-B2_'.repeat(12)}`,
    `sk-ant-api03-${'a1-B2_'.repeat(12)}`,
    'xoxb-123456789012-abcdef',
    `AIza${'a1-B2'.repeat(7)}`,
    '-----BEGIN OPENSSH PRIVATE KEY-----',
  ])('is a key of another service in %s, alone and in a URL', (key) => {
    expect(neverPublicIn(key)).toBe('a key of another service');
    expect(neverPublicIn(`https://a.example/${encodeURIComponent(key)}/x`)).toBe('a key of another service');
    expect(neverPublicIn(`https://a.example/?k=${encodeURIComponent(key)}`)).toBe('a key of another service');
  });

  test.each([
    'https://data-api.ecb.europa.eu/service/data/EXR/D.USD.EUR.SP00.A?startPeriod=2026-01-01&format=csvdata',
    'https://data.ecb.europa.eu/data/datasets/EXR/EXR.D.USD.EUR.SP00.A?key=EXR.D.USD.EUR.SP00.A',
    'https://sdw.ecb.europa.eu/quickview.do?SERIES_KEY=120.EXR.D.USD.EUR.SP00.A',
    'https://api.stlouisfed.org/fred/series/observations?series_id=DEXUSEU&file_type=json',
    'https://fred.stlouisfed.org/graph/fredgraph.csv?id=DCOILWTICO&cosd=2020-01-01',
    'https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/data/NAMA_10_GDP/A.CLV10_MEUR.B1GQ.DE?format=TSV&key=nama_10_gdp_q_2020_b1gq',
    'https://api.worldbank.org/v2/country/DE/indicator/NY.GDP.MKTP.CD?format=json&date=1960:2026&per_page=500',
    'https://query1.finance.yahoo.com/v7/finance/download/GC=F?period1=1577836800&period2=1609459200&interval=1d&events=history',
    'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-09-29/v1/currencies/xau.json',
    'https://raw.githubusercontent.com/o/r/0123456789abcdef0123456789abcdef01234567/data.csv',
    'https://sdmx.oecd.org/public/rest/data/OECD.SDD.STES,DSD_STES@DF_CLI,/.M.LI...AA...H?dimensionAtObservation=AllDimensions',
    'https://stats.bis.org/api/v2/data/dataflow/BIS/WS_XRU/1.0/D.CH.CHF.A?key=D.CH.CHF.A',
    'https://api.imf.org/external/sdmx/2.1/data/IFS/M.DE.PCPI_IX?c[key]=M.DE.PCPI_IX',
    'https://www.lme.example/?id=1f0c36cb-3a51-4d0c-8d6a-6a3e4a3d3b1e&sha256=0123456789abcdef0123456789abcdef',
    'https://a.example/?key=GoldPriceHistoryDaily2026&sid=series-12&token=none&auth=false&sig=1',
    'https://a.example/?key=20260101T000000Z&key=2026-01-01&key=gold-price-history-2026-11',
    'https://a.example/?api_key=&keyword=gold&tokens=3&signatures=2&author=ECB&monkey=1&secretary=x',
    'https://a.example/sk-bratislava-apartment-prices-of-the-capital-2026',
    'https://a.example/?index=ASIAPACIFICEXJAPANLARGECAP&q=MASIAPACIFIC',
    'https://a.example/api_key/password/token=x',
    'Key = value; token prices, passwords = no',
  ])('is nothing in %s', (text) => {
    expect(neverPublicIn(text)).toBeNull();
  });

  test('is nothing in dates, decimals, names and hashes, wherever a URL has them', () => {
    const part = fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString().replaceAll(/[:.-]/g, '')),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.integer().map(String),
      fc.stringMatching(/^[A-Z]{1,8}([._][A-Z0-9]{1,6}){1,5}$/),
      fc.stringMatching(/^[a-z]{1,10}(-[a-z]{1,10}){0,4}$/),
    );
    const names = ['key', 'token', 'sid', 'date', 'series_key', 'startPeriod', 'id', 'q'];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...names), part)),
        fc.uint8Array({ minLength: 20, maxLength: 32 }),
        (pairs, bytes) => {
          const path = `${Buffer.from(bytes).toString('hex')}/${pairs.map(([, value]) => encodeURIComponent(value)).join('/')}`;
          const url = `https://data.example/${path}?${new URLSearchParams(pairs)}`;
          expect(neverPublicIn(url)).toBeNull();
        },
      ),
    );
  });

  test('an address is found whole, by which exceptions are made', () => {
    const found = 'Ask <Jo.Smith+x@mail.example.co.uk>, or ann@example.org.'.match(NEVER_PUBLIC['an e-mail address']);
    expect(found).toEqual(['Jo.Smith+x@mail.example.co.uk', 'ann@example.org']);
  });
});
