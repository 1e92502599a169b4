/** The page of one market: what it has read, what it shows of that, and when it asks again. */

import type { Projection } from '../../../../contract/files/projections.ts';
import { marketUrl, SNAPSHOT_URL } from '../../../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { encodedText, hexOf, sha256Of } from '../../../typescript/hashes.ts';
import { THIS_SYSTEM } from '../../../typescript/system.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { BASE_URL, knowProjections } from '../base-url.ts';
import { AsOfPanel } from './as-of-panel.ts';
import { instantOfMs, rowOfMetric } from './as-of-view.ts';
import { joinedChart } from './chart-join.ts';
import { ChartPanel } from './chart-panel.ts';
import { chosenRow } from './chosen-row.ts';
import { ComparePanel } from './compare-panel.ts';
import { type ComparedHistory, ComparedMarkets } from './compared-markets.ts';
import { element, refreshAges } from './elements.ts';
import { type HistoryEnd, HistoryReader } from './history-reader.ts';
import { checkInLog } from './log-receipt.ts';
import type { DrawnChart } from './market-chart.ts';
import { marketTop } from './market-top.ts';
import { ObservationStore } from './observation-store.ts';
import { PageAddress } from './page-address.ts';
import { PageSections } from './page-sections.ts';
import { removedState, staleNotice, unknownState, unreachableState } from './page-states.ts';
import { PreparedHistory } from './prepared-history.ts';
import { ProvenancePanel } from './provenance-panel.ts';
import { PublicAnswers, UnreachableError } from './public-answers.ts';
import { END_WORDS, progressText, timeOf } from './reading-words.ts';
import { type RowOwner, RowWords } from './row-words.ts';
import type { SeenChart } from './seen-chart.ts';
import type { ShownHistory } from './shown-history.ts';
import { ToolsPanel } from './tools-panel.ts';
import { nextTurn } from './turns.ts';
import { priceChanges, valuesBefore } from './value-changes.ts';
import { badgesText } from './words.ts';

/** As long as shared caches keep a body. */
const ASK_AGAIN_MS = 15_000;
/** While a long history comes in, the chart is drawn again when it has this many times the rows. */
const DRAW_FACTOR = 2;
/** The parts of a page with more rows, and of one that is new, appear one after the other. */
const LONG_ROWS = 5000;

export class MarketPage {
  readonly #root: HTMLElement;
  readonly #slug: string;
  readonly #answers: PublicAnswers;
  readonly #store = new ObservationStore();
  readonly #stopped = new AbortController();
  readonly #notice = element('div', { role: 'status' });
  readonly #top = element('div', { class: 'market-head' });
  readonly #checked = element('p', { class: 'small soft checked-at' });
  readonly #chart: ChartPanel;
  readonly #provenance = new ProvenancePanel();
  readonly #compared: ComparedMarkets;
  readonly #comparePanel: ComparePanel;
  #others: readonly ComparedHistory[] = [];
  readonly #tools = new ToolsPanel(() => this.#seen());
  readonly #asOfPanel: AsOfPanel;
  readonly #sections: PageSections;
  #market: Market | null = null;
  #projections: ReadonlySet<Projection> = new Set();
  readonly #reader: HistoryReader;
  #isBegun = false;
  /** Of the files for other programs. */
  #part: string | null = null;
  #chosen: PublicObservation | null = null;
  readonly #address = new PageAddress(
    () => void this.#showChange(),
    () => this.#showMoved(),
  );
  #end: HistoryEnd | null = null;
  #readAtMs = 0;
  #isAsking = false;
  /** Those that the head shows: a source becomes late while the page is open. */
  #badges = '';
  readonly #prepared = new PreparedHistory(this.#store);
  #shown: ShownHistory | null = null;
  #showing: Promise<void> = Promise.resolve();
  /** Rows of the store. */
  #drawnSize = 0;

  constructor(root: HTMLElement, slug: string) {
    this.#root = root;
    this.#slug = slug;
    this.#answers = new PublicAnswers(THIS_SYSTEM.fetch, BASE_URL);
    this.#reader = new HistoryReader({ answers: this.#answers, slug, store: this.#store });
    this.#compared = new ComparedMarkets(this.#answers, () => void this.#show());
    this.#comparePanel = new ComparePanel(slug, (compare) => this.#address.go({ compare }));
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
    this.#asOfPanel = new AsOfPanel((asOf, refused) => this.#address.go({ asOf, refused }));
    const onRow = (row: PublicObservation): void => {
      this.#choose(row);
      this.#chart.focus();
    };
    this.#sections = new PageSections(
      onRow,
      () => void this.#show(),
      (currency) => this.#address.converted(currency),
    );
  }

  start(): void {
    this.#address.listen();
    document.addEventListener('visibilitychange', () => void this.#askAgain());
    setInterval(() => void this.#askAgain(), ASK_AGAIN_MS);
    void this.#ask();
  }

  async #askAgain(): Promise<void> {
    refreshAges(this.#root);
    if (document.visibilityState === 'visible' && !this.#stopped.signal.aborted) await this.#ask();
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const asked = this.#answers.readAgain(`${marketUrl(this.#slug)}.json`);
      // All at once: each answer is a way to the host and back.
      if (!this.#isBegun) this.#reader.readAhead();
      const ofService = this.#isBegun ? null : this.#answers.found((files) => files.resource(SNAPSHOT_URL));
      const [answer, snapshot] = await Promise.all([asked, ofService]);
      this.#readAtMs = Date.now();
      if (answer.kind === 'missing') this.#showState(unknownState(this.#slug));
      else if (answer.kind === 'gone') this.#showState(removedState(this.#slug, answer.problem));
      else await this.#take(answer.kind === 'found' ? (answer.body as Market) : null, snapshot);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      this.#showStale(error.message);
    } finally {
      this.#isAsking = false;
    }
  }

  /** @param market null: it is the same as before */
  async #take(market: Market | null, snapshot: object | null): Promise<void> {
    this.#market = market ?? this.#market;
    if (!this.#isBegun) await this.#begin(snapshot);
    this.#notice.replaceChildren();
    this.#checked.textContent = `Read at ${timeOf(this.#readAtMs)}. The page asks again every 15 seconds.`;
    if (market !== null) {
      document.title = `${market.name} · Tidemark`;
      await this.#show();
    }
    await this.#readHistory(market !== null);
    if (this.#shown !== null && this.#badges !== badgesText(this.#market as Market, Date.now()))
      this.#showTop(this.#shown);
  }

  async #begin(snapshot: object | null): Promise<void> {
    this.#isBegun = true;
    const { projections } = (snapshot ?? {}) as Partial<Snapshot>;
    this.#projections = new Set(projections);
    knowProjections(projections);
    // Browsers hash only on a secure host.
    if (this.#projections.has('compat') && isSecureContext)
      this.#part = hexOf(await sha256Of(encodedText(this.#slug))).slice(0, 2);
    const tidemark = new Tidemark({ url: BASE_URL, bodies: null });
    this.#provenance.options = {
      check: this.#projections.has('log') ? (row) => checkInLog(tidemark, this.#ownerOf(row).slug, row) : null,
      ownerOf: (row) => this.#ownerOf(row),
      isCompared: () => this.#others.length > 0,
      onChoose: (row) => this.#choose(row),
      newest: () => this.#shown?.newest,
    };
    this.#provenance.choose(null);
  }

  /** Only once there is something to show: the page of a market has its values in it already. */
  #takeOver(): void {
    const charts = element('div', { class: 'chart-and-provenance' }, this.#chart.root, this.#provenance.root);
    const parts = [this.#notice, this.#top, charts, this.#asOfPanel.root, ...this.#sections.roots, this.#checked];
    this.#root.replaceChildren(...parts);
    this.#root.setAttribute('data-ready', 'true');
    this.#root.setAttribute('data-reading', '');
  }

  async #readHistory(hasChanged: boolean): Promise<void> {
    const { count } = (this.#market as Market).history;
    const hasFiles = this.#projections.has('history-files');
    const reading = { onPart: () => this.#drawPart(), signal: this.#stopped.signal, hasFiles };
    if (this.#end === null) this.#end = await this.#reader.readAll(reading);
    else if (hasChanged || this.#isBehind(count)) await this.#reader.readChanges(count, reading);
    else return;
    await this.#show();
    this.#showDownloads();
  }

  /** A shared cache may have a newer body of the market than of its history, for some seconds. */
  #isBehind(count: number): boolean {
    return this.#end === 'whole' && this.#store.size < count;
  }

  #drawPart(): void {
    this.#showProgress();
    if (!this.#prepared.isMaking && this.#store.size >= DRAW_FACTOR * this.#drawnSize) void this.#show(true);
  }

  #showProgress(): void {
    this.#chart.showProgress(progressText(this.#store.size, (this.#market as Market).history.count, this.#end));
  }

  async #showChange(): Promise<void> {
    if (this.#market === null) return;
    const wasInTop = this.#top.contains(document.activeElement);
    await this.#show();
    if (wasInTop) document.getElementById('as-of-slider')?.focus();
  }

  /** Values that are compared, and the sources of other markets, follow once the chart rests. */
  #showMoved(): void {
    if (this.#others.length > 0 || ['percent', 'index'].includes(this.#address.state.scale)) void this.#show();
    else this.#tools.refresh();
  }

  /** The point of the same moment is chosen in the other metric: its provenance takes the place of the first one's. */
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

  /** When the first value became known. Null: none has, or the history is not read yet. */
  #firstKnown({ moments: [first] }: ShownHistory): string | null {
    return this.#end === null || first === undefined ? null : instantOfMs(first);
  }

  #choose(row: PublicObservation | null): void {
    this.#chosen = row;
    this.#address.chosen(row?.id ?? null);
    this.#chart.choose(row);
    this.#provenance.choose(row);
  }

  #ownerOf({ id }: PublicObservation): RowOwner {
    const own = { market: this.#market as Market, store: this.#store };
    const { market, store } = this.#store.byId(id) === undefined ? (this.#compared.ownerOf(id) ?? own) : own;
    const versionOf = (version: string) => store.byId(version);
    return { slug: market.slug, marketName: market.name, words: new RowWords(market.unit, versionOf), versionOf };
  }

  #seen(): (SeenChart & DrawnChart) | null {
    const drawn = this.#chart.drawn;
    const market = this.#market;
    if (drawn === null || market === null) return null;
    const { asOf, metric } = this.#address.state;
    return {
      ...drawn,
      slug: this.#slug,
      metric: metric ?? (market.metrics.price === null ? 'prices' : 'price'),
      asOf,
      readAtMs: this.#readAtMs,
      chosen: this.#chosen === null ? null : { row: this.#chosen, ...this.#ownerOf(this.#chosen) },
      newest: this.#shown?.newest,
      addressAt: (at, point) => this.#address.at(at, point),
    };
  }

  /** Of several calls, the last one wins. @param isPart whether more rows are coming */
  #show(isPart = false): Promise<void> {
    this.#showing = this.#prepareAndShow(isPart);
    return this.#showing;
  }

  async #prepareAndShow(isPart: boolean): Promise<void> {
    const market = this.#market as Market;
    const { asOf, metric, compare } = this.#address.state;
    const { size } = this.#store;
    const hasReplaced = this.#sections.hasReplaced && asOf === null;
    const clock = asOf?.clock ?? this.#asOfPanel.clock;
    const wish = { asOf, metric, clock, hasReplaced };
    const shown = await this.#prepared.of(market, wish);
    if (shown === null) return;
    const hasFiles = this.#projections.has('history-files');
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
    if ((await isOver()) || this.#stopped.signal.aborted) return;
    if (!this.#root.contains(this.#top)) this.#takeOver();
    this.#showChart(market, shown);
    if (await isOver()) return;
    if (isNew || !isPart) this.#sections.show(market, shown, asOf, this.#address.state.convert);
    if (isNew) this.#showDownloads();
    this.#chosen = this.#chosenRow(shown);
    this.#chart.mark(this.#chosen);
    this.#provenance.choose(this.#chosen, this.#chosen === null && this.#isRead ? this.#address.state.point : null);
    this.#tools.refresh();
    this.#root.toggleAttribute('data-reading', this.#end === null && this.#store.size === 0);
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
    });
    this.#showProgress();
    this.#asOfPanel.show(shown.moments, this.#address.state.asOf, END_WORDS[this.#end ?? 'whole']);
  }

  #chosenRow({ view }: ShownHistory): PublicObservation | null {
    const { asOf, point } = this.#address.state;
    const visible = [view, ...this.#others.map(({ shown }) => shown.view)].map((each) => each.visible);
    const versionOf = (id: string) => this.#store.byId(id) ?? this.#compared.ownerOf(id)?.row;
    return point === null ? null : chosenRow(point, asOf, visible, versionOf);
  }

  /** Whether the histories of all markets of the chart are read. */
  get #isRead(): boolean {
    const { compare } = this.#address.state;
    return this.#end !== null && compare.every((slug) => this.#compared.stateOf(slug) !== 'reading');
  }

  #showTop(shownNow: ShownHistory): void {
    const { view, isStepped, words } = shownNow;
    const market = this.#market as Market;
    this.#badges = badgesText(market, Date.now());
    const { asOf } = this.#address.state;
    this.#top.replaceChildren(
      marketTop({
        market,
        metrics: view.metrics,
        rowOf: (name) => rowOfMetric(view, name),
        before: isStepped ? valuesBefore(view.visible) : new Map(),
        words,
        changes: priceChanges(view),
        asOf,
        since: asOf === null ? null : this.#firstKnown(shownNow),
        refused: this.#address.state.refused,
        onNow: () => this.#address.go({ asOf: null, refused: null }),
      }),
    );
  }

  #showDownloads(): void {
    const { history } = this.#market as Market;
    this.#sections.showDownloads({
      slug: this.#slug,
      count: history.count,
      index: this.#reader.index,
      hasHistoryFiles: this.#projections.has('history-files'),
      hasLog: this.#projections.has('log'),
      part: this.#part,
    });
  }

  #showStale(reason: string): void {
    const retry = () => void this.#ask();
    const own = this.#root.querySelector('.market-head');
    const notice = staleNotice(reason, this.#readAtMs, retry);
    if (!this.#isBegun && own === null) this.#root.replaceChildren(unreachableState(reason, retry));
    else if (notice.textContent !== this.#notice.textContent) this.#notice.replaceChildren(notice);
    if (!this.#root.contains(this.#notice)) own?.before(this.#notice);
  }

  #showState(state: HTMLElement): void {
    this.#stopped.abort();
    document.title = `${state.querySelector('h1')?.textContent} · Tidemark`;
    this.#root.replaceChildren(state);
    this.#root.setAttribute('data-ready', 'true');
  }
}
