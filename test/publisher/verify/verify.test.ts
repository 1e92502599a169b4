/** `verify` finds nothing in a sound world, also while a generation is being applied. */
import { describe, expect, test } from 'vitest';
import { OPENAPI_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import { openApiDocument } from '../../../contract/openapi/openapi.ts';
import { waitlistBody } from '../../../contract/values/waitlist.ts';
import { publish } from '../../../publisher/publish.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import type { VerifyRule } from '../../../publisher/verify/report.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readMapped, readMapping } from '../../sample/read-mapped.ts';
import { setStanding } from '../standing.ts';
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
  const inOrder: readonly { readonly old: string; readonly urls: readonly string[]; readonly settled: VerifyRule[] }[] =
    [
      { old: 'nothing', urls: [], settled: [] },
      { old: 'the snapshot', urls: [SNAPSHOT], settled: ['count', 'digest'] },
      { old: 'the list', urls: [SNAPSHOT, MARKETS, SECOND_LIST_PAGE], settled: ['count', 'unsettled'] },
      {
        old: 'a market',
        urls: [SNAPSHOT, MARKETS, SECOND_LIST_PAGE, marketOf('b')],
        settled: ['count', 'unsettled'],
      },
      {
        old: 'all but one history',
        urls: [SNAPSHOT, MARKETS, SECOND_LIST_PAGE, ...both.slice(0, 3)],
        settled: ['count', 'unsettled'],
      },
      { old: 'everything', urls: [SNAPSHOT, MARKETS, SECOND_LIST_PAGE, ...both], settled: [] },
    ];

  test.each(inOrder)('the target of a link may be newer: still old is $old', async ({ urls, settled }) => {
    expect(await rulesFound(stillOld(...urls), false)).toEqual([]);
    expect(await rulesFound(stillOld(...urls), true)).toEqual(settled);
  });

  test.each([
    { old: 'market', urls: [marketOf('b')] },
    { old: 'history', urls: [historyOf('b')] },
  ])('a $old that is older than the link to it is a finding', async ({ urls }) => {
    expect(await rulesFound(stillOld(...urls), false)).toEqual(['older-than-its-link']);
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

test('the documents of a deployment have no findings', async () => {
  const world = createWorld();
  const waitlist = waitlistBody({ email: 'keys@tidemark.dev' });
  const bodies = staticBodies({ waitlist, openapi: openApiDocument() });
  await publish({ ...world.dependencies, staticBodies: bodies });
  expect(await rulesFound(readerOf(world.objects))).toEqual([]);
});

describe('a market with a standing has no findings', () => {
  test.each(['observation', 'source'] as const)('with a verification of its %s', async (subject) => {
    const world = createWorld();
    const url = 'https://example.com/a';
    const source = { label: 'a test', url, publisher: null, licence: null, attribution: null };
    await world.ingest([{ ...(market('a') as object), sources: [source] } as never, price('a', 0, 1)]);
    const verification = { outcome: 'mismatch', verifiedAt: '2026-10-01T11:00:00Z', subject } as const;
    const standing = {
      representedBy: { name: 'A bank', claim: 'claim_1' },
      disputes: {},
      comparisons: { price: { outcome: 'mismatch' as const, verifiedAt: '2026-10-01T11:00:00Z', verification: 'v_1' } },
      verifications: { [url]: verification },
    };
    await setStanding(world.ledger, 'a', standing, 'standing');
    await publish(world.dependencies);
    expect(await rulesFound(readerOf(world.objects))).toEqual([]);
    const body = JSON.parse(Buffer.from((await readerOf(world.objects)(marketOf('a'))).body).toString());
    expect(body).toMatchObject({ disputed: true, disputedMetrics: ['price'], representedBy: 'A bank' });
    expect(body.sources[0].verification).toEqual(verification);
  });
});

test('a market whose standing lacks the compared value has no findings', async () => {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1)]);
  const standing = { representedBy: null, disputes: { price: { claim: null } }, verifications: {} };
  await setStanding(world.ledger, 'a', standing as never, 'standing');
  await publish(world.dependencies);
  expect(await rulesFound(readerOf(world.objects))).toEqual([]);
});

describe('source URLs with an @ are not e-mail addresses', () => {
  async function rulesWithSources(urls: readonly string[]): Promise<readonly VerifyRule[]> {
    const world = createWorld();
    await world.ingest([market('a')]);
    await world.ingest(urls.map((sourceUrl, day) => ({ ...(price('a', -day, 1) as object), sourceUrl }) as never));
    await publish(world.dependencies);
    return await rulesFound(readerOf(world.objects));
  }

  test('those of the sample', async () => {
    const folder = new URL('../../../mapping/sample/', import.meta.url);
    const mapping = readMapping(new URL('mapping.json', folder));
    const { observations } = await readMapped(mapping, new URL('currency-api.csv', folder));
    const urls = [...new Set(observations.map(({ record }) => record.sourceUrl))];
    expect(urls.every((url) => url.includes('@'))).toBe(true);
    expect(await rulesWithSources(urls)).toEqual([]);
  });

  test.each([
    'https://www.npmjs.com/package/@scope/name',
    'https://unpkg.com/package@1.2.3/rates.json',
    'https://cdn.example/npm/package@1.2.3-beta.rc/rates.json',
    'https://cdn.example/gh/owner/repo@main/rates.json',
    'https://cdn.example/combine/npm/one@1.0.0,npm/two@2.0.0',
    'https://cdn.example/combine/one@1.0.0,two@2.0.0-rc.min/rates.json',
    'https://registry.example/package/-/package@1.2.3.tgz',
    'https://social.example/@someone/112233',
    'https://maps.example/@52.51,13.37,12z',
  ])('%s', async (url) => {
    expect(await rulesWithSources([url])).toEqual([]);
  });
});
