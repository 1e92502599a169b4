/** The panel in which a visitor can check one price: that of the first market in the table with a price. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { type KnownValue, knownValue } from '../../../../contract/bodies/latest-words.ts';
import { breakable } from '../../../../contract/html/html-parts.ts';
import { dayText } from '../../../../contract/values/instants.ts';
import type { Snapshot } from '../../../../contract/values/market.ts';
import { marketAddress } from '../base-url.ts';
import { dom, fill } from '../market/elements.ts';

/** Built as a script of its own: most visitors check nothing. Bundlers do not follow a computed address. */
const SCRIPT = new URL('check.js', import.meta.url).href;

export class FrontCheck {
  readonly #panel = document.getElementById('check') as HTMLElement;
  readonly #price = document.getElementById('check-price') as HTMLElement;
  readonly #button = document.getElementById('check-button') as HTMLButtonElement;
  readonly #result = document.getElementById('check-result') as HTMLElement;
  #entry: LatestEntry | null = null;
  #value: KnownValue | null = null;

  constructor() {
    this.#button.addEventListener('click', () => void this.#check());
  }

  /** @param snapshot null: not read yet */
  show(entry: LatestEntry | null, snapshot: Snapshot | null): void {
    // If a search finds nothing, the last price stays.
    const value = entry === null || entry === this.#entry ? null : knownValue(entry);
    if (snapshot !== null)
      this.#panel.hidden = snapshot.projections?.includes('log') !== true || (value ?? this.#value) === null;
    if (entry === null || value === null) return;
    [this.#entry, this.#value] = [entry, value];
    const { name, slug } = entry;
    fill(this.#price, [
      dom`<a href="${marketAddress(slug)}">${name}</a>`,
      dom`<span class="number">${breakable<HTMLElement>(dom, value.words)}</span>`,
      dom`<span class="soft small">${dayText(value.observedAt)}</span>`,
    ]);
    this.#button.disabled = false;
    this.#result.replaceChildren();
  }

  async #check(): Promise<void> {
    const [entry, value] = [this.#entry, this.#value];
    if (entry === null || value === null) return;
    fill(this.#result, dom`<p class="soft">Looking for it in the signed log …</p>`);
    const { checkPrice }: typeof import('./price-check.ts') = await import(SCRIPT);
    const found = await checkPrice(entry.slug, value);
    if (entry === this.#entry) this.#result.replaceChildren(...found);
  }
}
