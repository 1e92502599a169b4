/** The scale of a chart: unscaled values, a logarithmic axis, or a comparison with the first shown value of each line. Pure. */

import { percentText } from '../../../../contract/bodies/price-change.ts';
import { groupedDigits } from '../../../../contract/values/money/decimal-text.ts';

/** The scales by name, with the words of the choice. */
export const CHART_SCALES = {
  linear: 'Linear',
  log: 'Log',
  percent: 'Change %',
  index: 'Index 100',
} as const;

export type ChartScale = keyof typeof CHART_SCALES;

export function isChartScale(text: string): text is ChartScale {
  return Object.hasOwn(CHART_SCALES, text);
}

/** The position of a value on the chart. Null: it has none on this scale. @param first the first value of the line */
export function scaledNumber(scale: ChartScale, value: number, first: number): number | null {
  if (scale === 'linear') return value;
  if (scale === 'log') return value > 0 ? value : null;
  if (!(first > 0)) return null;
  return scale === 'percent' ? (value / first - 1) * 100 : (value / first) * 100;
}

/** The label of a value. @param digits exact; @param scaled its {@link scaledNumber} */
export function scaledText(scale: ChartScale, digits: string, scaled: number): string {
  if (scale === 'percent') return percentText(scaled / 100, 2);
  return scale === 'index' ? scaled.toFixed(2) : groupedDigits(digits);
}

/** Longer units are shortened beside the axis. The head of the page and citations have them in full. */
const AXIS_TEXT_MAX = 36;

export function besideAxis(text: string): string {
  return text.length > AXIS_TEXT_MAX ? `${text.slice(0, AXIS_TEXT_MAX)}…` : text;
}

/** The label of the axis. @param unit of the values themselves. @param since the day of the values that are compared */
export function axisText(scale: ChartScale, unit: string, since: string): string {
  if (scale === 'percent') return `change since ${since}, %`;
  return scale === 'index' ? `${since} = 100` : unit;
}
