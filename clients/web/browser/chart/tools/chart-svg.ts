/** The picture of a chart as SVG, drawn anew at the places of its canvas: lines, marks, axes, and what is written around it. */

import { escapedHtml } from '../../../../../contract/html/html-text.ts';
import { lookOfSeries, SERIES_DASHES } from '../chart-colours.ts';
import { type ChartSeries, firstAtOrAfter } from '../chart-data.ts';
import { labelsOf, type Shape, shapesOf } from '../chart-marks.ts';
import { besideAxis } from '../chart-scale.ts';
import type { DrawnChart } from '../market-chart.ts';
import { seenSeries } from '../seen-chart.ts';
import type { ChartFrame } from './chart-frame.ts';

/** In CSS pixels. */
const FRAME = { margin: 12, title: 18, line: 17, text: 12, sample: 28 } as const;
/** Of the same picture as PNG, for each CSS pixel: screens have up to three. */
const PNG_PIXELS = 2;

/** The same picture in pixels. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width * PNG_PIXELS, image.height * PNG_PIXELS];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)),
      'image/png',
    );
  });
}

export function svgOf(seen: DrawnChart, frame: ChartFrame): string {
  const { plot, colours } = seen;
  const { margin, title, line } = FRAME;
  const width = plot.width;
  const top = 2 * margin + title + (frame.about.length + frame.legend.length) * line;
  const height = top + plot.height + frame.notes.length * line + margin;
  const { left, top: plotTop, width: plotWidth, height: plotHeight } = plot.over.getBoundingClientRect();
  const host = plot.root.getBoundingClientRect();
  const area = { x: round(left - host.left), y: round(plotTop - host.top), width: plotWidth, height: plotHeight };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${round(height)}" width="${width}" height="${round(height)}" font-family="system-ui, sans-serif" font-size="${FRAME.text}">`,
    `<title>${escapedHtml(`${frame.title}: ${frame.about.join(' ')}`)}</title>`,
    `<rect width="100%" height="100%" fill="${colours.surface}"/>`,
    written(frame, colours, top + plot.height),
    `<g transform="translate(${area.x} ${round(top + area.y)})">`,
    axes(seen, area),
    `<clipPath id="plot"><rect width="${round(area.width)}" height="${round(area.height)}"/></clipPath>`,
    '<g clip-path="url(#plot)" fill="none" stroke-width="1.75" stroke-linejoin="round">',
    ...seenSeries(seen).map(({ line, index }) => lineOf(seen, line, index)),
    ...Array.from(shapesOf(plot, seen), pathOf),
    '</g>',
    ...labelsOf(plot, seen).map(({ box, digits, x, y }) => {
      const look = ' dominant-baseline="central" font-size="11" font-weight="600"';
      return pathOf(box) + text(digits, x, y, colours.surface, look);
    }),
    '</g></svg>\n',
  ].join('\n');
}

const round = (value: number): number => Math.round(value * 10) / 10;

function strokeOf({ colours }: Pick<DrawnChart, 'colours'>, index: number): string {
  const { colour, dash } = lookOfSeries(index);
  const dashes = (SERIES_DASHES[dash] as readonly number[]).join(' ');
  return `stroke="${colours.series[colour]}"${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}`;
}

function text(words: string, x: number, y: number, fill: string, more = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}"${more}>${escapedHtml(words)}</text>`;
}

function written({ title, about, legend, notes }: ChartFrame, colours: DrawnChart['colours'], foot: number): string {
  const { margin, line, sample } = FRAME;
  const legendTop = margin + FRAME.title + about.length * line;
  const lines = [
    text(title, margin, margin + FRAME.title - 3, colours.ink, ' font-size="16" font-weight="600"'),
    ...about.map((words, at) => text(words, margin, margin + FRAME.title + (at + 1) * line, colours.soft)),
    ...legend.flatMap(({ index, text: words }, at) => {
      const y = legendTop + (at + 1) * line;
      return [
        `<path d="M${margin} ${y - 4}h${sample}" stroke-width="2" ${strokeOf({ colours }, index)}/>`,
        text(words, margin + sample + 8, y, colours.ink),
      ];
    }),
    ...notes.map((words, at) => text(words, margin, foot + (at + 1) * line - 4, colours.soft)),
  ];
  return lines.join('\n');
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function axes({ plot, colours, ticks, axisTexts }: DrawnChart, area: Area): string {
  const parts: string[] = [];
  const each = (scale: string, draw: (place: number, words: string) => void): void => {
    const { splits, texts } = ticks.get(scale) ?? { splits: [], texts: [] };
    for (const [at, split] of splits.entries()) {
      const place = split === null ? Number.NaN : plot.valToPos(split, scale);
      if (place >= -0.5 && place <= (scale === 'x' ? area.width : area.height) + 0.5)
        draw(round(place), texts[at] ?? '');
    }
  };
  const rule = (d: string): number => parts.push(`<path d="${d}" stroke="${colours.rule}"/>`);
  each('x', (x, words) => {
    rule(`M${x} 0v${round(area.height + 5)}`);
    for (const [at, line] of words.split('\n').entries())
      parts.push(text(line, x, area.height + 18 + at * 14, colours.soft, ' text-anchor="middle"'));
  });
  each('y', (y, words) => {
    rule(`M-5 ${y}H${round(area.width)}`);
    parts.push(text(words, -8, y + 4, colours.soft, ' text-anchor="end"'));
  });
  each('y2', (y, words) => parts.push(text(words, area.width + 8, y + 4, colours.soft)));
  for (const [at, words] of axisTexts.entries()) {
    const x = at === 0 ? 12 - area.x : plot.width - area.x - 6;
    const middle = area.height / 2;
    const turn = ` text-anchor="middle" transform="rotate(-90 ${round(x)} ${round(middle)})"`;
    parts.push(text(besideAxis(words), x, middle, colours.soft, turn));
  }
  return parts.join('\n');
}

function lineOf({ plot, data, range, colours }: DrawnChart, line: ChartSeries, index: number): string {
  const { seconds, isStepped } = data;
  const from = Math.max(0, firstAtOrAfter(seconds, range.min) - 1);
  const to = Math.min(seconds.length - 1, firstAtOrAfter(seconds, range.max));
  const parts: string[] = [];
  let column: { readonly x: number; readonly ys: number[] } = { x: Number.NaN, ys: [] };
  let isBegun = false;
  const endColumn = (): void => {
    for (const y of outlineOf(column.ys)) {
      parts.push(isBegun ? (isStepped ? `H${column.x}V${y}` : `L${column.x} ${y}`) : `M${column.x} ${y}`);
      isBegun = true;
    }
    column = { x: Number.NaN, ys: [] };
  };
  for (let at = from; at <= to; at++) {
    const value = line.values[at];
    if (value === undefined) continue;
    if (value === null) {
      endColumn();
      isBegun = false;
      continue;
    }
    const x = round(plot.valToPos(seconds[at] as number, 'x'));
    if (column.x !== x) {
      endColumn();
      column = { x, ys: [] };
    }
    column.ys.push(round(plot.valToPos(value, line.axis)));
  }
  endColumn();
  return `<path d="${parts.join('')}" ${strokeOf({ colours }, index)}/>`;
}

function pathOf({ path, x, y, size, fill, line }: Shape): string {
  const place = `transform="translate(${round(x)} ${round(y)}) scale(${size})" vector-effect="non-scaling-stroke"`;
  const stroke =
    line === null
      ? ''
      : ` stroke="${line.colour}" stroke-width="${line.width}" stroke-opacity="${line.opacity}" stroke-dasharray="${line.dash.join(' ') || 'none'}"`;
  return `<path d="${path}" ${place} fill="${fill ?? 'none'}"${stroke}/>`;
}

/** Of the points at one place, the first and the last one, the lowest and the highest one are enough. */
function outlineOf(ys: readonly number[]): readonly number[] {
  return ys.length < 5 ? ys : [ys[0] as number, Math.min(...ys), Math.max(...ys), ys.at(-1) as number];
}
