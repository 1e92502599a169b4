/** Elements of a page. Texts become text nodes, so that text from outside is never parsed as HTML. */
import { type BadgeLook, badgeClass, externalLink, type TemplateSlot } from '../../../../contract/html/html-parts.ts';
import { escapedHtml } from '../../../../contract/html/html-text.ts';
import { momentText } from '../../../../contract/values/instants.ts';
import { agoText } from './words.ts';

type Attributes = Readonly<Record<string, string | boolean | null>>;
type Child = Node | string | null;

/** @param attributes false or null: omitted; true: an attribute without a value */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(attribute, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export type Slot = TemplateSlot<Node>;

/** An element from an HTML template. Slots become texts, attributes and nodes; they are never parsed as HTML. */
export function dom<Made extends Element = HTMLElement>(
  strings: TemplateStringsArray,
  ...slots: readonly Slot[]
): Made {
  let text = '';
  for (const [at, part] of strings.entries()) {
    text += part;
    // Inside a tag, the slot is an attribute.
    const isAttribute = text.lastIndexOf('<') > text.lastIndexOf('>');
    if (at < slots.length) text += isAttribute ? escapedHtml(String(slots[at] ?? '')) : `<!--${at}-->`;
  }
  const template = document.createElement('template');
  template.innerHTML = text;
  const places = document.createTreeWalker(template.content, NodeFilter.SHOW_COMMENT);
  const found: Comment[] = [];
  while (places.nextNode()) found.push(places.currentNode as Comment);
  for (const place of found) place.replaceWith(...nodesOf(slots[Number(place.data)] ?? null));
  return template.content.firstElementChild as Made;
}

/** Replaces the content of an element. */
export function fill(root: Element, slot: Slot): void {
  root.replaceChildren(...nodesOf(slot));
}

function nodesOf(slot: Slot): readonly (Node | string)[] {
  if (slot === null) return [];
  if (typeof slot === 'object' && !(slot instanceof Node)) return slot.flatMap(nodesOf);
  return [typeof slot === 'number' ? String(slot) : slot];
}

export function button(text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onClick);
  return made;
}

/** A link to another site. Only its text, if the URL is neither http nor https. */
export function outsideLink(text: string, url: string): HTMLElement {
  return externalLink<HTMLElement>(dom, text, url);
}

export function timeElement(instant: string): HTMLTimeElement {
  return element('time', { datetime: instant, class: 'number' }, momentText(instant));
}

/** The moment and its age, which {@link refreshAges} updates. */
export function agedTime(instant: string): HTMLElement {
  const made = dom`<span>${timeElement(instant)} <span class="soft" data-age-of="${instant}"></span></span>`;
  refreshAges(made);
  return made;
}

export function refreshAges(root: ParentNode): void {
  const nowMs = Date.now();
  for (const age of root.querySelectorAll('[data-age-of]')) {
    const text = `(${agoText(nowMs - Date.parse(age.getAttribute('data-age-of') as string))})`;
    if (age.textContent !== text) age.textContent = text;
  }
}

/** A table in a box that scrolls if the table is wider than the page. @param values the indices of the columns with values */
export function tableBox(
  label: string,
  heads: readonly string[],
  values: readonly number[],
  body: Slot,
  caption: Slot = dom`<span class="visually-hidden">${label}</span>`,
): HTMLElement {
  const cells = heads.map(
    (head, at) => dom`<th scope="col" class="${values.includes(at) ? 'value' : ''}">${head}</th>`,
  );
  return dom`<div class="table-box" role="region" tabindex="0" aria-label="${label}"><table>
<caption>${caption}</caption><thead><tr>${cells}</tr></thead>${body}</table></div>`;
}

export function badge(text: string, look: BadgeLook): HTMLElement {
  return element('span', { class: badgeClass(look) }, text);
}

/** Rows of name and value. */
export function facts(rows: readonly (readonly [string, Slot] | null)[]): HTMLElement {
  return dom`<dl class="facts">${rows.map((row) => row && [dom`<dt>${row[0]}</dt>`, dom`<dd>${row[1]}</dd>`])}</dl>`;
}
