/**
 * `verify --log` does not let the unsigned snapshot decide what is checked: what is published later than the markets is
 * compared with the log as well, although the snapshot says that there is nothing, or that the list is behind.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL_PROJECTIONS } from '../../../contract/files/projections.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { PATHS } from '../compat/compat-world.ts';
import { testSigner, withLog } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from '../world.ts';
import { damagedReader, type Edit, type Loose, withBody, withStatus, withText } from './damaged-reader.ts';
import { hidingHost } from './hiding-host.ts';
import { loggedReader } from './logged-reader.ts';

const SNAPSHOT = '/api/v1/snapshot';
const MARKETS = '/api/v1/markets';
const PART = '/api/v1/latest/all';
const COMPAT = '/api/v1/compat';
const RATES = `${COMPAT}/currency-api/latest/v1/currencies`;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Four markets, two of them of one pair, rates and quotes of a day, and a removed market. The list waits for an hour. */
async function laterWorld(): Promise<World> {
  const plain = createWorld();
  const listEverySeconds = () => 3600;
  const dependencies = { ...withLog(plain.dependencies), projections: ALL_PROJECTIONS, listEverySeconds };
  const world = { ...plain, dependencies };
  const euro = { ...market('eur-usd'), unit: { quantity: 1, of: 'EUR' } } as IngestRecordInput;
  await world.ingest([market('a'), market('b'), market('gone'), euro, price('eur-usd', 0, 113), price('gone', 0, 3)]);
  await world.ingest(Array.from({ length: 6 }, (_, day) => price('a', day, 100 + day)));
  await world.ingest([price('b', 0, 7)]);
  await publish(dependencies);
  await removeMarket(world, 'gone');
  world.clock.nowMs += DAY_MS;
  while ((await publish(dependencies)).isMoreDue);
  await makeCompat({ storage: dependencies });
  await makeExport({ storage: dependencies });
  return world;
}

let world: World;
let reader: PublicReader;

beforeAll(async () => {
  world = await laterWorld();
  reader = loggedReader(world.objects);
});

async function found(read: PublicReader, nowMs = world.clock.nowMs): Promise<readonly string[]> {
  const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES, nowMs };
  return [...new Set((await verifyLog(read, options)).findings.map(({ rule, url }) => `${rule} ${url}`))].sort();
}

/** The snapshot says that only the log is published. */
const onlyTheLog: Edit = withBody((body) => {
  body.projections = ['log'];
});

/** The list with a change, and a snapshot that names it: of an earlier generation than its own. */
function listBehind(of: PublicReader, change: (data: Loose[]) => unknown): PublicReader {
  const list = withBody((body) => change(body.data));
  return async (url, headers) => {
    const answer = await of(url, headers);
    if (url === MARKETS) return list(answer);
    if (url !== SNAPSHOT) return answer;
    const { body } = await list(await of(MARKETS));
    return withBody((snapshot) => {
      snapshot.listDigest = sha256Hex(body);
      snapshot.listGeneration = 1;
    })(answer);
  };
}

test('a sound service has no finding', async () => {
  expect(await found(reader)).toEqual([]);
});

describe('a snapshot that names no files hides no change in', () => {
  const change = (from: string | RegExp, to: string) => withText((text) => text.replace(from, to));
  test.each<[string, string, Edit]>([
    ['the newest prices', `${PART}.ndjson`, change('"decimal":"1.05"', '"decimal":"9.05"')],
    ['the newest prices: a market less', `${PART}.ndjson`, change(/^.*\n/, '')],
    ['the newest prices: a market twice', `${PART}.ndjson`, change(/^(.*\n)/, '$1$1')],
    ['the newest prices: a part less', '/api/v1/latest', withBody(({ data }) => data.pop())],
    ['the newest prices: a part twice', '/api/v1/latest', withBody(({ data }) => data.push(data[0]))],
    ['the newest prices: another number of markets', '/api/v1/latest', withBody(({ data }) => data[0].markets++)],
    ['the newest prices as CSV', `${PART}.csv`, change(',1.05,', ',9.05,')],
    ['the newest prices as CSV: its columns', `${PART}.csv`, change('slug,name', 'name,slug')],
    ['the last prices', '/api/v1/recent', change('"1.04"', '"9.04"')],
    ['the last prices: no file', '/api/v1/recent', withText(() => 'nothing')],
    ['the markets that changed last', '/api/v1/modified.csv', change(/\na,\d+/, '\na,1')],
    ['the markets that changed last: no file', '/api/v1/modified.csv', withText(() => 'nothing')],
    ['the feed of changes', '/feeds/changes.atom', change('1.05 USD', '9.05 USD')],
    ['the feed of changes: an entry less', '/feeds/changes.atom', change(/(<entry>.*\n)<entry>.*\n/, '$1')],
    ['the feed of changes that is lost', '/feeds/changes.atom', withStatus(404)],
    ['a price file', `${COMPAT}${PATHS('a').hledger}`, change('1.05 USD', '9.05 USD')],
    ['a price file: another revision', `${COMPAT}${PATHS('a').hledger}`, change(/revision \d+/, 'revision 1')],
    ['a price file: no revision', `${COMPAT}${PATHS('a').beancount}`, withText(() => '2026-01-06 price A 9.05 USD\n')],
    ['a price file that is lost', `${COMPAT}${PATHS('a').hledger}`, withStatus(404)],
    ['quotes', `${COMPAT}${PATHS('a').quotes}`, change('"close":1.05', '"close":9.05')],
    ['a rate', `${RATES}/usd.json`, change(/"eur":[\d.]+/, '"eur":9')],
    ['a rate without a price behind it', `${RATES}/usd.json`, change('"eur":0', '"chf":9,"eur":0')],
    ['the log of the rates', `${RATES}/usd.json`, change(/"size":\d+/, '"size":1')],
    ['the day of the rates', `${RATES}/eur.json`, change(/"date":"[^"]+"/, '"date":"2026-10-03"')],
    ['the currencies', `${RATES}.json`, change('{', '{"chf":"Swiss Franc",')],
    [
      'the files that are included',
      `${COMPAT}/hledger/prices.journal`,
      withText((text) => `${text}include /etc/passwd\n`),
    ],
    [
      'the files that are included: one more',
      `${COMPAT}/hledger/prices.journal`,
      change('include', 'include 00.journal\ninclude'),
    ],
    ['the name of a pair', `${COMPAT}${PATHS('eur-usd').beancount}`, change('price EUR ', 'price EUR-USD ')],
    ['the index of parts', `${COMPAT}/parts.json`, change(',"b":', ',"c":')],
    ['a part: another market', `${COMPAT}${PATHS('a').quotes}`, change('"a":', '"x":')],
    ['the files that are included: one less', `${COMPAT}/beancount/prices.beancount`, withText(() => '')],
  ])('%s', async (_, url, edit) => {
    const hidden = damagedReader(reader, { [SNAPSHOT]: onlyTheLog, [url]: edit });
    expect((await found(hidden)).filter((finding) => !finding.endsWith(SNAPSHOT))).toContainEqual(
      expect.stringMatching(new RegExp(`^(not-in-log|file|status|schema|time) ${COMPAT}|^(not-in-log|time) ${url}$`)),
    );
  });
});

test('an index of the newest prices that is older than its part is a finding, when no cache can hold it any more', async () => {
  const other = await laterWorld();
  const stale = await loggedReader(other.objects)('/api/v1/latest');
  await other.ingest([price('a', 7, 42)]);
  await publish({ ...other.dependencies, listEverySeconds: () => 0 });
  const of = loggedReader(other.objects);
  const read: PublicReader = async (url, headers) => (url === '/api/v1/latest' ? stale : await of(url, headers));
  expect(await found(read, other.clock.nowMs)).toEqual([]);
  expect(await found(read, other.clock.nowMs + HOUR_MS / 2)).toEqual([
    `not-in-log ${PART}.csv`,
    `not-in-log ${PART}.ndjson`,
  ]);
});

describe('a list that is behind', () => {
  let behind: PublicReader;
  let nowMs: number;

  beforeAll(async () => {
    const other = await laterWorld();
    await other.ingest([price('a', 7, 42), market('new'), price('new', 0, 1)]);
    await publish(other.dependencies);
    behind = loggedReader(other.objects);
    nowMs = other.clock.nowMs;
  });

  test('is right as it is, until it is too old', async () => {
    expect(await found(behind, nowMs)).toEqual([]);
    expect(await found(behind, nowMs + HOUR_MS)).toEqual([]);
    expect(await found(behind, nowMs + 4 * HOUR_MS)).toEqual(
      expect.arrayContaining([
        `time ${MARKETS}`,
        `not-in-log ${MARKETS}/new`,
        `time ${PART}.ndjson`,
        'time /api/v1/recent',
        `not-in-log ${PART}.ndjson`,
        `not-in-log ${PART}.csv`,
        'not-in-log /api/v1/recent',
      ]),
    );
  });

  test('has no false price, market or revision', async () => {
    const altered = (change: (data: Loose[]) => unknown) => found(listBehind(behind, change), nowMs);
    expect(await altered((data) => data)).toEqual([]);
    const ofA = (data: Loose[]) => data.find(({ slug }: Loose) => slug === 'a');
    expect(await altered((data) => Object.assign(ofA(data).metrics.price, { decimal: '9.99' }))).toEqual([
      `not-in-log ${MARKETS}`,
    ]);
    expect(await altered((data) => ofA(data).revision++)).toEqual([`not-in-log ${MARKETS}`]);
    expect(await altered((data) => (ofA(data).representedBy = 'Somebody'))).toEqual([`not-in-log ${MARKETS}`]);
    const later = await found(
      listBehind(behind, (data) => data.splice(0, 1)),
      nowMs + 4 * HOUR_MS,
    );
    expect(later).toContain(`not-in-log ${MARKETS}/a`);
  });

  test('hides no false counts', async () => {
    const counts = damagedReader(behind, { [SNAPSHOT]: withBody((body) => body.counts.observations++) });
    expect(await found(counts, nowMs)).toEqual([`count ${SNAPSHOT}`]);
  });
});

test('files for other programs may be of the day before, and show the removed market until they are made again', async () => {
  const other = await laterWorld();
  await other.ingest([price('eur-usd', 9, 120)]);
  await removeMarket(other, 'b');
  other.clock.nowMs += DAY_MS;
  while ((await publish(other.dependencies)).isMoreDue);
  const read = loggedReader(other.objects);
  expect(await found(read, other.clock.nowMs)).toEqual([]);
  const late = await found(read, other.clock.nowMs + 3 * DAY_MS);
  expect(late).toEqual(expect.arrayContaining([`time ${RATES}/eur.json`, `time ${COMPAT}${PATHS('eur-usd').hledger}`]));
});

test('without a log, too, a file that the snapshot does not name is a finding, and is checked', async () => {
  const rules = async (edits: { readonly [url: string]: Edit }) => {
    const { findings } = await verify(damagedReader(reader, edits), { pageSizes: SMALL_PAGES });
    return findings.map(({ rule, url }) => `${rule} ${url}`).sort();
  };
  const unnamed = await rules({ [SNAPSHOT]: onlyTheLog });
  expect(unnamed).toEqual([
    `status ${COMPAT}/parts.json`,
    'status /api/v1/exports/latest',
    'status /api/v1/latest',
    expect.stringMatching(/^status .*\/history\.csv$/),
    'status /api/v1/modified.csv',
    'status /api/v1/recent',
  ]);
  const history = `${MARKETS}/a/history.csv`;
  const edit = withText((text) => text.replace('1.05', '9.05'));
  expect(await rules({ [SNAPSHOT]: onlyTheLog, [history]: edit, [`${PART}.csv`]: edit })).toEqual(
    expect.arrayContaining([`file ${history}`, `file ${PART}.csv`]),
  );
});

describe('the log says what is published:', () => {
  const without =
    (pattern: RegExp): PublicReader =>
    async (url, headers) => {
      const answer = await reader(url, headers);
      if (url === SNAPSHOT) return await onlyTheLog(answer);
      return pattern.test(url) ? { ...answer, status: 404 } : answer;
    };

  test.each([
    ['the newest prices', /^\/api\/v1\/latest/, '/api/v1/latest'],
    ['a part of the newest prices', /latest\/all\.csv/, `${PART}.csv`],
    ['the last prices', /recent/, '/api/v1/recent'],
    ['exports', /exports/, '/api/v1/exports/latest'],
    ['the prices of a market', new RegExp(`${PATHS('b').hledger}`), `${COMPAT}${PATHS('b').hledger}`],
    ['all files for other programs', /compat/, `${COMPAT}/parts.json`],
    ['the files of a history', /\/a\/history(\.|\/)/, `${MARKETS}/a/history.csv`],
  ])('%s cannot be left out', async (_, pattern, url) => {
    expect(await found(without(pattern), world.clock.nowMs + 2 * DAY_MS)).toContain(`not-in-log ${url}`);
  });

  test('exports are no older than two days', async () => {
    const other = await laterWorld();
    await other.ingest([price('b', 1, 8)]);
    while ((await publish(other.dependencies)).isMoreDue);
    const read = loggedReader(other.objects);
    expect(await found(read, other.clock.nowMs)).toEqual([]);
    expect(await found(read, other.clock.nowMs + 3 * DAY_MS)).toContain('time /api/v1/exports/latest');
  });

  test('a log from before says nothing of it, and everything that is there is checked', async () => {
    const plain = createWorld();
    const dependencies = withLog(plain.dependencies);
    await plain.ingest([market('a'), price('a', 0, 1)]);
    await publish(dependencies);
    const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES, nowMs: plain.clock.nowMs };
    const { service } = await verifyLog(loggedReader(plain.objects), options);
    expect(service).toMatchObject({ projections: ['log'] });
    // No reader of a log without the statement has a finding for what is not there.
    const before = await verifyLog(hidingHost(loggedReader(plain.objects), /^.*"type":"service".*$/m), options);
    expect(before.service).toBeNull();
    expect(before.findings.map(({ url }) => url)).toEqual([expect.stringContaining('/log/ndjson/')]);
  });
});

test('without a log, too, each rate has a price behind it', async () => {
  const invented = withBody((body) => {
    body.usd.chf = 9;
  });
  const { findings } = await verify(damagedReader(reader, { [`${RATES}/usd.json`]: invented }), {
    pageSizes: SMALL_PAGES,
  });
  expect(findings).toContainEqual(expect.objectContaining({ rule: 'file', url: `${RATES}/usd.json` }));
});
