/** What becomes of each row of a batch: one table, and what must hold for each of its rows. */
import { describe, expect, test } from 'vitest';
import { ROW_ERROR_CODES } from '../../contract/ingest/ingest-records.ts';
import { changedMarket } from '../../lambdas/markets/market-changes.ts';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, marketKey } from '../../storage/records/markets.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { type Desk, openDesk } from './desk.ts';
import type { IngestOptions, IngestReport } from './ingest.ts';
import { recordsOf } from './recorded-ledger.ts';

interface Batch extends IngestOptions {
  readonly records: readonly unknown[];
}

/**
 * The batches are sent in order, after the markets `a` and `gone` with a price each; `gone` was removed. Of the last batch, each row
 * that is not accepted has its place here, as `index unchanged` or `index code pointer`.
 */
type Row = readonly [title: string, sent: Batch | readonly Batch[], ...notAccepted: readonly string[]];

const append = (...records: readonly unknown[]): Batch => ({ records });
const correct = (...records: readonly unknown[]): Batch => ({ records, mode: 'correct' });
const fed = (markets: string[] | null, record: unknown): Batch => ({
  ...append(record),
  authority: { scopes: ['ingest:write'], markets },
});

/** A new price of `a` with other fields. */
const but = (fields: object): unknown => ({ ...price('a', 1, 6117), ...fields });
const withoutValue = { amountMinor: undefined, currency: undefined };
const scalar = (fields: object = {}) =>
  but({ ...withoutValue, metric: 'volume', value: '12.5', unit: 'Mbbl', ...fields });
const defined = (fields: object): unknown => ({ ...market('b'), ...fields });
const source = { label: 'x', url: 'https://example.org', publisher: null, licence: null, attribution: null };
const retraction = (fields: object = {}): unknown => {
  const { market, metric, observedAt, sourceUrl } = price('a', 0, 1) as Record<string, unknown>;
  return { type: 'retraction', market, metric, observedAt, sourceUrl, reason: 'a misprint', ...fields };
};

const GONE = 'https://example.com/gone';
const EMAIL = 'https://example.org/?to=jo@example.org';
const CORRECTED = correct(price('a', 0, 2));
const NEW = append(market('b'));
const scalars = Array.from({ length: 41 }, (_, index) => scalar({ market: 'b', metric: `m${index + 10}` }));

const ROWS: { readonly [group: string]: readonly Row[] } = {
  'is accepted:': [
    ['an amount', append(but({}))],
    ['a new market', NEW],
    ['a scalar', append(scalar())],
    ['WTI on 2020-04-20', append(but({ amountMinor: -3698, observedAt: '2020-04-20T00:00:00Z' }))],
    ['an asserted zero', append(but({ amountMinor: 0, zeroAsserted: true }))],
    ['an unknown amount with a reason', append(but({ amountMinor: null, unknownReason: 'withheld' }))],
    ['an unknown scalar with a reason', append(scalar({ value: null, unknownReason: 'not-published' }))],
    ['another metric in another currency', append(but({ metric: 'margin', currency: 'EUR' }))],
    ['tomorrow, which has begun in Kiribati', append(but({ observedAt: '2026-10-02T12:00:00Z' }))],
    ['a confirmed date before 1900', append(but({ observedAt: '1861-01-01T00:00:00Z', dateConfirmed: true }))],
    ['the largest amount', append(but({ amountMinor: Number.MAX_SAFE_INTEGER }))],
    [
      'another price of the same day from another source',
      append({ ...price('a', 0, 2), sourceUrl: 'https://b.example' }),
    ],
    ['a correction', CORRECTED],
    [
      'a retraction of an unknown value',
      [append(price('a', 1, null)), append(retraction({ observedAt: '2026-01-02T00:00:00Z' }))],
    ],
    ['a correction without an earlier version: it is the first one', correct(but({}))],
    ['a correction back to an earlier value', [CORRECTED, correct(price('a', 0, 1))]],
    ['a new name of a market with observations', append({ ...market('a'), name: 'Other' })],
    ['a definition and its prices in one batch', append(market('b'), price('b', 0, 1), price('a', 1, 2))],
    ['an observation before the definition of its market', append(price('b', 0, 1), market('b'))],
    [
      'another currency with its first price, while there are no observations',
      [NEW, append(market('b', 'EUR'), price('b', 0, 1, 'EUR'))],
    ],
  ],
  'is unchanged:': [
    ['the same definition again', append(market('a')), '0 unchanged'],
    ['the same price again', append(price('a', 0, 1)), '0 unchanged'],
    [
      'its instant in another spelling',
      append({ ...price('a', 0, 1), observedAt: '2026-01-01T00:00:00Z' }),
      '0 unchanged',
    ],
    ['the appended row again, after a correction', [CORRECTED, append(price('a', 0, 1))], '0 unchanged'],
    ['the corrected value, appended', [CORRECTED, append(price('a', 0, 2))], '0 unchanged'],
    ['a retraction once more', [append(retraction()), append(retraction())], '0 unchanged'],
  ],
  'is refused by its shape:': [
    ['no object', append(7), '0 record.invalid '],
    ['an unknown type', append(but({ type: 'trade' })), '0 record.invalid /type'],
    ['no value at all', append(but(withoutValue)), '0 record.invalid '],
    ['a fraction of a cent', append(but({ amountMinor: 61.17 })), '0 amount.not-integral /amountMinor'],
    ['2^53', append(but({ amountMinor: 2 ** 53 })), '0 amount.out-of-range /amountMinor'],
    ['an amount as text', append(but({ amountMinor: '6117' })), '0 record.invalid /amountMinor'],
    ['pence', append(but({ currency: 'GBp' })), '0 currency.minor-unit-alias /currency'],
    ['an unknown field with a slash', append(but({ 'a/b~c': 1 })), '0 record.invalid /a~1b~0c'],
    ['two values', append(but({ value: '1', unit: 'x' })), '0 record.invalid /value', '0 record.invalid /unit'],
    ['a scalar that is not a decimal', append(scalar({ value: '4e+06' })), '0 record.invalid /value'],
    ['no time', append(but({ observedAt: undefined })), '0 provenance.incomplete /observedAt'],
    ['an empty label', append(but({ sourceLabel: '' })), '0 provenance.incomplete /sourceLabel'],
    ['no confidence', append(but({ confidence: undefined })), '0 provenance.incomplete /confidence'],
    ['a null URL', append(but({ sourceUrl: null })), '0 source.url-missing /sourceUrl'],
    ['a market quoted in gold', append(defined({ nativeCurrency: 'XAU' })), '0 currency.unknown /nativeCurrency'],
    ['a quantity of 0', append(defined({ unit: { quantity: 0, of: 'barrel' } })), '0 record.invalid /unit/quantity'],
    [
      'a source with a relative URL',
      append(defined({ sources: [{ ...source, url: '/x' }] })),
      '0 source.url-not-absolute /sources/0/url',
    ],
    [
      'a source with an e-mail address',
      append(defined({ sources: [source, { ...source, url: EMAIL, publisher: 'jo@example.org' }] })),
      ...['0 source.url-not-public /sources/1/url', '0 record.invalid /sources/1/publisher'],
    ],
    [
      'texts of a market with invisible characters',
      append(defined({ name: '\u202eevil', unit: { quantity: 1, of: 'bar\u200brel' } })),
      ...['0 record.invalid /name', '0 record.invalid /unit/of'],
    ],
    [
      'many faults',
      append(but({ amountMinor: 0.5, currency: 'ZAc', market: '', sourceUrl: null })),
      ...['0 record.invalid /market', '0 source.url-missing /sourceUrl', '0 amount.not-integral /amountMinor'],
      '0 currency.minor-unit-alias /currency',
    ],
    ['a retraction without a reason', append(retraction({ reason: undefined })), '0 record.invalid /reason'],
    [
      'one with a reason of 501 characters',
      append(retraction({ reason: 'x'.repeat(501) })),
      '0 record.invalid /reason',
    ],
  ],
  'is refused by a rule:': [
    [
      'a currency after its end',
      append(but({ currency: 'BYR' })),
      ...['0 currency.retired /currency', '0 currency.not-native /currency'],
    ],
    [
      'gold as money',
      append(but({ currency: 'XAU' })),
      ...['0 currency.unknown /currency', '0 currency.not-native /currency'],
    ],
    ['another currency than the market’s', append(but({ currency: 'EUR' })), '0 currency.not-native /currency'],
    [
      'other digits than the source’s',
      append(but({ sourceValue: '6.117' })),
      '0 amount.disagrees-with-source /amountMinor',
    ],
    ['a zero', append(but({ amountMinor: 0 })), '0 amount.zero-unasserted /amountMinor'],
    [
      'a scalar zero in any spelling',
      append(...['0', '0.00', '-0', '000'].map((value, index) => scalar({ value, metric: `m${index}` }))),
      ...[0, 1, 2, 3].map((index) => `${index} amount.zero-unasserted /value`),
    ],
    ['more than a day ahead', append(but({ observedAt: '2026-10-02T12:00:01Z' })), '0 date.future /observedAt'],
    [
      'a confirmed date ahead',
      append(but({ observedAt: '2062-09-30T00:00:00Z', dateConfirmed: true })),
      '0 date.future /observedAt',
    ],
    ['a spreadsheet’s zero', append(but({ observedAt: '1899-12-30T00:00:00Z' })), '0 date.implausible /observedAt'],
    ['an announcement of a past moment', append(but({ announced: true })), '0 date.past /announced'],
    ['an empty URL', append(but({ sourceUrl: '  ' })), '0 source.url-missing /sourceUrl'],
    ['a relative URL', append(but({ sourceUrl: '/wti.csv' })), '0 source.url-not-absolute /sourceUrl'],
    ['a URL with an e-mail address', append(but({ sourceUrl: EMAIL })), '0 source.url-not-public /sourceUrl'],
    [
      'a URL with a key of another service',
      append(but({ sourceUrl: 'https://example.org/prices?apikey=9F8E7D6C5B4A3928' })),
      '0 source.url-not-public /sourceUrl',
    ],
    ['null without a reason', append(but({ amountMinor: null })), '0 provenance.incomplete /unknownReason'],
    ['a reason with a value', append(but({ unknownReason: 'withheld' })), '0 provenance.incomplete /unknownReason'],
    ['a price that is not money', append(scalar({ metric: 'price' })), '0 currency.not-native /unit'],
    [
      'a retraction with a relative URL',
      append(retraction({ sourceUrl: '/a.csv' })),
      '0 source.url-not-absolute /sourceUrl',
    ],
    [
      'all faults at once',
      append(
        but({
          amountMinor: 0,
          currency: 'HRK',
          observedAt: '2027-01-01T00:00:00Z',
          sourceUrl: '',
          unknownReason: 'withheld',
        }),
      ),
      ...['0 currency.retired /currency', '0 currency.not-native /currency', '0 amount.zero-unasserted /amountMinor'],
      ...['0 date.future /observedAt', '0 source.url-missing /sourceUrl', '0 provenance.incomplete /unknownReason'],
    ],
    [
      'a value too far from its neighbour',
      append(but({ amountMinor: 611_700, outlierConfirmed: false })),
      '0 outlier /amountMinor',
    ],
    ['an undefined market, whatever the currency', append(price('nowhere', 0, 1, 'EUR')), '0 market.unknown /market'],
    ['the definition of a removed market', append(market('gone')), '0 market.removed /slug'],
    ['a price of it', append(price('gone', 1, 1)), '0 market.removed /market'],
    ['a correction of it', correct(price('gone', 0, 7)), '0 market.removed /market'],
    ['a retraction of it', append(retraction({ market: 'gone', sourceUrl: GONE })), '0 market.removed /market'],
    ['a retraction of an unknown observation', append(retraction({ metric: 'margin' })), '0 observation.unknown '],
    ['one of another source', append(retraction({ sourceUrl: 'https://example.com/b' })), '0 observation.unknown '],
    [
      'one by a URL that is no longer taken, for that alone',
      append(retraction({ sourceUrl: 'https://example.org/?api_key=1' })),
      '0 observation.unknown ',
    ],
    ['a record beyond the scopes of the feed', fed(null, retraction()), '0 scope.missing '],
    ['one beyond its markets', fed(['b-*'], but({ outlierConfirmed: false })), '0 market.not-allowed /market'],
  ],
  'is in conflict with a known row:': [
    ['another price of the same day from the same source', append(price('a', 0, 2)), '0 conflict.existing '],
    [
      'the same price with another confidence',
      append({ ...price('a', 0, 1), confidence: 'low' }),
      '0 conflict.existing ',
    ],
    ['an unknown value where a price is known', append(price('a', 0, null)), '0 conflict.existing '],
    [
      'a value that is neither the first nor the newest',
      [CORRECTED, correct(price('a', 0, 3)), append(price('a', 0, 2))],
      '0 conflict.existing ',
    ],
    ['another value after a retraction', [append(retraction()), append(price('a', 0, 2))], '0 conflict.existing '],
    [
      'another unit, once there are observations',
      append({ ...market('a'), unit: { quantity: 100, of: 'unit' } }),
      '0 conflict.existing /unit',
    ],
    [
      'another currency, once there are observations: prices in the old one are valid',
      append(market('a', 'EUR'), price('a', 1, 2, 'EUR'), price('a', 2, 3)),
      ...['0 conflict.existing /nativeCurrency', '1 currency.not-native /currency'],
    ],
  ],
  'of a batch with several faults is refused:': [
    [
      'a market whose definition is refused',
      append(market('b', 'XYZ'), price('b', 0, 1)),
      ...['0 currency.unknown /nativeCurrency', '1 market.unknown /market'],
    ],
    ['a row twice', append(but({}), but({})), '1 duplicate.in-batch '],
    [
      'each of two rows that contradict each other',
      append(but({}), but({ amountMinor: 3 })),
      ...['0 duplicate.in-batch ', '1 duplicate.in-batch '],
    ],
    [
      'a row, its repetition, and one that contradicts both',
      append(but({}), but({}), but({ amountMinor: 3 })),
      ...['0 duplicate.in-batch ', '1 duplicate.in-batch ', '2 duplicate.in-batch '],
    ],
    [
      'also by another spelling of its instant',
      append(but({}), but({ observedAt: '2026-01-02T00:00:00Z' })),
      '1 duplicate.in-batch ',
    ],
    ['a market twice', append(market('b'), defined({ name: 'Other' })), '1 duplicate.in-batch '],
    [
      'the second of two definitions, with its prices',
      append(market('b'), market('b', 'EUR'), price('b', 0, 1), price('b', 1, 1, 'EUR')),
      ...['1 duplicate.in-batch ', '3 currency.not-native /currency'],
    ],
    [
      'every row, in order, with all of its faults',
      append(price('a', 0, 2), 'no record', { ...price('nowhere', 0, 0), zeroAsserted: false }),
      ...[
        '0 conflict.existing ',
        '1 record.invalid ',
        '2 market.unknown /market',
        '2 amount.zero-unasserted /amountMinor',
      ],
    ],
    ['the metric that a record has no room for', append(market('b'), ...scalars), '41 record.invalid /metric'],
  ],
};

/** A desk with what is known before the last batch, and the last batch. */
async function openWith(sent: Batch | readonly Batch[]): Promise<{ desk: Desk; last: Batch }> {
  const desk = openDesk();
  expect((await desk.send([market('a'), price('a', 0, 1), market('gone'), price('gone', 0, 1)])).faults).toEqual([]);
  const gone = (await desk.ledger.get(marketKey('gone'))) as Item<MarketRecordValue>;
  const removal = { reason: 'ended', replacedBy: 'a', removedAt: new Date(START_MS).toISOString() };
  await desk.ledger.transact(changedMarket('gone', gone, { removal }, removal.removedAt), { attemptId: 'removal' });
  const batches = [sent].flat() as Batch[];
  for (const { records, ...options } of batches.slice(0, -1)) {
    expect((await desk.send(records, options)).faults).toEqual([]);
  }
  return { desk, last: batches.at(-1) as Batch };
}

const shown = async ({ ledger }: Desk) => recordsOf(await ledger.dump());
const faultsOf = ({ faults }: IngestReport) => faults.map(({ index, code, pointer }) => `${index} ${code} ${pointer}`);

describe.each(Object.entries(ROWS))('a row %s', (_, rows) => {
  describe.each(rows.map(([title, sent, ...notAccepted]) => ({ title, sent, notAccepted })))('$title', (row) => {
    const { sent, notAccepted } = row;
    const refused = notAccepted.filter((text) => !text.endsWith(' unchanged'));
    const unchanged = notAccepted.length - refused.length;

    test('the batch is taken or refused as a whole, and refused or unchanged rows write nothing', async () => {
      const { desk, last } = await openWith(sent);
      const known = await shown(desk);
      const report = await desk.send(last.records, last);
      expect([faultsOf(report), report.taken]).toEqual([refused, refused.length === 0]);
      for (const { detail } of report.faults) expect(detail.length).toBeGreaterThan(5);
      if (refused.length > 0 || unchanged === last.records.length) expect(await shown(desk)).toEqual(known);
      else expect(report).toMatchObject({ unchanged, accepted: last.records.length - unchanged });
    });

    test('a dry run reports the same, and writes nothing', async () => {
      const { desk, last } = await openWith(sent);
      const known = await shown(desk);
      const report = await desk.send(last.records, { ...last, dryRun: true });
      expect([faultsOf(report), report.taken, await shown(desk)]).toEqual([refused, false, known]);
    });

    test('taken in part, the other rows have the same outcome as without the refused ones', async () => {
      const { desk, last } = await openWith(sent);
      const report = await desk.send(last.records, { ...last, partial: true });
      expect([faultsOf(report), report.taken]).toEqual([refused, true]);
      const indexes = new Set(report.faults.map(({ index }) => index));
      const { desk: clean } = await openWith(sent);
      const others = last.records.filter((___, index) => !indexes.has(index));
      expect(await clean.send(others, last)).toEqual({ ...report, faults: [] });
      expect(await shown(desk)).toEqual(await shown(clean));
    });
  });
});

test('each code of a refused row has an example', () => {
  const codes = Object.values(ROWS).flatMap((rows) =>
    rows.flatMap(([, , ...notAccepted]) => notAccepted.map((text) => text.split(' ')[1])),
  );
  expect(ROW_ERROR_CODES.filter((code) => !codes.includes(code))).toEqual([]);
});

/** Fault of a value that JSON cannot write, as `JSON.parse` reads it. */
test('1e400 is out of range', () => {
  const parsed = parseRecord(but({ amountMinor: JSON.parse('1e400') }));
  expect('errors' in parsed && parsed.errors.map(({ code }) => code)).toEqual(['amount.out-of-range']);
});
