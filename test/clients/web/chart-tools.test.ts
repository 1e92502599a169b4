/** Files and citations of what a chart shows. */
import { expect, it } from 'vitest';
import { chartData } from '../../../clients/web/browser/chart/chart-data.ts';
import type { SeenChart } from '../../../clients/web/browser/chart/seen-chart.ts';
import { seenCsv } from '../../../clients/web/browser/chart/tools/chart-csv.ts';
import { citationOf } from '../../../clients/web/browser/chart/tools/citation.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import { RowWords } from '../../../clients/web/browser/market/row-words.ts';
import { HISTORY_COLUMNS } from '../../../contract/bodies/history-rows.ts';
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

it('the CSV of what is seen has the rows of the shown lines and dates, oldest first, with the columns of history files', () => {
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

it('a citation has the sources, the dates, the moment of reading, and the addresses of the page and of a receipt', () => {
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

it('BibTeX counts all braces, so those of names have no sign of their own', () => {
  const marketName = 'A } and {{ 50 %';
  const chart = finished(chartData(rows, { slug: 'gold-usd', marketName, metrics: ['price'], words }));
  const { bibtex } = citationOf(seen({ data: chart }), 'x.example');
  expect(bibtex).toContain('{{A \\textbraceright{} and \\textbraceleft{}\\textbraceleft{} 50 \\%: Price');
  expect(bibtex.match(/\{/g)?.length).toBe(bibtex.match(/\}/g)?.length);
});
