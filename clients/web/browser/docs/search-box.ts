/** The search field and its results. The index is read when a reader starts to search. */
import { BASE_URL } from '../base-url.ts';
import { dom, fill } from '../market/elements.ts';
import { DocsSearch, markedParts, type SearchEntry, type SearchResult } from './search.ts';

/** @param place a place that is reserved in the page, so that nothing moves */
export function fillSearch(place: HTMLElement): void {
  const input = dom<HTMLInputElement>`<input type="search" id="docs-search" autocomplete="off" placeholder="watchlist, 412, as of"
aria-describedby="docs-search-keys">`;
  const results = dom`<ul class="search-results" hidden></ul>`;
  const said = dom`<p class="visually-hidden" role="status"></p>`;
  let search: Promise<DocsSearch> | null = null;

  const show = async (): Promise<void> => {
    const query = input.value;
    search ??= readIndex();
    const found = (await search).find(query);
    if (input.value !== query) return;
    const isEmpty = query.trim() === '';
    results.replaceChildren(...found.map((result) => resultItem(result, query)));
    if (!isEmpty && found.length === 0) results.append(dom`<li>No match for “${query.trim()}”.</li>`);
    results.hidden = isEmpty;
    said.textContent = isEmpty ? '' : found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
  };
  const fail = (): void => {
    search = null;
    fill(results, dom`<li>The index of the search could not be read. Type again to try again.</li>`);
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
  fill(place, [
    dom`<label for="docs-search" class="small soft">Search the documentation</label>`,
    input,
    dom`<p id="docs-search-keys" class="visually-hidden">Arrow keys walk through the results.</p>`,
    [results, said],
  ]);
}

function resultItem({ entry: { kind, title, href }, sentence }: SearchResult, query: string): HTMLElement {
  const marked = (text: string) =>
    markedParts(text, query).map(({ text, isMatch }) => (isMatch ? dom`<mark>${text}</mark>` : text));
  const url = new URL(href, BASE_URL).href;
  return dom`<li><a href="${url}">${marked(title)}</a><span class="small soft"> ${kind}</span>
${sentence && dom`<p class="small">${marked(sentence)}</p>`}</li>`;
}

async function readIndex(): Promise<DocsSearch> {
  const url = new URL('assets/docs-index.js', BASE_URL).href;
  return new DocsSearch(((await import(url)) as { readonly default: readonly SearchEntry[] }).default);
}
