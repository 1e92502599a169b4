/** The page of one market: what it has read, what it shows of that, and when it asks again. */

import type { Projection } from '../../../../contract/files/projections.ts';
import { marketUrl, SNAPSHOT_URL } from '../../../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { encodedText, hexOf, sha256Of } from '../../../typescript/hashes.ts';
import { THIS_SYSTEM } from '../../../typescript/system.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { BASE_URL } from '../base-url.ts';
import { AsOfPanel } from './as-of-panel.ts';
import { type HistoryView, historyView, instantOfMs, knownMoments } from './as-of-view.ts';
import { ChartPanel } from './chart-panel.ts';
import { ConvertedSection } from './converted-section.ts';
import { downloadsSection } from './downloads-section.ts';
import { button, element, refreshAges } from './elements.ts';
import { type HistoryEnd, HistoryReader } from './history-reader.ts';
import { checkInLog } from './log-receipt.ts';
import type { DrawnChart } from './market-chart.ts';
import { marketTop } from './market-top.ts';
import { ObservationStore } from './observation-store.ts';
import { ObservationsTable } from './observations-table.ts';
import { offeredMetrics } from './offered-metrics.ts';
import { PageAddress } from './page-address.ts';
import { removedState, unknownState, unreachableState } from './page-states.ts';
import { ProvenancePanel } from './provenance-panel.ts';
import { PublicAnswers, UnreachableError } from './public-answers.ts';
import { END_WORDS, progressText, timeOf } from './reading-words.ts';
import { RowWords } from './row-words.ts';
import type { SeenChart } from './seen-chart.ts';
import { chartOf, shownHistory } from './shown-history.ts';
import { sourcesSection } from './sources-section.ts';
import { ToolsPanel } from './tools-panel.ts';
import { changesIn, priceChanges, valuesBefore } from './value-changes.ts';
import { badgesOf, momentText } from './words.ts';

/** As long as shared caches keep a body. */
const ASK_AGAIN_MS = 15_000;
/** While a long history comes in, the chart is drawn so often; and less often where that takes long. */
const DRAW_MS = 250;
const DRAW_SHARE = 4;

export class MarketPage {
  readonly #root: HTMLElement;
  readonly #slug: string;
  readonly #answers: PublicAnswers;
  readonly #store = new ObservationStore();
  readonly #stopped = new AbortController();
  readonly #notice = element('div', { role: 'status' });
  readonly #top = element('div', { class: 'market-head' });
  readonly #converted = new ConvertedSection();
  readonly #sources = element('div', {});
  readonly #downloads = element('div', {});
  readonly #checked = element('p', { class: 'small soft checked-at' });
  readonly #chart: ChartPanel;
  readonly #provenance = new ProvenancePanel();
  readonly #tools = new ToolsPanel(() => this.#seen());
  readonly #asOfPanel: AsOfPanel;
  readonly #table: ObservationsTable;
  readonly #replaced = element('input', { type: 'checkbox', id: 'replaced' });
  #market: Market | null = null;
  #projections: ReadonlySet<Projection> = new Set();
  #reader: HistoryReader | null = null;
  /** Of the files for other programs. */
  #part: string | null = null;
  #chosen: PublicObservation | null = null;
  /** Of the metric that is shown. */
  #newest: PublicObservation | undefined;
  readonly #address = new PageAddress(
    () => this.#showChange(),
    () => this.#showMoved(),
  );
  #end: HistoryEnd | null = null;
  #readAtMs = 0;
  #isAsking = false;
  /** Those that the head shows: a source becomes late while the page is open. */
  #badges = '';
  #drawMs = 0;
  #drawTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement, slug: string) {
    this.#root = root;
    this.#slug = slug;
    this.#answers = new PublicAnswers(THIS_SYSTEM.fetch, BASE_URL);
    this.#chart = new ChartPanel(
      {
        onChoose: (row) => this.#choose(row),
        onHover: (row) => this.#provenance.hover(row),
        onMetric: (metric) => this.#chooseMetric(metric),
        onScale: (scale) => this.#address.go({ scale }),
        onRange: (read) => this.#address.askFor(read),
        onMove: (range) => this.#address.moved(range),
      },
      [this.#tools.root],
    );
    this.#asOfPanel = new AsOfPanel((asOf, refused) => this.#address.go({ asOf, refused }));
    const replaced = element('label', { class: 'choice' }, this.#replaced, ' Show replaced versions');
    this.#replaced.addEventListener('change', () => this.#show());
    this.#table = new ObservationsTable((row) => {
      this.#choose(row);
      this.#chart.focus();
    }, replaced);
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
      const answer = await this.#answers.readAgain(`${marketUrl(this.#slug)}.json`);
      this.#readAtMs = Date.now();
      if (answer.kind === 'missing') this.#showState(unknownState(this.#slug));
      else if (answer.kind === 'gone') this.#showState(removedState(this.#slug, answer.problem));
      else await this.#take(answer.kind === 'found' ? (answer.body as Market) : null);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      this.#showStale(error.message);
    } finally {
      this.#isAsking = false;
    }
  }

  /** @param market null: it is the same as before */
  async #take(market: Market | null): Promise<void> {
    this.#market = market ?? this.#market;
    if (this.#reader === null) await this.#begin();
    this.#notice.replaceChildren();
    this.#checked.textContent = `Read at ${timeOf(this.#readAtMs)}. The page asks again every 15 seconds.`;
    if (market !== null) {
      document.title = `${market.name} · Tidemark`;
      this.#show();
    }
    await this.#readHistory(market !== null);
    if (this.#badges !== badgesText(this.#market as Market)) this.#showTop(this.#view());
  }

  async #begin(): Promise<void> {
    const snapshot = await this.#answers.found((files) => files.resource(SNAPSHOT_URL));
    this.#projections = new Set((snapshot as Partial<Snapshot> | null)?.projections);
    // Browsers hash only on a secure host.
    if (this.#projections.has('compat') && isSecureContext)
      this.#part = hexOf(await sha256Of(encodedText(this.#slug))).slice(0, 2);
    const hasFiles = this.#projections.has('history-files');
    this.#reader = new HistoryReader({ answers: this.#answers, slug: this.#slug, store: this.#store, hasFiles });
    const tidemark = new Tidemark({ url: BASE_URL, bodies: null });
    this.#provenance.options = {
      check: this.#projections.has('log') ? (row) => checkInLog(tidemark, this.#slug, row) : null,
      slug: this.#slug,
      words: this.#words,
      versionOf: (id) => this.#store.byId(id),
      onChoose: (row) => this.#choose(row),
      newest: () => this.#newest,
    };
    this.#provenance.choose(null);
    const charts = element('div', { class: 'chart-and-provenance' }, this.#chart.root, this.#provenance.root);
    this.#root.replaceChildren(
      ...[
        this.#notice,
        this.#top,
        charts,
        this.#asOfPanel.root,
        this.#table.root,
        this.#converted.root,
        this.#sources,
        this.#downloads,
      ],
      this.#checked,
    );
    this.#root.setAttribute('data-ready', 'true');
    this.#root.setAttribute('data-reading', '');
  }

  async #readHistory(hasChanged: boolean): Promise<void> {
    const { count } = (this.#market as Market).history;
    const reading = { onPart: () => this.#drawSoon(), signal: this.#stopped.signal };
    if (this.#end === null) this.#end = (await this.#reader?.readAll(reading)) ?? 'whole';
    else if (hasChanged || this.#isBehind(count)) await this.#reader?.readChanges(count, reading);
    else return;
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    this.#show();
    this.#showDownloads();
  }

  /** A shared cache may have a newer body of the market than of its history, for some seconds. */
  #isBehind(count: number): boolean {
    return this.#end === 'whole' && this.#store.size < count;
  }

  #drawSoon(): void {
    this.#drawTimer ??= setTimeout(
      () => {
        const begunMs = performance.now();
        this.#show();
        this.#drawMs = performance.now() - begunMs;
        this.#drawTimer = undefined;
      },
      DRAW_MS + DRAW_SHARE * this.#drawMs,
    );
  }

  #showChange(): void {
    if (this.#market === null) return;
    const wasInTop = this.#top.contains(document.activeElement);
    this.#show();
    if (wasInTop) document.getElementById('as-of-slider')?.focus();
  }

  /** Values that are compared with the first one follow once the chart rests. */
  #showMoved(): void {
    const { scale } = this.#address.state;
    if (scale === 'percent' || scale === 'index') this.#show();
    else this.#tools.refresh();
  }

  /** The point of the same moment is chosen in the other metric: its provenance takes the place of the first one's. */
  #chooseMetric(metric: string | null): void {
    const chosen = this.#chosen;
    this.#address.go({ metric });
    if (chosen === null) return;
    const { first } = offeredMetrics(this.#market as Market, this.#store.metrics);
    const metrics = metric === null ? first : [metric];
    const sameMoment = this.#view().visible.filter(
      (row) => metrics.includes(row.metric) && row.observedAt === chosen.observedAt,
    );
    this.#choose(sameMoment.find(({ sourceLabel }) => sourceLabel === chosen.sourceLabel) ?? sameMoment[0] ?? null);
  }

  /** When the first value became known. Null: none has, or the history is not read yet. */
  #firstKnown(): string | null {
    const { asOf } = this.#address.state;
    const [first] = asOf === null || this.#end === null ? [] : knownMoments(this.#store.newestFirst(), asOf.clock);
    return first === undefined ? null : instantOfMs(first);
  }

  #choose(row: PublicObservation | null): void {
    this.#chosen = row;
    this.#address.chosen(row?.id ?? null);
    this.#chart.choose(row);
    this.#provenance.choose(row);
  }

  #seen(): (SeenChart & DrawnChart) | null {
    const drawn = this.#chart.drawn;
    const market = this.#market;
    if (drawn === null || market === null) return null;
    const { asOf, metric } = this.#address.state;
    return {
      ...drawn,
      slug: this.#slug,
      marketName: market.name,
      metric: metric ?? (market.metrics.price === null ? 'prices' : 'price'),
      asOf,
      readAtMs: this.#readAtMs,
      chosen: this.#chosen,
      addressAt: (at, point) => this.#address.at(at, point),
    };
  }

  #view(): HistoryView {
    return historyView(this.#market as Market, this.#store.newestFirst(), this.#address.state.asOf);
  }

  get #words(): RowWords {
    return new RowWords((this.#market as Market).unit, (id) => this.#store.byId(id));
  }

  #show(): void {
    const market = this.#market as Market;
    const { asOf, range, refusedRange } = this.#address.state;
    const view = this.#view();
    const shown = shownHistory(market, { view, store: this.#store, state: this.#address.state, nowMs: Date.now() });
    const { metrics, title, words, isStepped } = shown;
    this.#newest = shown.newest;
    this.#chart.show({
      ...chartOf(shown, this.#address.state),
      marketName: market.name,
      metrics: shown.titles,
      metric: shown.metric,
      isDisputed: shown.isDisputed,
      range,
      refused: refusedRange,
    });
    this.#chart.showProgress(progressText(this.#store.size, market.history.count, this.#end));
    const rows = this.#replaced.checked && asOf === null ? [...this.#store.newestFirst()] : view.visible;
    const moment = asOf === null ? '' : ` as of ${momentText(instantOfMs(asOf.atMs))}`;
    this.#table.show({
      rows: rows.filter((row) => metrics.includes(row.metric)),
      title: `Observations of ${title.toLowerCase()}`,
      hasMetrics: metrics.length > 1,
      changes: isStepped ? changesIn(view, words) : new Map(),
      words,
      moment,
    });
    this.#replaced.disabled = asOf !== null;
    this.#asOfPanel.show(this.#store, asOf, END_WORDS[this.#end ?? 'whole']);
    this.#showTop(view);
    this.#converted.show(market, view.visible, asOf);
    this.#sources.replaceChildren(sourcesSection({ market, metrics: view.metrics, bySource: view.bySource, words }));
    if (this.#downloads.childElementCount === 0) this.#showDownloads();
    this.#chosen = this.#chosenRow(view);
    this.#chart.mark(this.#chosen);
    this.#provenance.choose(this.#chosen);
    this.#tools.refresh();
    this.#root.toggleAttribute('data-reading', this.#end === null && this.#store.size === 0);
  }

  /** As of an earlier moment, a row that was not visible then is not shown. */
  #chosenRow({ visible }: HistoryView): PublicObservation | null {
    const { asOf, point } = this.#address.state;
    if (point === null) return null;
    return (asOf === null ? this.#store.byId(point) : visible.find(({ id }) => id === point)) ?? null;
  }

  #showTop(view: HistoryView): void {
    const market = this.#market as Market;
    this.#badges = badgesText(market);
    const rowOf = (name: string) => {
      const shown = view.metrics[name];
      return view.visible.find(
        ({ metric, observedAt, sourceUrl }) =>
          metric === name && observedAt === shown?.observedAt && sourceUrl === shown.sourceUrl,
      );
    };
    const { asOf } = this.#address.state;
    this.#top.replaceChildren(
      marketTop({
        market,
        metrics: view.metrics,
        rowOf,
        before: valuesBefore(view.visible),
        words: this.#words,
        changes: priceChanges(view),
        asOf,
        since: this.#firstKnown(),
        refused: this.#address.state.refused,
        onNow: () => this.#address.go({ asOf: null, refused: null }),
      }),
    );
  }

  #showDownloads(): void {
    const {
      history: { count },
    } = this.#market as Market;
    this.#downloads.replaceChildren(
      downloadsSection({
        slug: this.#slug,
        count,
        index: this.#reader?.index ?? null,
        hasHistoryFiles: this.#projections.has('history-files'),
        hasLog: this.#projections.has('log'),
        part: this.#part,
      }),
    );
  }

  #showStale(reason: string): void {
    if (this.#market === null || this.#reader === null) {
      this.#root.replaceChildren(unreachableState(reason, () => void this.#ask()));
      return;
    }
    const words = `The service cannot be reached: ${reason}. This page shows what it read at ${timeOf(this.#readAtMs)}, and tries again by itself.`;
    const [shown] = this.#notice.children;
    if (shown?.firstChild?.textContent === words) return;
    this.#notice.replaceChildren(
      element(
        'div',
        { class: 'notice stale' },
        element('p', {}, words),
        button('Try again', () => void this.#ask()),
      ),
    );
  }

  #showState(state: HTMLElement): void {
    this.#stopped.abort();
    document.title = `${state.querySelector('h1')?.textContent} · Tidemark`;
    this.#root.replaceChildren(state);
    this.#root.setAttribute('data-ready', 'true');
  }
}

function badgesText(market: Market): string {
  return JSON.stringify(badgesOf(market, Date.now()));
}
