/** Text for XML and HTML. Pure. */

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** One line, for text and for quoted attributes. Characters that XML cannot carry become U+FFFD. */
export function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}
