/** The observations as a table, 50 rows at a time: the same rows as in the chart. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { button, element, outsideLink, tableBox, timeElement } from './elements.ts';
import type { RowWords } from './row-words.ts';
import { momentText } from './words.ts';

const ROWS_PER_PAGE = 50;

export interface TableContent {
  /** Newest first. */
  readonly rows: readonly PublicObservation[];
  /** The metric of the rows, or a name for several. */
  readonly title: string;
  /** Whether there are several metrics. */
  readonly hasMetrics: boolean;
  /** Words of what a value changed, by the id of its row. */
  readonly changes: ReadonlyMap<string, string>;
  readonly words: RowWords;
  /** E.g. ` as of 3 Mar 2025, 12:00 UTC`. */
  readonly moment: string;
}

export class ObservationsTable {
  readonly root: HTMLElement;
  readonly #caption = element('caption', {});
  readonly #body = element('tbody', {});
  readonly #pager = element('nav', { class: 'pager', 'aria-label': 'Pages of the table' });
  readonly #said = element('p', { class: 'small soft' });
  readonly #live = element('p', { class: 'visually-hidden', role: 'status' });
  readonly #newer = button('Newer', () => this.#turn(-1));
  readonly #older = button('Older', () => this.#turn(1));
  readonly #onChoose: (row: PublicObservation) => void;
  #content: TableContent | null = null;
  #page = 0;

  /** @param onChoose shows a row in the chart */
  constructor(onChoose: (row: PublicObservation) => void, replaced: HTMLElement) {
    this.#onChoose = onChoose;
    const heads = ['Observed', 'Metric', 'Value', 'Source', 'Recorded', 'Notes', 'Chart'];
    this.#pager.append(this.#newer, this.#older, this.#said, this.#live);
    this.root = element(
      'section',
      { class: 'market-section', 'aria-labelledby': 'table-heading' },
      element('div', { class: 'section-head' }, element('h2', { id: 'table-heading' }, 'Observations'), replaced),
      tableBox('Table of observations', { class: 'observations', heads, caption: this.#caption }, this.#body),
      this.#pager,
    );
  }

  show(content: TableContent): void {
    if (content.title !== this.#content?.title || content.moment !== this.#content.moment) this.#page = 0;
    this.#content = content;
    this.#page = Math.min(this.#page, this.#pages - 1);
    this.#render();
  }

  get #pages(): number {
    return Math.max(1, Math.ceil((this.#content?.rows.length ?? 0) / ROWS_PER_PAGE));
  }

  #turn(by: 1 | -1): void {
    this.#page = Math.max(0, Math.min(this.#pages - 1, this.#page + by));
    this.#render();
    this.#live.textContent = this.#said.textContent;
  }

  #render(): void {
    if (this.#content === null) return;
    const { rows, title, moment, hasMetrics } = this.#content;
    this.root.classList.toggle('has-metrics', hasMetrics);
    const from = this.#page * ROWS_PER_PAGE;
    const shown = rows.slice(from, from + ROWS_PER_PAGE);
    this.#body.replaceChildren(...shown.map((row) => this.#row(row, this.#content as TableContent)));
    this.#caption.textContent = `${title}${moment}, newest first`;
    const count = rows.length.toLocaleString('en');
    const last = (from + shown.length).toLocaleString('en');
    this.#said.textContent =
      rows.length === 0 ? 'No observation.' : `Rows ${(from + 1).toLocaleString('en')} to ${last} of ${count}`;
    this.#newer.disabled = this.#page === 0;
    this.#older.disabled = this.#page >= this.#pages - 1;
  }

  #row(row: PublicObservation, { words, changes }: TableContent): HTMLTableRowElement {
    const notes = [changes.get(row.id) ?? '', ...words.explained(row)].filter(Boolean);
    const isUnknown = row.unknownReason !== null;
    return element(
      'tr',
      { class: row.supersededBy === null ? null : 'replaced' },
      element('td', {}, timeElement(row.observedAt)),
      element('td', {}, metricTitle(row.metric)),
      element('td', { class: isUnknown ? 'unknown' : 'number value' }, words.value(row)),
      element('td', { class: 'source' }, outsideLink(row.sourceLabel, row.sourceUrl)),
      element('td', {}, timeElement(row.recordedAt)),
      element('td', { class: 'notes' }, notes.join(', ')),
      element(
        'td',
        {},
        button('Show', () => this.#onChoose(row), { 'aria-label': `Show ${momentText(row.observedAt)} in the chart` }),
      ),
    );
  }
}
