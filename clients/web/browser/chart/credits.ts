/** Whom a chart credits: each source that it shows, with the words and the licence that its publisher states. Pure. */
import type { Market } from '../../../../contract/values/market.ts';
import type { ChartSeries } from './chart-data.ts';

/** The licence and the attribution of a source. Empty: neither is stated. */
export type TermsOf = (slug: string, sourceLabel: string) => string;

/** `Prices by the Exchange of Paris. Licence: CC-BY-4.0.` */
export function sourceTerms({ sources }: Pick<Market, 'sources'>, sourceLabel: string): string {
  const { attribution = null, licence = null } = sources.find(({ label }) => label === sourceLabel) ?? {};
  const sentences = [attribution, licence === null ? null : `Licence: ${licence}`].filter((text) => text !== null);
  return sentences.map(sentence).join(' ');
}

/** One text for each source of the lines. Sources of several markets are said with the names of their markets. */
export function creditTexts(lines: readonly ChartSeries[], termsOf: TermsOf): readonly string[] {
  const marketsBy = new Map<string, Set<string>>();
  for (const { slug, marketName, rows } of lines) {
    const label = rows.find((row) => row !== undefined)?.sourceLabel;
    if (label === undefined) continue;
    const text = `${sentence(label)} ${termsOf(slug, label)}`.trimEnd();
    marketsBy.set(text, (marketsBy.get(text) ?? new Set()).add(marketName));
  }
  const areSeveral = new Set(lines.map(({ slug }) => slug)).size > 1;
  return [...marketsBy].map(([text, markets]) => `${areSeveral ? [...markets].join('; ') : 'Source'}: ${text}`);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
