/** The page of one market: what it reads of it, and when it asks again. */

import { marketUrl, SNAPSHOT_URL } from '../../../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../../../contract/values/market.ts';
import { knowProjections } from '../base-url.ts';
import { HistoryReader } from '../history/history-reader.ts';
import { ObservationStore } from '../history/observation-store.ts';
import { PublicAnswers, UnreachableError } from '../history/public-answers.ts';
import { timeOf } from '../history/reading-words.ts';
import { pollWhileVisible } from '../poll.ts';
import { element, refreshAges } from './elements.ts';
import { MarketParts, type MarketReading } from './market-parts.ts';
import { removedState, staleNotice, unknownState, unreachableState } from './page-states.ts';

/** As long as shared caches keep a body. */
const ASK_AGAIN_SECONDS = 15;

export class MarketPage {
  readonly #root: HTMLElement;
  readonly #stopped = new AbortController();
  readonly #notice = element('div', { role: 'status' });
  readonly #checked = element('p', { class: 'small soft checked-at' });
  readonly #read: MarketReading;
  readonly #parts: MarketParts;
  #isBegun = false;
  #askNow = (): void => {};

  constructor(root: HTMLElement, slug: string) {
    this.#root = root;
    const answers = new PublicAnswers();
    const store = new ObservationStore();
    this.#read = {
      ...{ slug, answers, store, reader: new HistoryReader({ answers, slug, store }), signal: this.#stopped.signal },
      ...{ market: null, projections: new Set(), end: null, readAtMs: 0 },
    };
    this.#parts = new MarketParts(this.#read, { root, notice: this.#notice, checked: this.#checked });
  }

  start(): void {
    this.#parts.start();
    this.#askNow = pollWhileVisible(
      () => this.#ask(),
      () => refreshAges(this.#root),
      ASK_AGAIN_SECONDS,
    );
  }

  async #ask(): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    try {
      const asked = this.#read.answers.readAgain(`${marketUrl(this.#read.slug)}.json`);
      // All at once: each answer is a way to the host and back.
      if (!this.#isBegun) this.#read.reader.readAhead();
      const ofService = this.#isBegun ? null : this.#read.answers.found((files) => files.resource(SNAPSHOT_URL));
      const [answer, snapshot] = await Promise.all([asked, ofService]);
      this.#read.readAtMs = Date.now();
      if (answer.kind === 'missing') this.#showState(unknownState(this.#read.slug));
      else if (answer.kind === 'gone') this.#showState(removedState(this.#read.slug, answer.problem));
      else await this.#take(answer.kind === 'found' ? (answer.body as Market) : null, snapshot);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      this.#showStale(error.message);
    }
  }

  /** @param market null: it is the same as before */
  async #take(market: Market | null, snapshot: object | null): Promise<void> {
    this.#read.market = market ?? this.#read.market;
    if (!this.#isBegun) await this.#begin(snapshot);
    this.#notice.replaceChildren();
    this.#checked.textContent = `Read at ${timeOf(this.#read.readAtMs)}. The page asks again every 15 seconds.`;
    if (market !== null) {
      document.title = `${market.name} · Tidemark`;
      await this.#parts.show();
    }
    await this.#readHistory(market !== null);
    this.#parts.refresh();
  }

  async #begin(snapshot: object | null): Promise<void> {
    this.#isBegun = true;
    const { projections } = (snapshot ?? {}) as Partial<Snapshot>;
    this.#read.projections = new Set(projections);
    knowProjections(projections);
    await this.#parts.begin();
  }

  async #readHistory(hasChanged: boolean): Promise<void> {
    const { count } = (this.#read.market as Market).history;
    const hasFiles = this.#read.projections.has('history-files');
    const reading = { onPart: () => this.#parts.drawPart(), signal: this.#stopped.signal, hasFiles };
    if (this.#read.end === null) this.#read.end = await this.#read.reader.readAll(reading);
    else if (hasChanged || this.#isBehind(count)) await this.#read.reader.readChanges(count, reading);
    else return;
    await this.#parts.show();
    this.#parts.showDownloads();
  }

  /** A shared cache may have a newer body of the market than of its history, for some seconds. */
  #isBehind(count: number): boolean {
    return this.#read.end === 'whole' && this.#read.store.size < count;
  }

  #showStale(reason: string): void {
    const retry = () => this.#askNow();
    const own = this.#root.querySelector('.market-head');
    const notice = staleNotice(reason, this.#read.readAtMs, retry);
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
