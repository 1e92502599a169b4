/** Makes what the page shows of a history in turns, and only when something has changed. */
import type { Market } from '../../../../contract/values/market.ts';
import type { ObservationStore } from './observation-store.ts';
import { type HistoryWish, type ShownHistory, shownHistory } from './shown-history.ts';
import { inTurns } from './turns.ts';

export class PreparedHistory {
  readonly #store: ObservationStore;
  #market: Market | null = null;
  #wish = '';
  #made: ShownHistory | null = null;
  #asked = 0;
  #isMaking = false;

  constructor(store: ObservationStore) {
    this.#store = store;
  }

  get isMaking(): boolean {
    return this.#isMaking;
  }

  /** The same object as before, if nothing has changed. Null: something else was asked for meanwhile. */
  async of(market: Market, wish: HistoryWish): Promise<ShownHistory | null> {
    const asked = ++this.#asked;
    const key = JSON.stringify([this.#store.version, wish]);
    if (this.#made !== null && market === this.#market && key === this.#wish) return this.#made;
    this.#isMaking = true;
    const made = await inTurns(
      shownHistory(market, this.#store, { ...wish, nowMs: Date.now() }),
      () => asked === this.#asked,
    );
    if (asked !== this.#asked) return null;
    this.#isMaking = false;
    [this.#market, this.#wish, this.#made] = [market, key, made];
    return made;
  }
}
