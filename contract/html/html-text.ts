/** Text in HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The inverse of {@link escapedHtml}. */
export function unescapedHtml(text: string): string {
  const character = (entity: string) => Object.keys(ENTITIES).find((each) => ENTITIES[each] === entity) ?? entity;
  return text.replaceAll(/&[a-z#0-9]+;/g, character);
}

/** Escapes text for HTML, both for text and for quoted attributes. */
export function escapedHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
