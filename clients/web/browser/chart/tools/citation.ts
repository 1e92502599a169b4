/** A citation of a chart: as a sentence and for BibTeX, with the address at which it can be checked. Pure. */

import { momentText } from '../../../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../../contract/values/metric-words.ts';
import { instantOfMs } from '../../history/as-of-view.ts';
import type { ChartSeries } from '../chart-data.ts';
import { citedAsOf, type SeenChart, seenSeries, sourceTerms } from '../seen-chart.ts';
import { seenName, spanText, titleOf } from './chart-frame.ts';

export interface Citation {
  readonly text: string;
  readonly bibtex: string;
  /** The address of the page with the value's receipt. Null: there is no value. */
  readonly receiptUrl: string | null;
}

/** Cites the chosen value; without one, the visible part of the chart. @param publisher the operator of the service */
export function citationOf(seen: SeenChart, publisher: string): Citation {
  const asOf = citedAsOf(seen);
  const moment = instantOfMs(asOf.atMs);
  const { chosen } = seen;
  const newest = seenSeries(seen).flatMap(({ line }) => {
    const row = lastStanding(line);
    return row === undefined ? [] : [{ slug: line.slug, row }];
  });
  const owned = chosen === null ? newest : [chosen];
  const cited = owned.map(({ row }) => row);
  const proven = cited.find(({ id }) => id === seen.newest?.id) ?? cited[0];
  const sources = [...new Set(cited.map(({ sourceLabel }) => sourceLabel))];
  const terms = owned.map(({ slug, row: { sourceLabel } }) => {
    const text = sourceTerms(seen.sourceOf(slug, sourceLabel));
    return text === '' || sources.length === 1 ? text : `${sourceLabel}: ${text}`;
  });
  const credit = [...new Set(terms)].filter((text) => text !== '').join(' ');
  const title =
    chosen === null ? `${titleOf(seen)}: ${spanText(seen)}, ${seen.axisTexts.join(' and ')}` : chosenTitle(chosen);
  const url = seen.addressAt(asOf, chosen === null ? null : chosen.row.id);
  const receiptUrl = proven === undefined ? null : seen.addressAt(asOf, proven.id);
  const receipt = (link: string): string =>
    receiptUrl === null ? '' : receiptUrl === url ? 'With its signed receipt.' : `Signed receipt: ${link}`;
  const fields = {
    author: sources.map((source) => `{${texText(source)}}`).join(' and '),
    // Citation styles write titles in lower case, except inside further braces.
    title: `{${texText(title)}}`,
    publisher: texText(publisher),
    year: moment.slice(0, 'YYYY'.length),
    url,
    urldate: moment.slice(0, 'YYYY-MM-DD'.length),
    note: joined(`As of ${momentText(moment)}.`, texText(credit), receipt(`\\url{${receiptUrl}}`)),
  };
  const nameOf = ({ slug, row }: NonNullable<SeenChart['chosen']>): string =>
    [slug, row.metric, row.observedAt.slice(0, 'YYYY-MM-DD'.length)].join('-');
  const name = chosen === null ? seenName(seen) : nameOf(chosen);
  const lines = Object.entries(fields).map(([name, value]) => `  ${name.padEnd(9)} = {${value}},`);
  return {
    text: joined(
      `${sources.join('; ')}. ${title}. ${publisher}, as of ${momentText(moment)}.`,
      credit,
      url,
      receipt(receiptUrl ?? ''),
    ),
    bibtex: [`@misc{${name},`, ...lines, '}'].join('\n'),
    receiptUrl,
  };
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

/** `Gold: Price, 4,129.10 USD per troy ounce, observed 29 Sep 2026, 00:00 UTC`, and its later corrections. */
function chosenTitle({ row, marketName, words, versionOf }: NonNullable<SeenChart['chosen']>): string {
  const next = row.supersededBy === null ? undefined : versionOf(row.supersededBy);
  const end =
    row.retraction !== null
      ? `, retracted on ${momentText(row.recordedAt)}`
      : row.supersededAt === null
        ? ''
        : `, ${next?.retraction ? 'retracted' : 'replaced'} on ${momentText(row.supersededAt)}`;
  return `${marketName}: ${metricTitle(row.metric)}, ${words.whole(row)}, observed ${momentText(row.observedAt)}${end}`;
}

/** The newest value of a line that was not recorded by mistake. */
function lastStanding({ rows }: ChartSeries): PublicObservation | undefined {
  return rows.findLast((row) => row !== undefined && row.retraction !== 'mistake');
}

/** Escapes characters that TeX would read as commands. */
function texText(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '\\': '\\textbackslash{}',
    // BibTeX counts `\{`, too: without a closing brace, the entry would not end.
    '{': '\\textbraceleft{}',
    '}': '\\textbraceright{}',
    '~': '\\textasciitilde{}',
    '^': '\\textasciicircum{}',
  };
  return text.replaceAll(/[\\~^#$%&_{}]/g, (sign) => named[sign] ?? `\\${sign}`);
}
