/** Elements of a page. Texts become text nodes, so a text of other people is never read as HTML. */
import { agoText, type Badge, momentText, safeUrl } from './words.ts';

type Attributes = Readonly<Record<string, string | boolean | null>>;
type Child = Node | string | null;

/** @param attributes false or null: left out; true: an empty one */
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

/** A long number breaks after a group of its digits, not inside one. */
export function breakable(digits: string): readonly Child[] {
  return digits.split(/(?<=,)/).flatMap((group, at) => (at === 0 ? [group] : [element('wbr', {}), group]));
}

export function button(text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onClick);
  return made;
}

/** A link to a place of other people. If the URL is neither http nor https, only its text. */
export function outsideLink(text: string, url: string): HTMLElement {
  const href = safeUrl(url);
  return href === null ? element('span', {}, text) : element('a', { href, rel: 'noreferrer nofollow' }, text);
}

export function timeElement(instant: string): HTMLTimeElement {
  return element('time', { datetime: instant, class: 'number' }, momentText(instant));
}

/** The moment and its age, which {@link refreshAges} keeps right. */
export function agedTime(instant: string): HTMLElement {
  const age = element('span', { class: 'soft', 'data-age-of': instant });
  const made = element('span', {}, timeElement(instant), ' ', age);
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

/** A table in its own box, which scrolls where it is wider than the page. */
export function tableBox(
  label: string,
  table: { readonly class?: string; readonly heads: readonly string[]; readonly caption?: HTMLElement },
  body: HTMLElement,
): HTMLElement {
  const heads = table.heads.map((head) => element('th', { scope: 'col' }, head));
  return element(
    'div',
    { class: 'table-box', role: 'region', tabindex: '0', 'aria-label': label },
    element(
      'table',
      { class: table.class ?? null },
      table.caption ?? null,
      element('thead', {}, element('tr', {}, ...heads)),
      body,
    ),
  );
}

export type BadgeLook = Badge['look'] | 'good';

export function badgeClass(look: BadgeLook): string {
  return look === 'plain' ? 'badge' : `badge badge-${look}`;
}

export function badge(text: string, look: BadgeLook): HTMLElement {
  return element('span', { class: badgeClass(look) }, text);
}

export function svgElement(
  name: 'svg' | 'path' | 'circle',
  attributes: Readonly<Record<string, string>>,
  ...children: readonly SVGElement[]
): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** Rows of name and value. */
export function facts(rows: readonly (readonly [string, Child] | null)[]): HTMLDListElement {
  return element(
    'dl',
    { class: 'facts' },
    ...rows.flatMap((row) => (row === null ? [] : [element('dt', {}, row[0]), element('dd', {}, row[1])])),
  );
}
