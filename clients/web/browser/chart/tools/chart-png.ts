/** The picture of a chart as PNG: its own canvas between what is written around it. */
import { lookOfSeries, SERIES_DASHES } from '../chart-colours.ts';
import type { DrawnChart } from '../market-chart.ts';
import type { ChartFrame } from './chart-frame.ts';

/** In CSS pixels, as those of {@link svgOf}. */
export const FRAME = { margin: 12, title: 18, line: 17, text: 12, sample: 28 } as const;

/** The height of what is written above the chart. */
export function headHeight({ about, legend }: ChartFrame): number {
  return FRAME.margin + FRAME.title + (about.length + legend.length) * FRAME.line + FRAME.margin;
}

export function footHeight({ notes }: ChartFrame): number {
  return notes.length * FRAME.line + FRAME.margin;
}

export async function pngOf({ plot, colours }: DrawnChart, frame: ChartFrame): Promise<Blob> {
  const { canvas } = plot.ctx;
  const ratio = canvas.width / plot.width;
  const top = headHeight(frame);
  const made = document.createElement('canvas');
  made.width = canvas.width;
  made.height = Math.round((top + plot.height + footHeight(frame)) * ratio);
  const ctx = made.getContext('2d') as CanvasRenderingContext2D;
  ctx.fillStyle = colours.surface;
  ctx.fillRect(0, 0, made.width, made.height);
  ctx.drawImage(canvas, 0, Math.round(top * ratio));
  ctx.scale(ratio, ratio);
  let y: number = FRAME.margin + FRAME.title / 2;
  const write = (text: string, x: number, colour: string, font = `${FRAME.text}px system-ui, sans-serif`): void => {
    [ctx.fillStyle, ctx.font] = [colour, font];
    ctx.fillText(text, x, y);
    y += FRAME.line;
  };
  ctx.textBaseline = 'middle';
  write(frame.title, FRAME.margin, colours.ink, '600 16px system-ui, sans-serif');
  y += 3;
  for (const text of frame.about) write(text, FRAME.margin, colours.soft);
  for (const { index, text } of frame.legend) {
    const { colour, dash } = lookOfSeries(index);
    ctx.strokeStyle = colours.series[colour] as string;
    ctx.lineWidth = 2;
    ctx.setLineDash([...(SERIES_DASHES[dash] as readonly number[])]);
    ctx.beginPath();
    ctx.moveTo(FRAME.margin, y);
    ctx.lineTo(FRAME.margin + FRAME.sample, y);
    ctx.stroke();
    write(text, FRAME.margin + FRAME.sample + 8, colours.ink);
  }
  y = top + plot.height + FRAME.line / 2;
  for (const text of frame.notes) write(text, FRAME.margin, colours.soft);
  return await new Promise((resolve, reject) => {
    made.toBlob((blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)), 'image/png');
  });
}
