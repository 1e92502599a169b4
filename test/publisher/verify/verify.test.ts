/** `verify` finds nothing in a sound world, also while a generation is being applied. */
import { describe, expect, test } from 'vitest';
import { OPENAPI_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import { Findings } from '../../../publisher/verify/check-body.ts';
import { checkHistory } from '../../../publisher/verify/check-history.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import type { VerifyRule } from '../../../publisher/verify/report.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readMapped, readMapping } from '../../sample/read-mapped.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from '../world.ts';
import { damagedReader, withField } from './damaged-reader.ts';
import {
  goodWorld,
  historyOf,
  MARKETS,
  marketOf,
  reader,
  rulesFound,
  SECOND_LIST_PAGE,
  SNAPSHOT,
} from './verified-world.ts';

describe('a sound world has no findings', () => {
  test.each([true, false])('settled: %s', async (settled) => {
    const report = await verify(reader, { pageSizes: SMALL_PAGES, settled });
    expect(report).toEqual({ findings: [], generation: 1, markets: 7, observations: 13, pages: 12, missingValues: 0 });
  });

  test('nor has one without a market', async () => {
    const empty = createWorld();
    await publish(empty.dependencies);
    const report = await verify(readerOf(empty.objects), { pageSizes: SMALL_PAGES, settled: true });
    expect(report).toEqual({ findings: [], generation: 1, markets: 0, observations: 0, pages: 1, missingValues: 0 });
  });

  test('without a generation, that is the finding', async () => {
    const nothing = readerOf(createWorld().objects);
    const report = await verify(nothing, { pageSizes: SMALL_PAGES });
    expect(report).toMatchObject({ generation: null, markets: 0 });
    expect(report.findings.map(({ url, rule }) => [url, rule])).toEqual([
      [MARKETS, 'status'],
      [SNAPSHOT, 'status'],
      [WAITLIST_URL, 'status'],
      [OPENAPI_URL, 'status'],
      ['/problems.json', 'status'],
    ]);
  });
});

test('a failed request rejects, and is not a finding', async () => {
  const unreachable = damagedReader(reader, { [marketOf('c')]: () => Promise.reject(new Error('no route')) });
  await expect(verify(unreachable, { pageSizes: SMALL_PAGES })).rejects.toThrow();
});

test('other work of the thread goes on between the checks of one history', async () => {
  const { body } = await reader(marketOf('c'));
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const findings = new Findings();
  await checkHistory(reader, findings, JSON.parse(Buffer.from(body).toString()), SMALL_PAGES.observations);
  clearImmediate(next);
  expect([findings.all, turns]).toEqual([[], 4]);
});

const later = await goodWorld();
await later.ingest([price('b', 10, 500), price('f', 1, 9)]);
await publish(later.dependencies);
const newReader = readerOf(later.objects);

describe('while a generation is being applied', () => {
  /** The new world, with the previous answers for these URLs. */
  const stillOld =
    (...urls: readonly string[]): PublicReader =>
    (url, headers) =>
      urls.includes(url) ? reader(url, headers) : newReader(url, headers);

  const both = [marketOf('b'), marketOf('f'), historyOf('b'), historyOf('f')];
  const list = [SNAPSHOT, MARKETS, SECOND_LIST_PAGE];

  test.each<[string, readonly string[], readonly VerifyRule[]]>([
    ['nothing', [], []],
    ['the snapshot', [SNAPSHOT], ['count', 'digest']],
    ['the list', list, ['count', 'unsettled']],
    ['all but one history', [...list, ...both.slice(0, 3)], ['count', 'unsettled']],
    ['everything', [...list, ...both], []],
  ])('the target of a link may be newer: still old is %s', async (_, urls, settled) => {
    expect(await rulesFound(stillOld(...urls), false)).toEqual([]);
    expect(await rulesFound(stillOld(...urls), true)).toEqual(settled);
  });

  test('a market or a history that is older than the link to it is a finding', async () => {
    for (const url of [marketOf('b'), historyOf('b')])
      expect(await rulesFound(stillOld(url), false)).toEqual(['older-than-its-link']);
  });

  test('the list may change between its two reads', async () => {
    const isPolled = (headers: { readonly [name: string]: string } = {}) => headers['if-none-match']?.length === 34;
    const changed = damagedReader(reader, {
      [MARKETS]: (response, headers) => (isPolled(headers) ? newReader(MARKETS) : response),
    });
    expect(await rulesFound(changed, false)).toEqual([]);
  });
});

test('the description of the API may show fields of the write API, sample keys and example addresses', async () => {
  const openapi = damagedReader(reader, {
    [OPENAPI_URL]: withField('paths', {
      '/api/v1/waitlist-requests': {
        example: { contact: 'joe@example.org', keyId: '01JD', subject: 'user:alice', key: 'tdm_test_01JD_c0ffee' },
        more: ['jo@desk.example', 'jo@mail.test', 'jo@www.example.com', 'jo@x.invalid'],
      },
    }),
  });
  expect(await rulesFound(openapi)).toEqual([]);
});

test('source URLs with an @, as those of the sample, are not e-mail addresses', async () => {
  const folder = new URL('../../../mapping/sample/', import.meta.url);
  const mapping = readMapping(new URL('mapping.json', folder));
  const { observations } = await readMapped(mapping, new URL('currency-api.csv', folder));
  const urls = [...new Set(observations.map(({ record }) => record.sourceUrl))];
  expect(urls.every((url) => url.includes('@'))).toBe(true);
  const world = createWorld();
  await world.ingest([market('a')]);
  await world.ingest(urls.map((sourceUrl, day) => ({ ...(price('a', -day, 1) as object), sourceUrl }) as never));
  await publish(world.dependencies);
  expect(await rulesFound(readerOf(world.objects))).toEqual([]);
});
