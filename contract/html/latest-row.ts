/** Parts of a market's row in the table of the first page, with and without a script. Pure. */

import type { LatestEntry } from '../bodies/latest-entries.ts';
import { type Note, priceWords } from '../bodies/latest-words.ts';
import { badgeClass, breakable, type HtmlTag, type TemplateSlot } from './html-parts.ts';

/** On a phone, a longer name has its own line, above the price. */
const LONG_NAME = 40;

export const rowClass = ({ name }: LatestEntry): string => (name.length > LONG_NAME ? 'has-long-name' : '');

/** The name of the market, as a link to its page. */
export function nameCell<Made>(html: HtmlTag<Made>, { name, slug, kind }: LatestEntry, href: string): Made {
  return html`<th role="rowheader" scope="row" class="of-name"><a href="${href}" class="lines" title="${name}">${name}</a>
<span class="below lines">${[slug, kind].filter(Boolean).join(' · ')}</span></th>`;
}

export function priceParts<Made>(html: HtmlTag<Made>, entry: LatestEntry): TemplateSlot<Made> {
  const { digits, value, below } = priceWords(entry);
  const currency = entry.decimal === null ? '' : entry.currency;
  const parts = below.map((text) => [html`<span>${text}</span>`, ' ']);
  return [
    digits === null
      ? html`<span class="unknown">unknown</span>`
      : html`<span><data value="${value}" class="number">${breakable(html, digits)}</data>
<span class="currency">${currency}</span></span>`,
    // A line may break between parts, but not inside one.
    html`<span class="below parts">${parts}</span>`,
  ];
}

/** Null: there are no notes. */
export function noteList<Made>(html: HtmlTag<Made>, notes: readonly Note[]): Made | null {
  const badges = notes.map(({ text, look }) => [html`<span class="${badgeClass(look)}">${text}</span>`, ' ']);
  return badges.length === 0 ? null : html`<span class="badges row">${badges}</span>`;
}
