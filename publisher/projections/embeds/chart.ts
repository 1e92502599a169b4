/** A line of the last prices, as an image that fills its frame. Pure. */
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { shortMomentText } from '../../../contract/values/instants.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';

/** Units of the image. The image is stretched, but the width of its lines is not. */
const [WIDTH, HEIGHT, MARGIN] = [400, 100, 4];

/** Empty: there is no line to draw. Unknown prices leave a gap. */
export function chartSvg({ decimal, observedAt, source }: Omit<RecentEntry, 'slug'>): string {
  const times = observedAt.map((instant) => Date.parse(instant));
  const known = decimal.flatMap((text) => (text === null ? [] : [Number(text)]));
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  if (known.length < 2 || to === from) return '';
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (time: number) => (((time - from) / (to - from)) * WIDTH).toFixed(1);
  const y = (value: number) =>
    (high === low ? HEIGHT / 2 : MARGIN + ((high - value) / (high - low)) * (HEIGHT - 2 * MARGIN)).toFixed(1);
  const lines: string[][] = [[]];
  for (const [index, text] of decimal.entries()) {
    if (text === null) lines.push([]);
    else lines.at(-1)?.push(`${x(times[index] as number)},${y(Number(text))}`);
  }
  const drawn = lines
    .filter((points) => points.length > 1)
    .map((points) => `<polyline points="${points.join(' ')}"/>`)
    .join('');
  const days = [observedAt[0], observedAt.at(-1)].map((instant) => shortMomentText(instant as string));
  return (
    `<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${drawn}</svg>` +
    `<figcaption><small>${decimal.length} prices, ${days.join(' to ')}${source === undefined ? '' : `, by ${xmlText(source)}`}</small></figcaption></figure>`
  );
}
