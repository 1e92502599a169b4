/** The operator of a service, as HTML for the published pages. Without the schema library. */
import { escapedHtml, unescapedHtml } from '../html/html-text.ts';
import type { Operator } from '../values/operator.ts';

/** The place in a built page that {@link operatorHtml} replaces when the page is published. */
export const OPERATOR_PLACE = '<p class="operator" hidden></p>';

/** Empty if the operator has set nothing. `tidemark doctor` reads from `data-states` which facts a page states. */
export function operatorHtml({ name, contact, licence }: Operator): string {
  const facts: readonly (readonly [string, string] | null)[] = [
    name === undefined ? null : ['name', `Operated by ${escapedHtml(name)}`],
    contact === undefined ? null : ['contact', `Contact: ${linked(contact, `mailto:${contact}`)}`],
    licence === undefined ? null : ['licence', `Data licence: ${linked(licence, null)}`],
  ];
  const stated = facts.filter((fact) => fact !== null);
  if (stated.length === 0) return '';
  const texts = stated.map(([, text]) => `<span>${text}</span>`);
  return `<p class="operator" data-states="${stated.map(([fact]) => fact).join(' ')}">${texts.join(' ')}</p>`;
}

/** The name and the licence that a published page states. */
export function operatorIn(page: string): Pick<Operator, 'name' | 'licence'> {
  const [, name] = /<span>Operated by ([^<]*)<\/span>/.exec(page) ?? [];
  const [, url, text] = /<span>Data licence: (?:<a href="([^"]*)">|([^<]*)<)/.exec(page) ?? [];
  const licence = url ?? text;
  return {
    ...(name !== undefined && { name: unescapedHtml(name) }),
    ...(licence !== undefined && { licence: unescapedHtml(licence) }),
  };
}

/** @param otherwise the link of a text that is not a URL. Null: no link */
function linked(text: string, otherwise: string | null): string {
  const href = /^https?:\/\//.test(text) ? text : otherwise;
  return href === null
    ? escapedHtml(text)
    : `<a href="${escapedHtml(href)}">${escapedHtml(text.replace(/^https?:\/\//, ''))}</a>`;
}
