/** A badge: two fields, the name of the market and its newest price. Pure. */
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { shortMomentText } from '../../../contract/values/instants.ts';
import type { FileInput, MarketTexts } from '../../core/market-files/files-of-markets.ts';
import { readableValue } from '../../core/market-files/readable.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';

/** Seconds. Shields accepts nothing below 300 from an endpoint. */
const CACHE_SECONDS = 300;

type Shade = 'blue' | 'orange' | 'lightgrey';

/** White text on each has a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3). */
const FILLS: { readonly [Name in Shade]: string } = { blue: '#0969a6', orange: '#a84f00', lightgrey: '#63676d' };

export function badgeTexts({ market }: Pick<FileInput, 'market'>): MarketTexts {
  const { title: label, metric, price, unknown } = readableValue(market);
  const isOne = price === null || market.unit.quantity === 1 || !/\d/.test(price.per);
  const value = price === null ? 'unknown' : isOne ? price.amount : `${price.amount} ${price.per}`;
  // The day itself, because a word such as "old" would depend on the moment of reading.
  const message = metric === null ? value : `${value} (${metric.observedAt.slice(0, 'YYYY-MM-DD'.length)})`;
  const color: Shade =
    price === null || market.status === 'retired' ? 'lightgrey' : market.disputed ? 'orange' : 'blue';
  const notes = [
    ...(price === null ? [unknown] : []),
    ...(metric === null ? [] : [shortMomentText(metric.observedAt)]),
  ];
  const title = `${label}: ${value} (${notes.join(', ')})`;
  return {
    badge: badgeSvg(label, message, FILLS[color], title),
    'badge-json': canonicalJson({ schemaVersion: 1, label, message, color, cacheSeconds: CACHE_SECONDS }),
  };
}

const PADDING = 6;

/** `textLength` makes the text fit, whichever font the reader has. */
function badgeSvg(label: string, message: string, fill: string, title: string): string {
  const [left, right] = [widthOf(label), widthOf(message)];
  const [middle, width] = [left + 2 * PADDING, left + right + 4 * PADDING];
  const text = (x: number, length: number, value: string) =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${xmlText(value)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${xmlText(title)}">`,
    `<title>${xmlText(title)}</title>`,
    '<style>.label{fill:#3b4148}@media(prefers-color-scheme:dark){.label{fill:#4d545c}}</style>',
    `<clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)"><rect class="label" width="${middle}" height="20"/>`,
    `<rect x="${middle}" width="${width - middle}" height="20" fill="${fill}"/></g>`,
    '<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">',
    text(PADDING, left, label),
    text(middle + PADDING, right, message),
    '</g></svg>\n',
  ].join('\n');
}

/** Roughly the width of Verdana at 11 pixels. Characters outside Latin, Greek and Cyrillic count as square. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/[ijl.,:;'|!]/.test(character)) width += 4;
    else if (/[mwMW%@]/.test(character)) width += 10;
    else width += (character.codePointAt(0) as number) < 0x0530 ? 7 : 11;
  }
  return Math.max(1, width);
}
