/** Files and citations of what a chart shows. */
import { describe, expect, it } from 'vitest';
import { type ChartSeries, chartData } from '../../../clients/web/browser/chart/chart-data.ts';
import type { SeenChart, SourceOf } from '../../../clients/web/browser/chart/seen-chart.ts';
import { creditTexts } from '../../../clients/web/browser/chart/seen-chart.ts';
import { seenCsv } from '../../../clients/web/browser/chart/tools/chart-csv.ts';
import { framed, seenName } from '../../../clients/web/browser/chart/tools/chart-frame.ts';
import { citationOf } from '../../../clients/web/browser/chart/tools/citation.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import { RowWords } from '../../../clients/web/browser/market/row-words.ts';
import { HISTORY_COLUMNS } from '../../../contract/bodies/history-rows.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { row as priceRow } from './price-row.ts';

const second = (day: number): number => Date.UTC(2026, 0, day) / 1000;

const row = (day: number, sourceLabel: string) =>
  priceRow(day, { id: `obs_${day}${sourceLabel}`, sourceLabel, sourceValue: '=1+1' });

const words = new RowWords({ quantity: 1, of: 'troy ounce' });
const rows = [row(4, 'A & B'), row(3, 'other'), row(3, 'A & B'), row(2, 'A & B'), row(1, 'A & B')];

function seen(more: Partial<SeenChart> = {}): SeenChart {
  return {
    data: finished(chartData(rows, { slug: 'gold-usd', marketName: 'Gold', metrics: ['price'], words })),
    ...{ hidden: new Set(), axisTexts: ['USD per troy ounce'], range: { min: second(2), max: second(4) } },
    notes: [],
    ...{ slug: 'gold-usd', metric: 'price', asOf: null, chosen: null },
    readAtMs: Date.UTC(2026, 1, 1),
    width: 800,
    sourceOf: () => undefined,
    addressAt: ({ atMs }, point) => `https://x.example/#as-of=${new Date(atMs).toISOString()}${point ?? ''}`,
    ...more,
  } as SeenChart;
}

describe('the CSV of what is seen', () => {
  it('has the rows of the shown lines and dates, oldest first, with the columns of history files', () => {
    const dates = (chart: SeenChart) =>
      seenCsv(chart)
        .split('\r\n')
        .map((line) => line.slice(0, 'gold-usd,2026-01-02'.length));
    const head = `market,${HISTORY_COLUMNS.join(',')},licence,attribution`;
    expect(seenCsv(seen()).split('\r\n')[0]).toBe(head);
    const day = (number: number) => `gold-usd,2026-01-0${number}`;
    expect(dates(seen()).slice(1)).toEqual([day(2), day(3), day(3), '']);
    expect(dates(seen({ hidden: new Set(['other']) })).slice(1)).toEqual([day(2), day(3), '']);
    expect(seenCsv(seen())).toContain(",'=1+1,");
    const stated = { licence: 'CC-BY-4.0', attribution: 'A, B' };
    expect(seenCsv(seen({ sourceOf: () => stated }))).toContain(',CC-BY-4.0,"A, B"\r\n');
  });
});

it('the legend of a picture has the last value that stands, not a retraction after it', () => {
  const mistake = { ...rows[0], decimal: null, decimalPerUnit: null, retraction: 'mistake' } as PublicObservation;
  const taken = [mistake, ...rows.slice(1)];
  const data = finished(chartData(taken, { slug: 'gold-usd', marketName: 'Gold', metrics: ['price'], words }));
  const { legend } = framed(seen({ data, range: { min: 0, max: second(99) } }), 'x.example');
  expect(legend.map(({ text }) => text)).toEqual(['A & B: 3.00', 'other: 3.00']);
});

it.each([
  [{}, 'gold-usd-price-2026-01-02-to-2026-01-03'],
  [{ range: { min: 0, max: second(99) } }, 'gold-usd-price-2026-01-01-to-2026-01-04'],
  [
    { asOf: { atMs: Date.UTC(2026, 0, 9), clock: 'recorded' }, metric: 'volume' },
    'gold-usd-volume-2026-01-02-to-2026-01-03-as-of-2026-01-09T000000Z',
  ],
] as const)('the name of a file says what is in it: %j', (more, name) => {
  expect(seenName(seen(more))).toBe(name);
});

/** A row, with what the page knows of its market. */
function owned(row: PublicObservation | undefined, next?: PublicObservation): NonNullable<SeenChart['chosen']> {
  const owner = { slug: 'gold-usd', marketName: 'Gold', words, versionOf: () => next };
  return { row: row as PublicObservation, ...owner };
}

describe('a citation', () => {
  const LATER = { supersededBy: 'obs_new', supersededAt: '2026-01-20T00:00:00Z' };
  const MISTAKE = { retraction: 'mistake', decimal: null, decimalPerUnit: null, recordedAt: '2026-01-20T00:00:00Z' };

  it.each([
    [{ ...rows[2], ...LATER }, rows[2], '3.00 USD per troy ounce, observed 3 Jan 2026, 00:00 UTC, replaced'],
    [
      { ...rows[2], ...LATER },
      { ...rows[2], ...MISTAKE },
      '3.00 USD per troy ounce, observed 3 Jan 2026, 00:00 UTC, retracted',
    ],
    [
      { ...rows[2], ...MISTAKE },
      undefined,
      'unknown: it was recorded by mistake, observed 3 Jan 2026, 00:00 UTC, retracted',
    ],
  ] as const)('of a value that stands no more is of that value: %#', (row, next, title) => {
    const chosen = owned({ ...row, id: 'obs_old' } as PublicObservation, next as PublicObservation | undefined);
    const { text, receiptUrl } = citationOf(seen({ chosen }), 'x.example');
    expect(text).toContain(`Gold: Price, ${title} on 20 Jan 2026, 00:00 UTC. x.example`);
    expect(receiptUrl).toMatch(/obs_old$/);
  });

  it('of a chart leads to the value that the page shows, not to a retraction after it', () => {
    const taken = [{ ...rows[0], ...MISTAKE }, ...rows.slice(1)] as PublicObservation[];
    const data = finished(chartData(taken, { slug: 'gold-usd', marketName: 'Gold', metrics: ['price'], words }));
    for (const [newest, id] of [
      [undefined, 'obs_3A & B'],
      [rows[1], 'obs_3other'],
    ] as const) {
      const { receiptUrl } = citationOf(seen({ data, newest }), 'x.example');
      expect(receiptUrl?.endsWith(id)).toBe(true);
    }
  });

  it('has the sources, the dates, the moment of reading, and the addresses of the page and of a receipt', () => {
    const { text, bibtex, receiptUrl } = citationOf(seen({ range: { min: 0, max: second(99) } }), 'Grain_watch');
    expect(text).toBe(
      'A & B; other. Gold: Price, 1 Jan 2026 to 4 Jan 2026, USD per troy ounce. Grain_watch, as of 1 Feb 2026, 00:00 UTC. ' +
        'https://x.example/#as-of=2026-02-01T00:00:00.000Z ' +
        'Signed receipt: https://x.example/#as-of=2026-02-01T00:00:00.000Zobs_4A & B',
    );
    expect(receiptUrl).toMatch(/obs_4A & B$/);
    expect(bibtex).toMatch(/^@misc\{gold-usd-price-2026-01-01-to-2026-01-04,\n/);
    expect(bibtex).toContain('author    = {{A \\& B} and {other}},');
    expect(bibtex).toContain('publisher = {Grain\\_watch},');
    expect(bibtex).toContain('title     = {{Gold: Price, 1 Jan 2026');
    expect(bibtex).toContain('urldate   = {2026-02-01},');
  });

  it('is that of the chosen point, as of the moment that the page shows', () => {
    const chosen = owned(rows[2]);
    const asOf = { atMs: Date.UTC(2026, 0, 9), clock: 'released' } as const;
    const { text, bibtex } = citationOf(seen({ chosen, asOf }), 'x.example');
    expect(text).toBe(
      'A & B. Gold: Price, 3.00 USD per troy ounce, observed 3 Jan 2026, 00:00 UTC. x.example, as of 9 Jan 2026, 00:00 UTC. ' +
        'https://x.example/#as-of=2026-01-09T00:00:00.000Zobs_3A & B With its signed receipt.',
    );
    expect(bibtex).toMatch(/^@misc\{gold-usd-price-2026-01-03,\n/);
  });
});

it('BibTeX counts all braces, so those of names have no sign of their own', () => {
  const marketName = 'A } and {{ 50 %';
  const chart = finished(chartData(rows, { slug: 'gold-usd', marketName, metrics: ['price'], words }));
  const { bibtex } = citationOf(seen({ data: chart }), 'x.example');
  expect(bibtex).toContain('{{A \\textbraceright{} and \\textbraceleft{}\\textbraceleft{} 50 \\%: Price');
  expect(bibtex.match(/\{/g)?.length).toBe(bibtex.match(/\}/g)?.length);
});

describe('credits', () => {
  const LONG = `Contains data of A & B${', and of one of its many offices'.repeat(14)}`;
  const sourceOf: SourceOf = (_slug, label) =>
    label === 'A & B' ? { attribution: LONG, licence: 'CC-BY-4.0' } : undefined;

  it('stand under a picture with attribution and licence, in lines that fit it', () => {
    const { notes } = framed(seen({ sourceOf, width: 400 }), 'Grain watch');
    expect(notes.join(' ')).toContain(`Source: A & B. ${LONG}. Licence: CC-BY-4.0. Source: other. Published by`);
    expect(Math.max(...notes.map((line) => line.length))).toBeLessThan(400 / 6.5);
  });

  it('are part of a citation, after the name of the source if there are several', () => {
    const { text, bibtex } = citationOf(seen({ sourceOf, chosen: owned(rows[2]) }), 'x.example');
    expect(text).toContain(`as of 1 Feb 2026, 00:00 UTC. ${LONG}. Licence: CC-BY-4.0. https://x.example/`);
    expect(bibtex).toContain(`${LONG.replaceAll('&', '\\&')}. Licence: CC-BY-4.0.`);
    expect(citationOf(seen({ sourceOf }), 'x.example').text).toContain(`UTC. A & B: ${LONG}. Licence`);
  });

  it('name the market of each source where several are compared', () => {
    const [line] = seen().data.series as [ChartSeries];
    const other = { ...line, slug: 'silver-usd', marketName: 'Silver' };
    const third = { ...line, slug: 'tin-usd', marketName: 'Tin' };
    const silver: SourceOf = (slug) => (slug === 'silver-usd' ? { attribution: 'Silver must be credited.' } : {});
    expect(creditTexts([line, other, third], silver)).toEqual([
      'Gold; Tin: A & B.',
      'Silver: A & B. Silver must be credited.',
    ]);
  });
});
