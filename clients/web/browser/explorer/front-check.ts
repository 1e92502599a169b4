/** The panel in which a visitor has one price checked: that of the first market of the table. */
import type { LatestEntry } from '../../../../contract/files/latest-entries.ts';
import type { Snapshot } from '../../../../contract/values/market.ts';
import { marketAddress } from '../base-url.ts';
import { element } from '../market/elements.ts';
import { dayText } from '../market/words.ts';
import { priceWords } from './latest-rows.ts';

/** Built as a script of its own: most visitors check nothing. Bundlers do not follow a computed address. */
const SCRIPT = new URL('check.js', import.meta.url).href;

export class FrontCheck {
  readonly #panel = document.getElementById('check') as HTMLElement;
  readonly #price = document.getElementById('check-price') as HTMLElement;
  readonly #button = document.getElementById('check-button') as HTMLButtonElement;
  readonly #result = document.getElementById('check-result') as HTMLElement;
  #entry: LatestEntry | null = null;

  constructor() {
    this.#button.addEventListener('click', () => void this.#check());
  }

  /** @param snapshot null: not read yet */
  show(entry: LatestEntry | null, snapshot: Snapshot | null): void {
    if (snapshot !== null) this.#panel.hidden = snapshot.projections?.includes('log') !== true;
    // A search that finds nothing leaves the last price to check.
    if (entry === null || entry === this.#entry) return;
    this.#entry = entry;
    const { name, slug, currency, observedAt } = entry;
    const { digits, below } = priceWords(entry);
    this.#price.replaceChildren(
      element('a', { href: marketAddress(slug) }, name),
      element('span', { class: 'number' }, `${digits} ${currency} ${below.join(' ')}`),
      element('span', { class: 'soft small' }, observedAt === null ? '' : dayText(observedAt)),
    );
    this.#button.disabled = false;
    this.#result.replaceChildren();
  }

  async #check(): Promise<void> {
    const entry = this.#entry;
    if (entry === null) return;
    this.#result.replaceChildren(element('p', { class: 'soft' }, 'Looking for it in the signed log …'));
    const { checkPrice }: typeof import('./price-check.ts') = await import(SCRIPT);
    const found = await checkPrice(entry);
    if (entry === this.#entry) this.#result.replaceChildren(...found);
  }
}
