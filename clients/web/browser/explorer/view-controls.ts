/** The form above the table: search, filters, order and the switch of the charts. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { RECENT_MARKETS_MAX } from '../../../../contract/files/limits.ts';
import { dom, fill } from '../market/elements.ts';
import { many } from '../market/words.ts';
import { countsBy, type ListSort, type ListView, WHOLE_VIEW } from './list-view.ts';

export const NOT_SORTED = `Sorting more than ${many(RECENT_MARKETS_MAX, 'market')} by change needs the daily files “compat”, which this service does not publish.`;

const byId = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

export class ViewControls {
  readonly #text = byId<HTMLInputElement>('view-text');
  readonly #kind = byId<HTMLSelectElement>('view-kind');
  readonly #currency = byId<HTMLSelectElement>('view-currency');
  readonly #sort = byId<HTMLSelectElement>('view-sort');
  readonly #charts = byId<HTMLInputElement>('view-charts');
  readonly #clear = byId<HTMLButtonElement>('view-clear');
  #entries: readonly LatestEntry[] | null = null;

  constructor(change: (change: Partial<ListView>) => void, sortBy: (sort: ListSort) => void) {
    byId('view').addEventListener('submit', (event) => event.preventDefault());
    this.#text.addEventListener('input', () => change({ text: this.#text.value }));
    this.#kind.addEventListener('change', () => change({ kind: this.#kind.value }));
    this.#currency.addEventListener('change', () => change({ currency: this.#currency.value }));
    this.#sort.addEventListener('change', () => sortBy(this.#sort.value));
    this.#charts.addEventListener('change', () => change({ hasCharts: this.#charts.checked }));
    this.#clear.addEventListener('click', () => {
      change({ text: '', kind: '', currency: '' });
      this.#text.focus();
    });
  }

  show(view: ListView, entries: readonly LatestEntry[]): void {
    if (entries !== this.#entries) {
      this.#entries = entries;
      offer(this.#kind, 'All kinds', countsBy(entries, 'kind'), view.kind);
      offer(this.#currency, 'All currencies', countsBy(entries, 'currency'), view.currency);
    }
    if (this.#text.value.trim() !== view.text.trim()) this.#text.value = view.text;
    this.#kind.value = view.kind;
    this.#currency.value = view.currency;
    this.#sort.value = view.sort;
    this.#charts.checked = view.hasCharts;
    this.#clear.hidden = ['text', 'kind', 'currency'].every(
      (name) => view[name as 'text'] === WHOLE_VIEW[name as 'text'],
    );
  }

  /** @param isPossible whether the changes of all markets are published, not only those of single markets */
  offerChanges(isPossible: boolean): void {
    for (const span of ['day', 'month', 'year']) {
      for (const sort of document.querySelectorAll<HTMLButtonElement | HTMLOptionElement>(
        `#markets [data-sort=${span}], #view-sort option[value=${span}]`,
      )) {
        sort.disabled = !isPossible;
        if (!isPossible) sort.title = NOT_SORTED;
      }
    }
  }
}

/** @param chosen an option that stays available, even if no market has it any more */
function offer(select: HTMLSelectElement, all: string, counts: ReadonlyMap<string, number>, chosen: string): void {
  const offered = new Map(counts);
  if (chosen !== '' && !offered.has(chosen)) offered.set(chosen, 0);
  const options = [...offered].map(
    ([value, count]) => dom`<option value="${value}">${value} (${count.toLocaleString('en')})</option>`,
  );
  fill(select, [dom`<option value="">${all}</option>`, options]);
}
