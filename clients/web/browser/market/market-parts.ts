/** The parts of a market's page. They show the part of the history that has been read, and react to the reader. */

import type { Projection } from '../../../../contract/files/projections.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { encodedText, hexOf, sha256Of } from '../../../typescript/hashes.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { BASE_URL } from '../base-url.ts';
import { joinedChart } from '../chart/chart-join.ts';
import { ChartPanel } from '../chart/chart-panel.ts';
import { ComparePanel } from '../chart/compare-panel.ts';
import type { DrawnChart } from '../chart/market-chart.ts';
import type { SeenChart, SourceOf } from '../chart/seen-chart.ts';
import { ToolsPanel } from '../chart/tools-panel.ts';
import { chosenRow, instantOfMs, rowOfMetric } from '../history/as-of-view.ts';
import { type ComparedHistory, ComparedMarkets } from '../history/compared-markets.ts';
import type { HistoryEnd, HistoryReader } from '../history/history-reader.ts';
import type { ObservationStore } from '../history/observation-store.ts';
import type { PublicAnswers } from '../history/public-answers.ts';
import { END_WORDS, progressText } from '../history/reading-words.ts';
import { PreparedHistory, type ShownHistory } from '../history/shown-history.ts';
import { nextTurn } from '../history/turns.ts';
import { lastChange, priceChanges } from '../history/value-changes.ts';
import { AsOfPanel } from './as-of-panel.ts';
import { checkInLog } from './check-result.ts';
import { dom, element, fill } from './elements.ts';
import { marketTop } from './market-top.ts';
import { PageAddress } from './page-address.ts';
import { PageSections } from './page-sections.ts';
import { ProvenancePanel } from './provenance-panel.ts';
import { type RowOwner, RowWords } from './row-words.ts';
import { timelyNotes } from './words.ts';

/** While a long history is loading, the chart is drawn again when the number of rows has grown by this factor. */
const DRAW_FACTOR = 2;
/** With more rows than this, and on a new page, the parts appear one after the other. */
const LONG_ROWS = 5000;

/** The data that the page has read so far. */
export interface MarketReading {
  readonly slug: string;
  readonly answers: PublicAnswers;
  readonly store: ObservationStore;
  readonly reader: HistoryReader;
  /** Aborted when the page permanently shows something else. */
  readonly signal: AbortSignal;
  market: Market | null;
  projections: ReadonlySet<Projection>;
  /** The result of reading the history. Null: it is still being read. */
  end: HistoryEnd | null;
  readAtMs: number;
}

/** The page, and its elements above and below the market. */
export interface PageFrame {
  readonly root: HTMLElement;
  readonly notice: HTMLElement;
  readonly checked: HTMLElement;
}

export class MarketParts {
  readonly #read: Readonly<MarketReading>;
  readonly #frame: PageFrame;
  readonly #top = element('div', { class: 'market-head' });
  readonly #chart: ChartPanel;
  readonly #provenance = new ProvenancePanel();
  readonly #compared: ComparedMarkets;
  readonly #comparePanel: ComparePanel;
  #others: readonly ComparedHistory[] = [];
  readonly #tools = new ToolsPanel(() => this.#seen());
  readonly #asOfPanel: AsOfPanel;
  readonly #sections: PageSections;
  /** The part of the files for other programs. */
  #part: string | null = null;
  #chosen: PublicObservation | null = null;
  readonly #address = new PageAddress(
    () => void this.#showChange(),
    () => this.#showMoved(),
  );
  /** The notes in the head that depend on the time: a source may become late while the page is open. */
  #timely = '';
  readonly #prepared: PreparedHistory;
  #shown: ShownHistory | null = null;
  #showing: Promise<void> = Promise.resolve();
  /** The number of stored rows in the last drawing. */
  #drawnSize = 0;

  /** @param read the data, to which the page keeps adding */
  constructor(read: Readonly<MarketReading>, frame: PageFrame) {
    this.#read = read;
    this.#frame = frame;
    this.#prepared = new PreparedHistory(read.store);
    this.#compared = new ComparedMarkets(read.answers, () => void this.show());
    this.#comparePanel = new ComparePanel(read.slug, (compare) => this.#address.go({ compare }));
    this.#chart = new ChartPanel(
      {
        onChoose: (row) => this.#choose(row),
        onHover: (row) => this.#provenance.hover(row),
        onMetric: (metric) => void this.#chooseMetric(metric),
        onScale: (scale) => this.#address.go({ scale }),
        onRange: (read) => this.#address.askFor(read),
        onMove: (range) => this.#address.moved(range),
      },
      [this.#comparePanel.root, this.#tools.root],
    );
    this.#asOfPanel = new AsOfPanel({
      onChange: (asOf, refused) => this.#address.go({ asOf, refused }),
      onSlide: (asOf) => this.#address.slide(asOf),
      onRest: () => this.#address.rested(),
    });
    const onRow = (row: PublicObservation): void => {
      this.#choose(row);
      this.#chart.focus();
    };
    this.#sections = new PageSections(
      onRow,
      () => void this.show(),
      (currency) => this.#address.converted(currency),
    );
  }

  /** Starts to follow the address. */
  start(): void {
    this.#address.listen();
  }

  /** Call it when the service's projections are known. */
  async begin(): Promise<void> {
    const { projections, slug } = this.#read;
    // Browsers can hash only on a secure host.
    if (projections.has('compat') && isSecureContext) this.#part = hexOf(await sha256Of(encodedText(slug))).slice(0, 2);
    const tidemark = new Tidemark({ url: BASE_URL, bodies: null });
    this.#provenance.options = {
      check: projections.has('log') ? (row) => checkInLog(tidemark, this.#ownerOf(row).slug, row) : null,
      ownerOf: (row) => this.#ownerOf(row),
      isCompared: () => this.#others.length > 0,
      onChoose: (row) => this.#choose(row),
      newest: () => this.#shown?.newest,
    };
    this.#provenance.choose(null);
  }

  /** Shows sources that have become late. */
  refresh(): void {
    const isOther = this.#timely !== this.#timelyNow();
    if (this.#shown !== null && isOther) this.#showTop(this.#shown);
  }

  /** Called only when there is something to show, because the file of the page already contains the market's values. */
  #takeOver(): void {
    fill(this.#frame.root, [
      [this.#frame.notice, this.#top],
      dom`<div class="chart-and-provenance">${this.#chart.root}${this.#provenance.root}</div>`,
      [this.#asOfPanel.root, this.#sections.roots, this.#frame.checked],
    ]);
    this.#frame.root.setAttribute('data-ready', 'true');
    this.#frame.root.setAttribute('data-reading', '');
  }

  drawPart(): void {
    this.#showProgress();
    if (!this.#prepared.isMaking && this.#read.store.size >= DRAW_FACTOR * this.#drawnSize) void this.show(true);
  }

  #showProgress(): void {
    this.#chart.showProgress(
      progressText(this.#read.store.size, (this.#read.market as Market).history.count, this.#read.end),
    );
  }

  async #showChange(): Promise<void> {
    if (this.#read.market === null) return;
    const wasInTop = this.#top.contains(document.activeElement);
    await this.show();
    if (wasInTop) document.getElementById('as-of-slider')?.focus();
  }

  /** The compared values, and the sources of other markets, are updated after the chart has stopped moving. */
  #showMoved(): void {
    if (this.#others.length > 0 || ['percent', 'index'].includes(this.#address.state.scale)) void this.show();
    else this.#tools.refresh();
  }

  /** Chooses the point of the same moment in the other metric, so that its provenance is shown. */
  async #chooseMetric(metric: string | null): Promise<void> {
    const chosen = this.#chosen;
    this.#address.go({ metric });
    await this.#showing;
    if (chosen === null || this.#shown === null) return;
    const { metrics, view } = this.#shown;
    const sameMoment = view.visible.filter(
      (row) => metrics.includes(row.metric) && row.observedAt === chosen.observedAt,
    );
    this.#choose(sameMoment.find(({ sourceLabel }) => sourceLabel === chosen.sourceLabel) ?? sameMoment[0] ?? null);
  }

  /** The moment at which the first value became known. Null: none did, or the history has not been read. */
  #firstKnown({ moments: [first] }: ShownHistory): string | null {
    return this.#read.end === null || first === undefined ? null : instantOfMs(first);
  }

  #choose(row: PublicObservation | null): void {
    this.#chosen = row;
    this.#address.chosen(row?.id ?? null);
    this.#chart.choose(row);
    this.#provenance.choose(row);
  }

  #ownerOf({ id }: PublicObservation): RowOwner {
    const own = { market: this.#read.market as Market, store: this.#read.store };
    const { market, store } = this.#read.store.byId(id) === undefined ? (this.#compared.ownerOf(id) ?? own) : own;
    const versionOf = (version: string) => store.byId(version);
    return { slug: market.slug, marketName: market.name, words: new RowWords(market.unit, versionOf), versionOf };
  }

  readonly #sourceOf: SourceOf = (slug, sourceLabel) => {
    const markets = [this.#read.market as Market, ...this.#others.map(({ market }) => market)];
    return markets.find((each) => each.slug === slug)?.sources.find(({ label }) => label === sourceLabel);
  };

  #seen(): (SeenChart & DrawnChart) | null {
    const drawn = this.#chart.drawn;
    const market = this.#read.market;
    if (drawn === null || market === null) return null;
    const { asOf, metric } = this.#address.state;
    return {
      ...drawn,
      slug: this.#read.slug,
      metric: metric ?? (market.metrics.price === null ? 'prices' : 'price'),
      asOf,
      readAtMs: this.#read.readAtMs,
      chosen: this.#chosen === null ? null : { row: this.#chosen, ...this.#ownerOf(this.#chosen) },
      newest: this.#shown?.newest,
      sourceOf: this.#sourceOf,
      addressAt: (at, point) => this.#address.at(at, point),
    };
  }

  /** Of several calls, the last one counts. @param isPart whether more rows will come */
  show(isPart = false): Promise<void> {
    this.#showing = this.#prepareAndShow(isPart);
    return this.#showing;
  }

  async #prepareAndShow(isPart: boolean): Promise<void> {
    const market = this.#read.market as Market;
    const { asOf, metric, compare } = this.#address.state;
    const { size } = this.#read.store;
    const hasReplaced = this.#sections.hasReplaced && asOf === null;
    const clock = asOf?.clock ?? this.#asOfPanel.clock;
    const wish = { asOf, metric, clock, hasReplaced };
    const shown = await this.#prepared.of(market, wish);
    if (shown === null) return;
    const hasFiles = this.#read.projections.has('history-files');
    const others = compare.length === 0 ? [] : await this.#compared.histories(compare, wish, hasFiles);
    if (compare !== this.#address.state.compare) return;
    this.#others = others;
    this.#drawnSize = size;
    this.#shown = shown;
    const isNew = this.#sections.isEmpty;
    const isLong = isNew || size > LONG_ROWS;
    const isOver = async (): Promise<boolean> => {
      if (isLong) await nextTurn();
      return shown !== this.#shown;
    };
    this.#showTop(shown);
    if ((await isOver()) || this.#read.signal.aborted) return;
    if (!this.#frame.root.contains(this.#top)) this.#takeOver();
    this.#showChart(market, shown);
    if (await isOver()) return;
    if (!this.#sections.hasRows || !isPart) this.#sections.show(market, shown, asOf, this.#address.state.convert);
    if (isNew) this.showDownloads();
    this.#chosen = this.#chosenRow(shown);
    this.#chart.mark(this.#chosen);
    this.#provenance.choose(this.#chosen, this.#chosen === null && this.#isRead ? this.#address.state.point : null);
    this.#tools.refresh();
    this.#frame.root.toggleAttribute('data-reading', this.#read.end === null && this.#read.store.size === 0);
  }

  #showChart(market: Market, shown: ShownHistory): void {
    const { range, refusedRange, compare } = this.#address.state;
    const chart = joinedChart({ market, shown }, this.#others, this.#address.state, this.#chart.hidden);
    const chips = compare.map((slug) => {
      return { slug, name: this.#compared.nameOf(slug), state: this.#compared.stateOf(slug) };
    });
    this.#comparePanel.show(chips);
    this.#chart.show({
      ...chart,
      marketName: market.name,
      metrics: shown.titles,
      metric: shown.metric,
      isDisputed: shown.isDisputed,
      range,
      refused: refusedRange,
      sourceOf: this.#sourceOf,
    });
    this.#showProgress();
    this.#asOfPanel.show(shown.moments, this.#address.state.asOf, END_WORDS[this.#read.end ?? 'whole']);
  }

  #chosenRow({ view }: ShownHistory): PublicObservation | null {
    const { asOf, point } = this.#address.state;
    const visible = [view, ...this.#others.map(({ shown }) => shown.view)].map((each) => each.visible);
    const versionOf = (id: string) => this.#read.store.byId(id) ?? this.#compared.ownerOf(id)?.row;
    return point === null ? null : chosenRow(point, asOf, visible, versionOf);
  }

  /** Whether the histories of all markets of the chart are read. */
  get #isRead(): boolean {
    const { compare } = this.#address.state;
    return this.#read.end !== null && compare.every((slug) => this.#compared.stateOf(slug) !== 'reading');
  }

  #timelyNow(): string {
    return JSON.stringify(timelyNotes(this.#read.market as Market, Date.now()));
  }

  #showTop(shownNow: ShownHistory): void {
    const { view, words } = shownNow;
    const market = this.#read.market as Market;
    this.#timely = this.#timelyNow();
    const { asOf } = this.#address.state;
    this.#top.replaceChildren(
      marketTop({
        market,
        metrics: view.metrics,
        rowOf: (name) => rowOfMetric(view, name),
        changeOf: (row) => lastChange(view.visible, row),
        words,
        changes: priceChanges(view),
        asOf,
        since: asOf === null ? null : this.#firstKnown(shownNow),
        refused: this.#address.state.refused,
        onNow: () => this.#address.go({ asOf: null, refused: null }),
      }),
    );
  }

  showDownloads(): void {
    const { history, metrics } = this.#read.market as Market;
    this.#sections.showDownloads({
      slug: this.#read.slug,
      count: history.count,
      index: this.#read.reader.index,
      hasHistoryFiles: this.#read.projections.has('history-files'),
      hasLog: this.#read.projections.has('log'),
      hasPrice: metrics.price !== null,
      part: this.#part,
    });
  }
}
