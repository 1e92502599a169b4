/** The rules of the page of a market that need no browser. */
import { describe, expect, it } from 'vitest';
import {
  daysOf,
  exactTicks,
  logTicks,
  panned,
  rangeBetween,
  rangeWith,
  shownRange,
  wholeRange,
  zoomed,
} from '../../../clients/web/browser/chart/asked-range.ts';
import { chartData, labelOf, lastStanding } from '../../../clients/web/browser/chart/chart-data.ts';
import { chosenRow, knownMoments } from '../../../clients/web/browser/history/as-of-view.ts';
import { HistoryReader } from '../../../clients/web/browser/history/history-reader.ts';
import { ObservationStore } from '../../../clients/web/browser/history/observation-store.ts';
import { PublicAnswers, UnreachableError } from '../../../clients/web/browser/history/public-answers.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import { changeText, lastChange } from '../../../clients/web/browser/history/value-changes.ts';
import { fragmentOf, readFragment } from '../../../clients/web/browser/market/page-state.ts';
import { RowWords } from '../../../clients/web/browser/market/row-words.ts';
import { agoText, timelyNotes } from '../../../clients/web/browser/market/words.ts';
import { html } from '../../../contract/html/html.ts';
import { externalLink, safeUrl } from '../../../contract/html/html-parts.ts';
import { marketNotes } from '../../../contract/html/market-head.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../contract/values/metric-words.ts';
import { unitText } from '../../../contract/values/shown-value.ts';
import { row } from './price-row.ts';

const unknown = { decimal: null, amountMinor: null, unknownReason: 'withheld' } as const;
const idsOf = (rows: Iterable<PublicObservation>): string[] => [...rows].map(({ id }) => id);

const words = new RowWords({ quantity: 1, of: 'ounce' });

describe('words', () => {
  it.each([
    [30_000, 'just now'],
    [90_000, 'a minute ago'],
    [-50 * 3_600_000, 'in 2 days'],
    [54 * 86_400_000, '54 days ago'],
  ])('an age of %i ms is %s', (ms, text) => {
    expect(agoText(ms)).toBe(text);
  });

  it('values are the exact digits, and an unknown one has its reason', () => {
    expect(words.value(row(4, { decimal: '4129.10' }))).toBe('4,129.10 USD');
    expect(words.value(row(4, { decimal: '-90071992547409.91' }))).toBe('-90,071,992,547,409.91 USD');
    expect(words.value(row(4, unknown))).toBe('unknown: withheld, by its source or by this service');
    expect(words.value(row(4, { ...unknown, retraction: 'mistake' }))).toBe('unknown: it was recorded by mistake');
  });

  it.each([
    [1000, 'EUR', '1136.07', '1.13607 USD per EUR'],
    [3000, 'EUR', '36690.00', '36,690.00 USD per 3,000 EUR'],
    [1_000_000, 'token', '2.50', '2.50 USD per 1M tokens'],
    [100_000_000, 'token', '7.50', '0.075 USD per 1M tokens'],
    [10_000_000, 'kWh', '-20.00', '-2.00 USD per 1M kWh'],
  ])('a price of %i %s, %s, is %s', (quantity, of, decimal, text) => {
    const own = new RowWords({ quantity, of });
    expect(`${own.value(row(4, { decimal, decimalPerUnit: null }))} ${unitText({ quantity, of })}`).toBe(text);
  });

  it('numbers of the thing that is priced have its plural, and metrics have titles and an order', () => {
    const scalar = (value: string, unit: string) => ({ ...row(4), kind: 'scalar', value, unit }) as PublicObservation;
    const own = new RowWords({ quantity: 10_000_000, of: 'token' });
    expect(['1', '128000'].map((value) => own.value(scalar(value, 'token')))).toEqual(['1 token', '128,000 tokens']);
    expect(own.value(scalar('5', 'percent'))).toBe('5 percent');
    const names = ['cacheReadPrice', 'outputPrice', 'inputPrice'].sort(compareMetrics).map(metricTitle);
    expect(names).toEqual(['Input price', 'Output price', 'Cache read price']);
  });

  it('say of a point, in one breath, what is special about it', () => {
    expect(words.speech(row(4, { supersedes: 'x', status: 'provisional', rounded: true }))).toBe(
      '4 Jan 2026, 00:00 UTC: 4.00 USD, one, corrected, provisional',
    );
    expect(words.speech(row(4, { ...unknown, retraction: 'withdrawn', supersedes: 'x' }))).toBe(
      '4 Jan 2026, 00:00 UTC: unknown: the source took it back, one, retracted',
    );
  });

  it.each<[string, Partial<PublicObservation>, string]>([
    ['that was announced, and is effective', {}, 'announced'],
    ['that says something else than was announced', { decimal: '5.00' }, 'corrected'],
    ['whose announcement was not read', { supersedes: 'y' }, 'corrected'],
  ])('say of a value %s', (_, fields, mark) => {
    const versions = new Map([['x', row(4, { id: 'x', announced: true })]]);
    const own = new RowWords({ quantity: 1, of: 'ounce' }, (id) => versions.get(id));
    const effective = row(4, { supersedes: 'x', ...fields });
    expect([own.mark(effective), ...own.notes(effective)]).toEqual([mark, mark]);
  });

  it('say when a value became what it is, however often its source repeats it', () => {
    const of = (day: number, decimal: string, more = {}) => row(day, { decimal, ...more });
    const visible = [
      ...[of(9, '3.00', { announced: true }), of(8, '2.00'), of(7, '2.00'), row(6, unknown)],
      ...[of(5, '2.00', { id: 'other', metric: 'outputPrice' }), of(5, '2.00'), of(4, '10.00'), of(3, '2.00')],
    ];
    const changeOf = (at: number) => {
      const change = lastChange(visible, visible[at] as PublicObservation);
      return change && [change.before.id, change.after.id, changeText(change.before, change.after)];
    };
    expect([1, 2, 4, 6, 7].map(changeOf)).toEqual([
      ['obs_4', 'obs_5', '−80 %'],
      ['obs_4', 'obs_5', '−80 %'],
      null,
      ['obs_3', 'obs_4', '+400 %'],
      null,
    ]);
    expect(changeText(row(1, { decimal: '45.72' }), row(2, { decimal: '-29.17' }))).toBe('');
  });

  it('say what a reader must know first', () => {
    const cadence = { period: 'minutes', minutes: 5, graceSeconds: 60, holidays: [], weekdays: [] } as const;
    const source = { cadence, expectedNextAt: '2026-01-04T00:00:00Z' };
    const market = {
      ...{ metrics: { price: row(4, { confidence: 'low', status: 'estimated' }) }, status: 'retired' },
      ...{ disputedMetrics: ['price', 'volume'], representedBy: 'Some <b>', sources: [source] },
    } as unknown as Market;
    const badges = marketNotes(market, timelyNotes(market, Date.parse('2026-01-04T00:01:01Z'))).map(({ text }) => text);
    expect(badges).toEqual([
      ...['disputed', 'disputed: volume', 'retired', 'late', 'estimated', 'low confidence', 'represented by Some <b>'],
    ]);
    expect(timelyNotes(market, Date.parse('2026-01-04T00:01:00Z')).map(({ text }) => text)).not.toContain('late');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', '//host', 'x', ''])('no link goes to %j', (text) => {
    expect(safeUrl(text)).toBeNull();
    expect(externalLink(html, '<i>', text).text).toBe('<span>&lt;i&gt;</span>');
  });
});

describe('the store', () => {
  it('keeps the order of the history, whatever comes first', () => {
    const newer = row(2, { id: 'b2', supersedes: 'b1' });
    const older = row(2, { id: 'b1', supersededBy: 'b2' });
    const [other, first] = [row(2, { id: 'c', sourceUrl: 'https://two.example/' }), row(1)];
    const page = [row(3), other, newer, older, first];
    for (const parts of [
      [page],
      [[row(3), other, newer], [first], page],
      [[first], [newer], [older], page.slice(0, 4)],
    ]) {
      const store = new ObservationStore();
      for (const part of parts) store.add(part);
      expect(idsOf(store.newestFirst()), JSON.stringify(parts.map(idsOf))).toEqual(idsOf(page));
    }
  });
});

describe('chart data', () => {
  const two = { sourceLabel: 'two', sourceUrl: 'https://two.example/' };
  const announced = row(5, { announced: true });
  const visible = [
    announced,
    row(4),
    row(4, { ...two, id: 'two_4', decimal: '9.00' }),
    row(3, unknown),
    row(2, { ...unknown, retraction: 'mistake' }),
    row(1),
    row(1, { metric: 'volume', kind: 'scalar', value: '5', unit: 'lots' } as Partial<PublicObservation>),
  ];
  const data = finished(chartData(visible, { metrics: ['price'], words }));

  it('has a line for each source; an unknown value is a gap, and a mistake is none', () => {
    expect(data.series.map(({ name, values }) => [name, [...values]])).toEqual([
      ['one', [1, undefined, null, 4]],
      ['two', [undefined, undefined, undefined, 9]],
    ]);
    expect(finished(chartData(visible, { metrics: ['volume'], words })).series[0]?.unit).toBe('lots');
    expect(finished(chartData([], { metrics: ['price'], words, standsUntil: 9 })).seconds).toEqual([]);
  });

  it('of a list has a line for each metric, which ends now, but for a value that became unknown', () => {
    const rows = [
      row(3, { ...unknown, metric: 'outputPrice' }),
      row(2, { metric: 'inputPrice', decimal: '50.00' }),
      row(1, { metric: 'outputPrice' }),
    ];
    const standsUntil = Date.UTC(2026, 0, 9) / 1000;
    const perMillion = new RowWords({ quantity: 10_000_000, of: 'token' });
    const metrics = ['inputPrice', 'outputPrice'];
    const { series, seconds } = finished(chartData(rows, { metrics, words: perMillion, standsUntil }));
    expect(seconds).toHaveLength(4);
    expect(series.map(({ name, values }) => [name, [...values]])).toEqual([
      ['Input price', [undefined, 5, undefined, 5]],
      ['Output price', [0.1, undefined, null, null]],
    ]);
    expect(finished(chartData(rows, { metrics, words, standsUntil: 0 })).seconds).toHaveLength(3);
  });

  it.each([
    ['a mistake', { retraction: 'mistake' }, 2, '2.00'],
    ['a value that the source took back', { retraction: 'withdrawn' }, 3, null],
    ['an unknown value', {}, 3, null],
  ] as const)('%s at its end has the label of the value that the page shows first', (_name, end, at, label) => {
    const rows = [row(3, { ...unknown, ...end }), row(2), row(1)];
    const ended = finished(chartData(rows, { metrics: ['price'], words }));
    const place = lastStanding(ended, 0, ended.seconds.length);
    expect([place, place && labelOf(ended, place)]).toEqual([{ at: at - 1, series: 0 }, label]);
    expect(lastStanding(ended, 0, 1)).toEqual({ at: 0, series: 0 });
    expect(lastStanding(ended, 0, 0)).toBeNull();
  });
});

describe('time ranges', () => {
  const whole = { min: 0, max: 100_000 };

  it('zoom about a moment, pan, and never leave the history', () => {
    expect(zoomed(whole, 0.5, 25_000, whole)).toEqual({ min: 12_500, max: 62_500 });
    expect(zoomed({ min: 10, max: 20 }, 0.001, 15, whole)).toEqual({ min: 0, max: 60 });
    expect(zoomed(whole, 3, 0, whole)).toEqual(whole);
    expect(panned({ min: 0, max: 1000 }, -50, whole)).toEqual({ min: 0, max: 1000 });
    expect(panned({ min: 0, max: 1000 }, 1e9, whole)).toEqual({ min: 99_000, max: 100_000 });
    expect(rangeWith({ min: 0, max: 1000 }, 5000, whole)).toEqual({ min: 4050, max: 5050 });
    expect(wholeRange([5]).max - wholeRange([5]).min).toBe(2 * 86_400);
  });
});

it.each([
  [0.015, 60, ['0.02', '0.05', '0.1', '0.2', '0.5', '1', '2', '5', '10', '20', '50']],
  [2900, 4300, ['3,000', '3,500', '4,000']],
  [1e-6, 1e6, ['0.000001', '0.0001', '0.01', '1', '100', '10,000', '1,000,000']],
])('a logarithmic axis from %d to %d has labels with the digits that they need', (min, max, texts) => {
  const ticks = logTicks(min, max);
  expect(ticks.every((tick) => tick >= min && tick <= max * 1.000001)).toBe(true);
  expect(exactTicks(ticks)).toEqual(expect.arrayContaining(texts));
  expect(exactTicks(ticks).length).toBeLessThan(15);
});

describe('as of', () => {
  const rows = [
    row(3, { recordedAt: '2026-02-01T00:00:00Z', releasedAt: '2026-01-04T00:00:00Z' }),
    row(2, { id: 'new', supersedes: 'old', recordedAt: '2026-02-02T00:00:00Z', decimal: '2.50' }),
    row(2, { id: 'old', supersededBy: 'new', supersededAt: '2026-02-02T00:00:00Z' }),
  ];

  it('the moments of the slider are few, also of a long history', () => {
    expect(finished(knownMoments(rows, 'recorded')).length).toBe(3);
    const many = Array.from({ length: 5000 }, (_, day) => row(day + 1));
    const moments = finished(knownMoments(many, 'recorded', 100));
    expect([moments.length, moments[0], moments.at(-1)]).toEqual([100, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 5000)]);
  });

  it.each([
    ['now', null, 'new', true],
    ['now', null, 'obs-of-nowhere', false],
    ['as recorded then', { atMs: Date.UTC(2026, 1, 3), clock: 'recorded' }, 'new', true],
    ['as recorded then: it was not', { atMs: Date.UTC(2026, 0, 10), clock: 'recorded' }, 'obs_3', false],
    ['as released then', { atMs: Date.UTC(2026, 0, 10), clock: 'released' }, 'obs_3', true],
  ] as const)('the value of an address is found %s', (_, moment, point, isFound) => {
    const versionOf = (id: string) => rows.find((each) => each.id === id);
    expect(chosenRow(point, moment, [[]], versionOf)).toBe(isFound ? versionOf(point) : null);
  });

  it.each([
    '',
    '#metric=volume&scale=log',
    '#range=5Y&in=EUR&point=obs_1',
    '#compare=silver-usd,eur-usd&point=obs_1',
    '#from=2024-02-29&to=2025-01-31',
    '#scale=index&from=2026-11-20T10:00:00Z&to=2026-11-21T09:30:00Z',
    '#as-of=2026-01-05T00:00:00Z&clock=released',
    '#metric=a&as-of=2026-01-05T00:00:00.500Z&clock=recorded',
  ])('the fragment %j is read and written again', (fragment) => {
    expect(fragmentOf(readFragment(fragment, NOW_MS))).toBe(fragment);
  });

  it.each(['#metric=<b>', '#scale=constructor', '#clock=released', '#compare=%3Cb%3E,A', '#%'])(
    'the fragment %j says nothing',
    (fragment) => {
      expect(fragmentOf(readFragment(fragment, NOW_MS))).toBe('');
      expect(readFragment(fragment, NOW_MS).refused).toBeNull();
    },
  );

  it.each(['', '2025-02-29T00:00:00Z', '2026-02-01T00:01:01Z'])(
    'the moment %j is refused, with the reason',
    (moment) => {
      const { asOf, refused } = readFragment(`#as-of=${moment}`, Date.UTC(2026, 1, 1));
      expect([asOf, refused]).toEqual([null, expect.stringContaining(moment)]);
    },
  );
});

const NOW_MS = Date.UTC(2026, 10, 22);

describe('the dates of a chart', () => {
  it.each([
    ['2025-02-29', '', '“2025-02-29” is no date that exists.'],
    ['2025-02-28', '2025-02-27', '2025-02-28 is after 2025-02-27.'],
    ['2025-02-28', '2026-11-24', '2026-11-24 is in the future.'],
  ])('from %s to %s are refused, never moved', (from, to, words) => {
    expect(rangeBetween(from, to, NOW_MS)).toEqual({ range: null, refused: words });
    expect(readFragment(`#from=${from}&to=${to}`, NOW_MS)).toMatchObject({ range: null, refusedRange: words });
  });

  it('are shown as they are asked for, as far as there is a history', () => {
    const day = (number: number) => Date.UTC(2025, 0, number) / 1000;
    const seconds = [day(1), day(51), day(101)];
    const shown = (from: string, to: string) => shownRange(rangeBetween(from, to, NOW_MS).range, seconds);
    expect(shown('2025-01-11', '2025-02-20')).toEqual({ min: day(11), max: day(52) });
    expect(shown('1999-01-01', '2025-02-20')).toEqual({ min: wholeRange(seconds).min, max: day(52) });
    expect(shown('2025-02-20', '')).toEqual({ min: day(51), max: wholeRange(seconds).max });
    expect(daysOf(shown('2025-01-11', '2025-02-20'))).toEqual({ from: '2025-01-11', to: '2025-02-20' });
    expect(shown('2020-01-01', '2020-01-10')).toEqual({
      min: Date.UTC(2020, 0, 1) / 1000,
      max: Date.UTC(2020, 0, 11) / 1000,
    });
  });
});

/** The pages may lie in a folder. */
const HOST = 'https://data.example/folder';
const BASE = new URL(`${HOST}/`);

describe('reading a history', () => {
  /** A host with a history of so many days, its newest page 2 rows, its closed pages 2 each. */
  function host(days: number, instead: (path: string) => Response | undefined = () => undefined) {
    const asked: string[] = [];
    const rows = Array.from({ length: days }, (_, index) => row(days - index));
    /** The place of the page that has changed. */
    let changed = -1;
    const cursorOf = (from: number) => (from >= days ? null : `${from === changed ? 2 : 1}-${from}`);
    const page = (from: number) => {
      const nextCursor = cursorOf(from + 2);
      const next = nextCursor && `${from === 0 ? 'history/pages/' : ''}${nextCursor}.json`;
      return { data: rows.slice(from, from + 2), page: { next, nextCursor } };
    };
    const closedPages = () =>
      Array.from({ length: Math.ceil(days / 2) - 1 }, (_, at) => {
        const own = rows.slice(2 * at + 2, 2 * at + 4);
        const [newest, oldest] = [own[0]?.observedAt, own.at(-1)?.observedAt];
        return { cursor: cursorOf(2 * at + 2), count: own.length, firstObservedAt: oldest, lastObservedAt: newest };
      }).toReversed();
    const ask = async (input: Parameters<typeof fetch>[0]): Promise<Response> => {
      const path = String(input).replace(`${HOST}/api/v1/markets/gold-usd/history`, '').replace(HOST, '');
      asked.push(path);
      const other = instead(path);
      if (other !== undefined) return other;
      if (path === '.json') return Response.json(page(0));
      if (path.startsWith('/pages/')) return Response.json(page(Number.parseInt(path.split('-')[1] ?? '', 10)));
      if (path === '/index.json') {
        return Response.json({
          closedPages: closedPages(),
          years: [{ year: '2026', ndjson: '/2026' }],
          csv: '',
          ndjson: '',
        });
      }
      const lines = rows.toReversed().map((each) => `${JSON.stringify(each)}\n`);
      return new Response(lines.join(''));
    };
    const change = (from: number): void => {
      changed = from;
    };
    return { asked, ask: ask as typeof fetch, rows, change };
  }

  async function read(served: ReturnType<typeof host>, hasFiles = true) {
    const store = new ObservationStore();
    const reader = new HistoryReader({ answers: new PublicAnswers(served.ask, BASE), slug: 'gold-usd', store });
    const end = await reader.readAll({ onPart: () => {}, signal: new AbortController().signal, hasFiles });
    return { store, reader, end };
  }

  it.each([
    ['one page', 2, true, ['.json']],
    ['a short history by its pages', 5, true, ['.json', '/index.json', '/pages/1-2.json', '/pages/1-4.json']],
    ['a long history by its years', 100, true, ['.json', '/index.json', '/2026']],
    ['without files, from page to page', 5, false, ['.json', '/pages/1-2.json', '/pages/1-4.json']],
  ])('%s', async (_, days, hasFiles, requests) => {
    const served = host(days);
    const { store, end } = await read(served, hasFiles);
    expect([idsOf(store.newestFirst()), end]).toEqual([idsOf(served.rows), 'whole']);
    expect(served.asked).toEqual(requests);
  });

  it('a year that is too long for a file is read by its pages', async () => {
    const served = host(100, (path) => (path === '/2026' ? Response.json({}, { status: 410 }) : undefined));
    const { store } = await read(served);
    expect([store.size, served.asked.length]).toEqual([100, 3 + 49]);
  });

  it.each([
    ['a server that fails', () => new Response('', { status: 503 })],
    ['an answer that is no JSON', () => new Response('<html>')],
  ])('%s is not reachable', async (_, answer) => {
    await expect(read(host(5, answer))).rejects.toThrow(UnreachableError);
  });

  it('of a change it reads the newest page, and then only the closed pages that have another cursor', async () => {
    const served = host(9);
    const { store, reader } = await read(served);
    served.asked.length = 0;
    const reading = { onPart: () => {}, signal: new AbortController().signal, hasFiles: true };
    await reader.readChanges(9, reading);
    expect(served.asked).toEqual(['.json']);
    const corrected = row(4, { id: 'new_4', supersedes: 'obs_4' });
    served.rows.splice(5, 0, corrected);
    served.change(4);
    await reader.readChanges(10, reading);
    expect(served.asked.slice(1)).toEqual(['.json', '/index.json', '/pages/2-4.json']);
    expect(idsOf(store.newestFirst()).slice(4, 7)).toEqual(['obs_5', 'new_4', 'obs_4']);
  });

  it('the pages with corrections are read beside the files', async () => {
    const served = host(100, (path) =>
      path === '/2026'
        ? new Response(`${JSON.stringify(row(50, { id: 'new_50', supersedes: 'obs_50' }))}\n`)
        : undefined,
    );
    const { store } = await read(served);
    expect(served.asked).toEqual(['.json', '/index.json', '/2026', '/pages/1-50.json']);
    expect(idsOf(store.newestFirst()).slice(2)).toEqual(['new_50', 'obs_50', 'obs_49']);
  });

  it('a file is taken as it comes in: the rest of one that is no JSON is not read', async () => {
    const text = new TextEncoder().encode(`${JSON.stringify({ unit: '€' })}\n`);
    const read = async (...pieces: readonly Uint8Array[]) => {
      const left = [...pieces];
      const body = new ReadableStream(
        {
          pull: (stream) => {
            const piece = left.shift();
            if (piece === undefined) stream.close();
            else stream.enqueue(piece);
          },
        },
        { highWaterMark: 0 },
      );
      const answers = new PublicAnswers((async () => new Response(body)) as typeof fetch, BASE);
      const lines = await answers.readLines('/2026').catch((error: Error) => error.name);
      return [lines, left.length];
    };
    const [inLetter, inWord] = [text.indexOf(0xe2) + 1, 3];
    expect(await read(text.slice(0, inWord), text.slice(inWord, inLetter), text.slice(inLetter))).toEqual([
      [{ unit: '€' }],
      0,
    ]);
    const broken = new TextEncoder().encode('<html>\n');
    expect(await read(broken, text, text)).toEqual(['UnreachableError', 2]);
  });
});
