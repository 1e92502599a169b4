/** How others cite what a chart shows: as a sentence and for BibTeX, with the address at which it can be checked. Pure. */
import { instantOfMs } from '../as-of-view.ts';
import { endOfSeries, placeOf, rowAt } from '../chart-data.ts';
import { citedAsOf, type SeenChart, seenSeries } from '../seen-chart.ts';
import { momentText } from '../words.ts';
import { spanText, titleOf } from './chart-frame.ts';
import { seenName } from './file-name.ts';

export interface Citation {
  readonly text: string;
  readonly bibtex: string;
  /** Of the value whose receipt the page gives there. Null: there is no value. */
  readonly receiptUrl: string | null;
}

/** Of the chosen point; without one, of what the chart shows. @param operator who publishes it */
export function citationOf(seen: SeenChart, operator: string): Citation {
  const asOf = citedAsOf(seen);
  const moment = instantOfMs(asOf.atMs);
  const point = pointOf(seen);
  const newest = seenSeries(seen).map(({ index }) => lastRow(seen, index));
  const proven = point === null ? (newest[0] ?? null) : seen.chosen;
  const cited = point === null ? newest : [seen.chosen];
  const sources = [...new Set(cited.flatMap((row) => row?.sourceLabel ?? []))];
  const title = point ?? `${titleOf(seen)}: ${spanText(seen)}, ${seen.axisTexts.join(' and ')}`;
  const url = seen.addressAt(asOf, point === null ? null : (seen.chosen?.id ?? null));
  const receiptUrl = proven === null ? null : seen.addressAt(asOf, proven.id);
  const receipt = (link: string): string =>
    receiptUrl === null ? '' : receiptUrl === url ? 'With its signed receipt.' : `Signed receipt: ${link}`;
  const fields = {
    author: sources.map((source) => `{${texText(source)}}`).join(' and '),
    // Styles write titles in small letters, but not what is inside further braces.
    title: `{${texText(title)}}`,
    publisher: texText(operator),
    year: moment.slice(0, 'YYYY'.length),
    url,
    urldate: moment.slice(0, 'YYYY-MM-DD'.length),
    note: `As of ${momentText(moment)}. ${receipt(`\\url{${receiptUrl}}`)}`.trimEnd(),
  };
  const day = seen.chosen?.observedAt.slice(0, 'YYYY-MM-DD'.length);
  const name = point === null ? seenName(seen) : [seen.slug, seen.chosen?.metric, day].join('-');
  const lines = Object.entries(fields).map(([name, value]) => `  ${name.padEnd(9)} = {${value}},`);
  return {
    text: `${sources.join('; ')}. ${title}. ${operator}, as of ${momentText(moment)}. ${url} ${receipt(receiptUrl ?? '')}`.trimEnd(),
    bibtex: [`@misc{${name},`, ...lines, '}'].join('\n'),
    receiptUrl,
  };
}

/** `Gold: Price, 4,129.10 USD per troy ounce, observed 29 Sep 2026, 00:00 UTC`. Null: no point is chosen. */
function pointOf({ data, chosen }: SeenChart): string | null {
  const place = chosen === null ? null : placeOf(data, chosen);
  const line = data.series[place?.series ?? -1];
  if (chosen === null || line === undefined) return null;
  const value = `${line.words.value(chosen)} ${line.words.per(chosen)}`.trimEnd();
  return `${line.marketName}: ${data.title}, ${value}, observed ${momentText(chosen.observedAt)}`;
}

function lastRow({ data }: SeenChart, series: number) {
  const place = endOfSeries(data, series, 'last');
  return place === null ? null : (rowAt(data, place) ?? null);
}

/** Signs that TeX would read as commands are written as such. */
function texText(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '\\': '\\textbackslash{}',
    // BibTeX counts `\{`, too: without its pair, the entry would not end.
    '{': '\\textbraceleft{}',
    '}': '\\textbraceright{}',
    '~': '\\textasciitilde{}',
    '^': '\\textasciicircum{}',
  };
  return text.replaceAll(/[\\~^#$%&_{}]/g, (sign) => named[sign] ?? `\\${sign}`);
}
