/** The observations as a table, 50 rows at a time: the same rows as in the chart. */

import { momentText } from '../../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { button, dom, element, outsideLink, tableBox, timeElement } from './elements.ts';
import type { RowWords } from './row-words.ts';

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
  readonly #caption = element('span', {});
  readonly #body = element('tbody', {});
  readonly #pager = element('nav', { class: 'pager row', 'aria-label': 'Pages of the table' });
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
    this.root = dom`<section class="market-section observations" aria-labelledby="table-heading">
<div class="section-head row apart"><h2 id="table-heading">Observations</h2>${replaced}</div>
${tableBox('Table of observations', heads, [2], this.#body, this.#caption)}${this.#pager}</section>`;
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

  #row(row: PublicObservation, { words, changes }: TableContent): HTMLElement {
    const notes = [changes.get(row.id) ?? '', ...words.explained(row)].filter(Boolean);
    const isUnknown = row.unknownReason !== null;
    const { observedAt, recordedAt, supersededBy, sourceLabel, sourceUrl } = row;
    const show = button('Show', () => this.#onChoose(row), {
      'aria-label': `Show ${momentText(observedAt)} in the chart`,
    });
    return dom`<tr class="${supersededBy === null ? '' : 'replaced'}"><td>${timeElement(observedAt)}</td>
<td>${metricTitle(row.metric)}</td><td class="${isUnknown ? 'unknown' : 'number value'}">${words.value(row)}</td>
<td class="source">${outsideLink(sourceLabel, sourceUrl)}</td><td>${timeElement(recordedAt)}</td>
<td class="notes">${notes.join(', ')}</td><td>${show}</td></tr>`;
  }
}
