/** The field of the search, and its results. The index is read when somebody begins to search. */
import { BASE_URL } from '../base-url.ts';
import { element } from '../market/elements.ts';
import { leadToSearch } from '../slash-key.ts';
import { DocsSearch, markedParts, type SearchEntry, type SearchResult } from './search.ts';

/** @param place reserved in the page, so that nothing moves */
export function fillSearch(place: HTMLElement): void {
  const input = element('input', {
    type: 'search',
    id: 'docs-search',
    autocomplete: 'off',
    placeholder: 'watchlist, 412, as of',
    'aria-keyshortcuts': '/',
    'aria-describedby': 'docs-search-keys',
  });
  const results = element('ul', { class: 'search-results', hidden: true });
  const said = element('p', { class: 'visually-hidden', role: 'status' });
  const keys = element(
    'p',
    { id: 'docs-search-keys', class: 'visually-hidden' },
    'Arrow keys walk through the results.',
  );
  let search: Promise<DocsSearch> | null = null;

  const show = async (): Promise<void> => {
    const query = input.value;
    search ??= readIndex();
    const found = (await search).find(query);
    if (input.value !== query) return;
    const isEmpty = query.trim() === '';
    results.replaceChildren(...found.map((result) => resultItem(result, query)));
    if (!isEmpty && found.length === 0) results.append(element('li', {}, `No match for “${query.trim()}”.`));
    results.hidden = isEmpty;
    said.textContent = isEmpty ? '' : found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
  };
  const fail = (): void => {
    search = null;
    results.replaceChildren(element('li', {}, 'The index of the search could not be read. Type again to try again.'));
    results.hidden = false;
    said.textContent = 'The index of the search could not be read.';
  };
  const links = (): readonly HTMLAnchorElement[] => [...results.querySelectorAll('a')];
  const walk = (event: KeyboardEvent): void => {
    if (results.hidden) return;
    const stops = [input, ...links()];
    const at = stops.indexOf(document.activeElement as HTMLInputElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      results.hidden = true;
      input.focus();
    } else if (event.key === 'Enter' && at === 0) links()[0]?.click();
    else if (step === undefined) return;
    else stops[(at + step + stops.length) % stops.length]?.focus();
    event.preventDefault();
  };
  const ask = (): void => void show().catch(fail);
  input.addEventListener('input', ask);
  // Back on the page, and after Escape, the results of the same words are shown again.
  input.addEventListener('focus', () => {
    if (results.hidden && input.value.trim() !== '') ask();
  });
  input.addEventListener('keydown', walk);
  results.addEventListener('keydown', walk);
  leadToSearch(input);
  const slash = element('kbd', { 'aria-hidden': 'true' }, '/');
  const label = element('label', { for: 'docs-search' }, 'Search the documentation ', slash);
  place.replaceChildren(label, input, keys, results, said);
}

function resultItem({ entry: { kind, title, href }, sentence }: SearchResult, query: string): HTMLElement {
  const marked = (text: string): readonly (Node | string)[] =>
    markedParts(text, query).map(({ text, isMatch }) => (isMatch ? element('mark', {}, text) : text));
  return element(
    'li',
    {},
    element('a', { href: new URL(href, BASE_URL).href }, ...marked(title)),
    element('span', { class: 'small soft' }, ` ${kind}`),
    sentence === '' ? null : element('p', { class: 'small' }, ...marked(sentence)),
  );
}

async function readIndex(): Promise<DocsSearch> {
  const url = new URL('assets/docs-index.js', BASE_URL).href;
  return new DocsSearch(((await import(url)) as { readonly default: readonly SearchEntry[] }).default);
}
