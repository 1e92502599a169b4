/** The sections below the chart: observations, prices in another currency, sources and downloads. */

import { momentText } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs, rowOfMetric } from '../history/as-of-view.ts';
import type { ShownHistory } from '../history/shown-history.ts';
import { changesIn } from '../history/value-changes.ts';
import { ConvertedSection } from './converted-section.ts';
import { type DownloadsContent, downloadsSection } from './downloads-section.ts';
import { dom, element } from './elements.ts';
import { ObservationsTable } from './observations-table.ts';
import { sourcesSection } from './sources-section.ts';

export class PageSections {
  readonly roots: readonly HTMLElement[];
  readonly #table: ObservationsTable;
  readonly #converted: ConvertedSection;
  readonly #sources = element('div', {});
  readonly #downloads = element('div', {});
  readonly #replaced = element('input', { type: 'checkbox', id: 'replaced' });
  #shown: ShownHistory | null = null;

  /**
   * @param onChoose called with a chosen row of the table
   * @param onReplaced called when replaced versions are switched on or off
   * @param onCurrency called with the currency for converted prices; null: none
   */
  constructor(
    onChoose: (row: PublicObservation) => void,
    onReplaced: () => void,
    onCurrency: (currency: string | null) => void,
  ) {
    this.#converted = new ConvertedSection(onCurrency);
    this.#replaced.addEventListener('change', onReplaced);
    const replaced = dom`<label class="choice row small">${this.#replaced} Show replaced versions</label>`;
    this.#table = new ObservationsTable(onChoose, replaced);
    this.roots = [this.#table.root, this.#converted.root, this.#sources, this.#downloads];
  }

  get isEmpty(): boolean {
    return this.#shown === null;
  }

  get hasRows(): boolean {
    return (this.#shown?.rows.length ?? 0) > 0;
  }

  get hasReplaced(): boolean {
    return this.#replaced.checked;
  }

  /** Does nothing if this is shown already. @param currency the currency for converted prices; null: none */
  show(market: Market, shown: ShownHistory, asOf: AsOf | null, currency: string | null): void {
    this.#converted.show(market, rowOfMetric(shown.view, 'price'), asOf, currency);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const { rows, metrics, title, words, isStepped, view } = shown;
    this.#table.show({
      rows,
      title: `Observations of ${title.toLowerCase()}`,
      hasMetrics: metrics.length > 1,
      changes: isStepped ? changesIn(view, words) : new Map(),
      words,
      moment: asOf === null ? '' : ` as of ${momentText(instantOfMs(asOf.atMs))}`,
    });
    this.#replaced.disabled = asOf !== null;
    this.#sources.replaceChildren(sourcesSection({ market, metrics: view.metrics, bySource: view.bySource, words }));
  }

  showDownloads(content: DownloadsContent): void {
    this.#downloads.replaceChildren(downloadsSection(content));
  }
}
