/** The field of the search, and its results. The index is read when somebody begins to search. */
import { BASE_URL } from '../base-url.ts';
import { element } from '../market/elements.ts';
import { type SearchEntry, searched } from './search.ts';

/** @param place reserved in the page, so that nothing moves */
export function fillSearch(place: HTMLElement): void {
  const input = element('input', {
    type: 'search',
    id: 'docs-search',
    autocomplete: 'off',
    placeholder: 'watchlist, 412, as of',
  });
  const results = element('ul', { class: 'search-results', hidden: true });
  const said = element('p', { class: 'visually-hidden', role: 'status' });
  let entries: Promise<readonly SearchEntry[]> | null = null;

  const show = async (): Promise<void> => {
    const query = input.value;
    entries ??= readIndex();
    const found = searched(await entries, query);
    if (input.value !== query) return;
    results.replaceChildren(
      ...found.map(({ kind, title, href }) =>
        element(
          'li',
          {},
          element('a', { href: new URL(href, BASE_URL).href }, title),
          element('span', { class: 'small soft' }, ` ${kind}`),
        ),
      ),
    );
    const isEmpty = query.trim() === '';
    if (!isEmpty && found.length === 0) results.replaceChildren(element('li', {}, `No match for “${query}”.`));
    results.hidden = isEmpty;
    said.textContent = isEmpty ? '' : found.length === 1 ? '1 result' : `${found.length} results`;
  };
  const fail = (): void => {
    entries = null;
    said.textContent = 'The index of the search could not be read.';
  };
  input.addEventListener('input', () => void show().catch(fail));
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') results.hidden = true;
    const [first] = results.querySelectorAll('a');
    if (key === 'Enter' && !results.hidden) first?.click();
  });
  const label = element('label', { for: 'docs-search' }, 'Search the documentation');
  place.replaceChildren(label, input, results, said);
}

async function readIndex(): Promise<readonly SearchEntry[]> {
  const url = new URL('assets/docs-index.js', BASE_URL).href;
  return ((await import(url)) as { readonly default: readonly SearchEntry[] }).default;
}
