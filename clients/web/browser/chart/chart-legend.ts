/** The legend of the chart: one switch for each source, and the key of the marks. */

import { button, element, svgElement } from '../market/elements.ts';
import { chartColours, lookOfSeries, onOtherColours, SERIES_DASHES } from './chart-colours.ts';
import { drawMark, type KeyMark } from './chart-marks.ts';

export interface LegendLine {
  readonly name: string;
  /** Its newest value. Empty: it stands beside the line. */
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
      class: 'legend-switch',
      'aria-pressed': String(!hidden.has(name)),
    });
    const words = element('span', {}, name);
    if (value !== '') words.append(' ', element('span', { class: 'legend-value soft' }, value));
    made.append(sampleOfLine(index), words);
    return made;
  });
}

function sampleOfLine(index: number): SVGElement {
  const { colour, dash } = lookOfSeries(index);
  const dashes = (SERIES_DASHES[dash] as readonly number[]).join(' ');
  const line = svgElement('path', { d: 'M0 4h28', 'stroke-dasharray': dashes === '' ? 'none' : dashes });
  line.style.stroke = `var(--series-${colour + 1})`;
  return svgElement('svg', { viewBox: '0 0 28 8', class: 'legend-line', 'aria-hidden': 'true' }, line);
}

const KEY: readonly (readonly [KeyMark, string])[] = [
  ['corrected', 'corrected'],
  ['announced', 'announced before'],
  ['retracted', 'retracted'],
  ['unknown', 'unknown: a gap'],
  ['disputed', 'disputed'],
];

/** The marks as the canvas draws them. */
export function marksKey(): HTMLElement {
  const canvases = KEY.map(([mark]) => {
    const canvas = element('canvas', { width: '32', height: '32', class: 'chart-key-mark', 'aria-hidden': 'true' });
    return { mark, canvas };
  });
  const items = canvases.map(({ canvas }, at) => element('li', {}, canvas, KEY[at]?.[1] ?? ''));
  const list = element('ul', { class: 'chart-key small soft', 'aria-label': 'Marks' }, ...items);
  const draw = (): void => {
    const colours = chartColours(list);
    for (const { mark, canvas } of canvases) {
      const ctx = canvas.getContext('2d') as CanvasRenderingContext2D;
      ctx.clearRect(0, 0, 32, 32);
      ctx.lineWidth = 3;
      drawMark(ctx, mark, { x: 16, y: 16, size: 10, ground: colours.surface, colours });
    }
  };
  // Colours are known once it is in the page.
  new ResizeObserver(draw).observe(list);
  onOtherColours(draw);
  return list;
}
