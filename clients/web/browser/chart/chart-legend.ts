/** The legend of the chart: one switch for each source, and the key of the marks. */

import { button, dom } from '../market/elements.ts';
import { lookOfSeries, SERIES_DASHES } from './chart-colours.ts';

export interface LegendLine {
  readonly name: string;
  /** Its newest value. Empty: the value is beside the line. */
  readonly value: string;
}

/** @param hidden names of the sources whose lines are switched off */
export function legendOf(
  lines: readonly LegendLine[],
  hidden: ReadonlySet<string>,
  onToggle: (name: string) => void,
): readonly HTMLElement[] {
  return lines.map(({ name, value }, index) => {
    const made = button('', () => onToggle(name), {
      class: 'legend-switch row',
      'aria-pressed': String(!hidden.has(name)),
    });
    made.append(sampleOfLine(index), dom`<span>${name} <span class="number soft">${value}</span></span>`);
    return made;
  });
}

function sampleOfLine(index: number): Element {
  const { colour, dash } = lookOfSeries(index);
  const dashes = (SERIES_DASHES[dash] as readonly number[]).join(' ') || 'none';
  return dom<SVGElement>`<svg viewBox="0 0 28 8" class="legend-line" aria-hidden="true" stroke="var(--series-${colour + 1})"><path
d="M0 4h28" stroke-dasharray="${dashes}"/></svg>`;
}

/** Symbols for the marks on the canvas, in the colour of text. */
const MARKS = {
  '◇': 'corrected',
  '◆': 'announced before',
  '×': 'retracted',
  '○': 'unknown: a gap',
  '△': 'disputed',
} as const;

export function marksKey(): HTMLElement {
  const items = Object.entries(MARKS).map(
    ([mark, words]) => dom`<li><span aria-hidden="true">${mark}</span> ${words}</li>`,
  );
  return dom`<ul class="chart-key row small soft" aria-label="Marks">${items}</ul>`;
}
