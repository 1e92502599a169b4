/** The table of markets: a part of the rows that are selected, and more of them on demand. */
import type { LatestEntry } from '../../../../contract/files/latest-entries.ts';
import type { RecentEntry } from '../../../../contract/files/recent-prices.ts';
import type { ListSort } from './list-view.ts';
import { MarketRow } from './market-row.ts';

/** Rows that are added at once: a browser lays them out within a frame or two. */
export const ROWS_AT_ONCE = 200;

export class MarketTable {
  readonly #table: HTMLTableElement;
  readonly #body: HTMLTableSectionElement;
  /** By entry, so an entry that is the same keeps its row, and its row keeps the focus. */
  readonly #rows = new WeakMap<LatestEntry, MarketRow>();

  constructor(table: HTMLTableElement) {
    this.#table = table;
    this.#body = table.tBodies[0] as HTMLTableSectionElement;
  }

  /** @param recent by slug; null: without charts */
  show(entries: readonly LatestEntry[], nowMs: number, recent: ReadonlyMap<string, RecentEntry> | null): void {
    this.#table.classList.toggle('has-charts', recent !== null);
    const focused = this.#body.contains(document.activeElement) ? slugOf(document.activeElement) : null;
    let at = this.#body.firstElementChild;
    for (const entry of entries) {
      const row = this.#rowOf(entry);
      row.show(nowMs, recent?.get(entry.slug) ?? null);
      if (row.element === at) at = at.nextElementSibling;
      else this.#body.insertBefore(row.element, at);
    }
    while (at !== null) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    // A row that was made again, or moved, has lost it.
    if (focused !== null && !this.#body.contains(document.activeElement)) this.#linkOf(focused)?.focus();
  }

  showSort(sort: ListSort, isDescending: boolean): void {
    for (const button of this.#table.querySelectorAll<HTMLButtonElement>('button[data-sort]')) {
      const isSorted = button.dataset.sort === sort;
      const cell = button.closest('th');
      if (isSorted) cell?.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      else cell?.removeAttribute('aria-sort');
    }
  }

  /** Moves the focus to the first row that was added. */
  focusRow(index: number): void {
    this.#body.rows[index]?.querySelector('a')?.focus();
  }

  #rowOf(entry: LatestEntry): MarketRow {
    const known = this.#rows.get(entry);
    if (known !== undefined) return known;
    const row = new MarketRow(entry);
    this.#rows.set(entry, row);
    return row;
  }

  #linkOf(slug: string): HTMLElement | null {
    return this.#body.querySelector(`tr[data-slug="${CSS.escape(slug)}"] a`);
  }
}

function slugOf(inside: Element | null): string | null {
  return inside?.closest<HTMLElement>('tr')?.dataset.slug ?? null;
}
