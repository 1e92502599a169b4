/** The small chart of a market's last prices: the path of its line, and its text. Pure. */
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import { dayText } from '../../../../contract/values/instants.ts';
import { groupedDigits } from '../../../../contract/values/money/decimal-text.ts';

export const SPARK_WIDTH = 120;
export const SPARK_HEIGHT = 28;
/** The space for the width of the line, and for the dot at its end. */
const MARGIN = 3;

export interface SparkLine {
  /** The `d` of an SVG path. An unknown price is a gap; a price between two gaps is a dot. */
  readonly path: string;
  /** The place of the newest price. Null: it is unknown. */
  readonly end: { readonly x: number; readonly y: number } | null;
  /** The text for readers who do not see it. */
  readonly words: string;
}

/** The time axis is to scale; each chart has its own value axis. Null: there are fewer than two known prices. */
export function sparkLine({ decimal, observedAt }: RecentEntry, currency: string): SparkLine | null {
  const known = decimal.filter((text) => text !== null);
  const [first] = known;
  const [oldest, newest] = [observedAt[0], observedAt.at(-1)];
  if (first === undefined || known.length < 2 || oldest === undefined || newest === undefined) return null;
  // A floating-point number is exact enough for an order.
  const ascending = known.toSorted((one, other) => Number(one) - Number(other));
  const [lowest, highest] = [ascending[0] ?? first, ascending.at(-1) ?? first];

  const [from, to] = [Date.parse(oldest), Date.parse(newest)];
  const [bottom, top] = [Number(lowest), Number(highest)];
  const place = (share: number, size: number): number => round(MARGIN + share * (size - 2 * MARGIN));
  const points = decimal.map((text, index) => {
    if (text === null) return null;
    const x = place(to === from ? 1 : (Date.parse(observedAt[index] as string) - from) / (to - from), SPARK_WIDTH);
    const share = top === bottom ? 0.5 : (top - Number(text)) / (top - bottom);
    return { x, y: place(share, SPARK_HEIGHT) };
  });
  const steps = points.map((point, index) => {
    if (point === null) return '';
    const isStart = (points[index - 1] ?? null) === null;
    // A line without length, with round ends, is a dot.
    const isAlone = isStart && (points[index + 1] ?? null) === null;
    return `${isStart ? 'M' : 'L'}${point.x} ${point.y}${isAlone ? 'h0' : ''}`;
  });
  const unknown = decimal.length - known.length;
  const last = decimal.at(-1) ?? null;
  const words = [
    `${decimal.length} prices since ${dayText(oldest)}: last ${last === null ? 'unknown' : groupedDigits(last)}`,
    `lowest ${groupedDigits(lowest)}`,
    `highest ${groupedDigits(highest)} ${currency}`,
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
  ];
  return { path: steps.join(''), end: points.at(-1) ?? null, words: words.join(', ') };
}

const round = (value: number): number => Math.round(value * 10) / 10;
