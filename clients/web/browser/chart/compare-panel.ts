/** Adds other markets to the chart, by the search of the front page, and takes them away again. */
import { walkEntries } from '../../../typescript/walks.ts';
import { marketMatcher, type Searched } from '../explorer/market-search.ts';
import { COMPARED_MAX, type ComparedState } from '../history/compared-markets.ts';
import { PublicAnswers } from '../history/public-answers.ts';
import { button, dom, element, fill } from '../market/elements.ts';

const FOUND_MAX = 8;
/** Of a list without a file of all markets: ten of its pages. */
const READ_MAX = 1000;

export interface ComparedChip {
  readonly slug: string;
  readonly name: string;
  readonly state: ComparedState;
}

export class ComparePanel {
  readonly root: HTMLElement;
  readonly #onChange: (slugs: readonly string[]) => void;
  readonly #own: string;
  readonly #field = element('input', {
    id: 'compare',
    type: 'search',
    autocomplete: 'off',
    placeholder: 'Name, slug or kind',
  });
  readonly #found = element('ul', { class: 'row', 'aria-label': 'Markets that match' });
  readonly #chips = element('div', { class: 'control-group row' });
  readonly #said = element('p', { class: 'small soft', role: 'status' });
  #slugs: readonly string[] = [];
  #markets: Promise<readonly Searched[]> | null = null;
  #shown = '';

  /** @param own the slug of the page */
  constructor(own: string, onChange: (slugs: readonly string[]) => void) {
    [this.#own, this.#onChange] = [own, onChange];
    this.#field.addEventListener('input', () => void this.#search());
    this.#field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) void this.#search().then(() => this.#buttons()[0]?.click());
    });
    this.root = dom`<div class="compare stack">
<div class="control-group row"><label for="compare">Compare with</label>${this.#field}${this.#chips}</div>
${this.#found}${this.#said}</div>`;
    this.root.addEventListener('keydown', (event) => this.#move(event));
  }

  show(chips: readonly ComparedChip[]): void {
    const shown = JSON.stringify(chips);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#slugs = chips.map(({ slug }) => slug);
    const wasInside = this.#chips.contains(document.activeElement);
    this.#chips.replaceChildren(
      ...chips.map(({ slug, name, state }) =>
        button(`${name}${chipText(state)} ×`, () => this.#onChange(this.#slugs.filter((each) => each !== slug)), {
          'aria-label': `Remove ${name}${chipText(state)}`,
          class: 'small',
        }),
      ),
    );
    if (wasInside) this.#field.focus();
  }

  #buttons(): readonly HTMLElement[] {
    return [...this.#found.querySelectorAll('button')];
  }

  /** The arrows go from the field through the markets that were found, and back. */
  #move(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const places = [this.#field, ...this.#buttons()];
    const from = places.indexOf(event.target as HTMLElement);
    const to = places[from + step];
    if (step === 0 || from === -1 || to === undefined) return;
    event.preventDefault();
    to.focus();
  }

  async #search(): Promise<void> {
    const text = this.#field.value.trim();
    this.#markets ??= readMarkets();
    const markets = await this.#markets.catch(() => null);
    if (text !== this.#field.value.trim()) return;
    if (markets === null) {
      this.#markets = null;
      this.#said.textContent = 'The list of markets could not be read. Try again.';
      return;
    }
    const matches = marketMatcher(text);
    const taken = new Set([this.#own, ...this.#slugs]);
    const found = text === '' ? [] : markets.filter((entry) => !taken.has(entry.slug) && matches(entry));
    const isFull = this.#slugs.length >= COMPARED_MAX - 1;
    const buttons = found.slice(0, FOUND_MAX).map(({ slug, name }) => button(name, () => this.#add(slug)));
    fill(this.#found, isFull ? null : buttons.map((made) => dom`<li>${made}</li>`));
    this.#said.textContent = isFull
      ? `A chart has at most ${COMPARED_MAX} markets: remove one first.`
      : text === ''
        ? ''
        : `${found.length.toLocaleString('en')} found${found.length > FOUND_MAX ? `, the first ${FOUND_MAX} are shown` : ''}.`;
  }

  #add(slug: string): void {
    this.#field.value = '';
    this.#found.replaceChildren();
    this.#said.textContent = '';
    this.#field.focus();
    this.#onChange([...this.#slugs, slug]);
  }
}

function chipText(state: ComparedState): string {
  return state === 'read' ? '' : state === 'reading' ? ' (reading …)' : ` (${state.problem})`;
}

async function readMarkets(): Promise<readonly Searched[]> {
  const found: Searched[] = [];
  await new PublicAnswers().found(async (files) => {
    for await (const entry of walkEntries(files, READ_MAX)) found.push(entry);
  });
  return found;
}
