/** The texts around the picture of a chart: its title, its lines, its sources and the moment at which it was true. Pure. */

import { dayText, momentText } from '../../../../../contract/values/instants.ts';
import { instantOfMs } from '../../history/as-of-view.ts';
import { firstAtOrAfter, labelOf, lastStanding } from '../chart-data.ts';
import { citedAsOf, creditTexts, type SeenChart, type SeenLines, seenSeries } from '../seen-chart.ts';

/** The average width of a letter at 12 pixels. */
const LETTER_PIXELS = 6.8;

export interface ChartFrame {
  readonly title: string;
  /** The lines below the title. */
  readonly about: readonly string[];
  readonly legend: readonly { readonly index: number; readonly text: string }[];
  readonly notes: readonly string[];
}

/** The days of the first and the last moment that are shown, `2024-02-12`. */
function seenDays({ data: { seconds }, range }: Pick<SeenChart, 'data' | 'range'>) {
  const day = (second: number): string => new Date(second * 1000).toISOString().slice(0, 10);
  const first = seconds[firstAtOrAfter(seconds, range.min)] ?? range.min;
  const last = seconds[firstAtOrAfter(seconds, range.max) - 1] ?? range.max;
  return { from: day(Math.max(first, range.min)), to: day(Math.min(last, range.max)) };
}

/** `Price, 12 Feb 2024 to 29 Sep 2026`. */
export function spanText(seen: Pick<SeenChart, 'data' | 'range'>): string {
  const { from, to } = seenDays(seen);
  return `${seen.data.title}, ${from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`}`;
}

/** The names of the markets whose lines are shown. */
export function titleOf(seen: SeenLines): string {
  return [...new Set(seenSeries(seen).map(({ line }) => line.marketName))].join(', ');
}

/** The texts, wrapped to the width of the plot. @param publisher the operator of the service */
export function framed(seen: SeenChart, publisher: string): ChartFrame {
  const { data, axisTexts } = seen;
  const asOf = citedAsOf(seen);
  const legend = seenSeries(seen).map(({ line, index }) => {
    const place = lastStanding(data, index, firstAtOrAfter(data.seconds, seen.range.max));
    const label = place === null ? null : labelOf(data, place);
    return { index, text: label === null ? line.name : `${line.name}: ${label}` };
  });
  const lines = seenSeries(seen).map(({ line }) => line);
  const width = Math.floor((seen.width - 24) / LETTER_PIXELS);
  const about = `${spanText(seen)} · ${axisTexts.join(' · ')}`;
  const notes = [
    ...seen.notes,
    ...creditTexts(lines, seen.sourceOf),
    `Published by ${publisher}. As of ${momentText(instantOfMs(asOf.atMs))}.`,
    seen.addressAt(asOf, null),
  ];
  return {
    title: titleOf(seen),
    about: wrapped(about, width),
    legend,
    notes: notes.flatMap((text) => wrapped(text, width)),
  };
}

/** Lines have at most this many letters; a longer word is cut. */
function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').flatMap((word) => word.match(new RegExp(`.{1,${letters}}`, 'gu')) ?? [])) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** `gold-usd-price-2024-02-12-to-2026-09-29`; with the moment, if it is an earlier one. */
export function seenName(seen: Pick<SeenChart, 'slug' | 'metric' | 'asOf' | 'data' | 'range'>): string {
  const { from, to } = seenDays(seen);
  const moment = seen.asOf === null ? [] : ['as-of', instantOfMs(seen.asOf.atMs).replaceAll(/[:.]/g, '')];
  const others = new Set(seen.data.series.map(({ slug }) => slug)).size - 1;
  const more = others > 0 ? ['and', others, 'more'] : [];
  return [seen.slug, ...more, seen.metric, from, 'to', to, ...moment].join('-');
}
