/** Parts of HTML that files and scripts share. A script makes elements of them, and the publisher makes text. Pure. */

/** A value in a template. The items of an array are inserted in order; null inserts nothing. */
export type TemplateSlot<Made> = Made | string | number | null | readonly TemplateSlot<Made>[];

/** The tag of an HTML template with one outermost element. It never parses a text in a slot as HTML. */
export type HtmlTag<Made> = (strings: TemplateStringsArray, ...slots: readonly TemplateSlot<Made>[]) => Made;

/** A URL that is safe as a link. Null for any other text, such as `javascript:…`. */
export function safeUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { href, protocol } = new URL(text);
  return /^https?:$/.test(protocol) ? href : null;
}

/** A link to another site. Only its text, if the URL is neither http nor https. */
export function externalLink<Made>(html: HtmlTag<Made>, text: string, url: string): Made {
  const href = safeUrl(url);
  return href === null ? html`<span>${text}</span>` : html`<a href="${href}" rel="noreferrer nofollow">${text}</a>`;
}

/** Lets a long number break between groups of digits, not inside one. */
export function breakable<Made>(html: HtmlTag<Made>, digits: string): readonly TemplateSlot<Made>[] {
  return digits.split(/(?<=,)/).flatMap((group, at) => (at === 0 ? [group] : [html`<wbr>`, group]));
}

export type BadgeLook = 'alarm' | 'notice' | 'plain' | 'good';

export function badgeClass(look: BadgeLook): string {
  return look === 'plain' ? 'badge' : `badge badge-${look}`;
}
