/** The table of markets: one page of the selected rows. */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { button, dom } from '../market/elements.ts';
import type { ListSort } from './list-view.ts';
import { MarketRow } from './market-row.ts';
import type { MetricColumn } from './metric-columns.ts';

/** The rows of one page. A slow phone can lay these out within a few frames. */
export const ROWS_PER_PAGE = 50;

export class MarketTable {
  readonly #table: HTMLTableElement;
  readonly #body: HTMLTableSectionElement;
  /** Rows by entry: an unchanged entry keeps its row, and so the row keeps the focus. */
  #rows = new WeakMap<LatestEntry, MarketRow>();
  readonly #onSort: (sort: ListSort) => void;
  /** The columns as a text, to detect a change. */
  #columns = 'null';

  constructor(table: HTMLTableElement, onSort: (sort: ListSort) => void) {
    this.#table = table;
    this.#onSort = onSort;
    for (const sortButton of table.querySelectorAll<HTMLButtonElement>('button[data-sort]'))
      sortButton.addEventListener('click', () => onSort(sortButton.dataset.sort as ListSort));
    this.#body = table.tBodies[0] as HTMLTableSectionElement;
  }

  /**
   * @param recent by slug; null: without charts
   * @param columns in place of the price and its chart; null: the price
   */
  show(
    entries: readonly LatestEntry[],
    nowMs: number,
    recent: ReadonlyMap<string, RecentEntry> | null,
    columns: readonly MetricColumn[] | null,
  ): void {
    this.#table.classList.toggle('has-charts', recent !== null);
    // In a young service, the column would be empty.
    const hasYears = [...(recent?.values() ?? [])].some(({ yearAgo }) => yearAgo != null);
    this.#table.classList.toggle('has-years', hasYears);
    this.#showColumns(columns);
    const focused = this.#body.contains(document.activeElement) ? slugOf(document.activeElement) : null;
    let at = this.#body.firstElementChild;
    for (const entry of entries) {
      const row = this.#rowOf(entry, columns);
      row.show(nowMs, recent?.get(entry.slug) ?? null);
      if (row.element === at) at = at.nextElementSibling;
      else this.#body.insertBefore(row.element, at);
    }
    while (at !== null) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    // A row that was moved or made again has lost the focus.
    if (focused !== null && !this.#body.contains(document.activeElement)) this.#linkOf(focused)?.focus();
  }

  showSort(sort: ListSort, isDescending: boolean): void {
    this.#table.dataset.sorted = sort;
    for (const button of this.#table.querySelectorAll<HTMLButtonElement>('button[data-sort]')) {
      const isSorted = button.dataset.sort === sort;
      const cell = button.closest('th');
      if (isSorted) cell?.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      else cell?.removeAttribute('aria-sort');
    }
  }

  /** Moves the focus to the first row, after a change of the page. */
  focusFirst(): void {
    this.#table.scrollIntoView({ block: 'start' });
    this.#body.rows[0]?.querySelector('a')?.focus({ preventScroll: true });
  }

  #rowOf(entry: LatestEntry, columns: readonly MetricColumn[] | null): MarketRow {
    const known = this.#rows.get(entry);
    if (known !== undefined) return known;
    const row = new MarketRow(entry, columns);
    this.#rows.set(entry, row);
    return row;
  }

  /** Rows contain the cells of their columns, so a change of columns needs new rows. */
  #showColumns(columns: readonly MetricColumn[] | null): void {
    const text = JSON.stringify(columns);
    if (text === this.#columns) return;
    this.#columns = text;
    this.#rows = new WeakMap();
    this.#table.classList.toggle('has-metrics', columns !== null);
    for (const head of this.#table.querySelectorAll('thead .of-metric')) head.remove();
    const heads = (columns ?? []).map(({ name, unit }) => {
      const title =
        unit === null ? metricTitle(name) : button(metricTitle(name), () => this.#onSort(name), { 'data-sort': name });
      const words = unit && dom`<span class="below">${unit}</span>`;
      return dom`<th role="columnheader" scope="col" class="of-metric">${title}${words}</th>`;
    });
    this.#table.querySelector('thead .of-price')?.after(...heads);
  }

  #linkOf(slug: string): HTMLElement | null {
    return this.#body.querySelector(`tr[data-slug="${CSS.escape(slug)}"] a`);
  }
}

function slugOf(inside: Element | null): string | null {
  return inside?.closest<HTMLElement>('tr')?.dataset.slug ?? null;
}
