/** Other markets in the chart of a page: their histories, read once. */
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../../../contract/files/limits.ts';
import { marketUrl } from '../../../../contract/files/routes.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { HistoryReader } from './history-reader.ts';
import { ObservationStore } from './observation-store.ts';
import { type PublicAnswers, UnreachableError } from './public-answers.ts';
import { type HistoryWish, PreparedHistory, type ShownHistory } from './shown-history.ts';

export interface ComparedHistory {
  readonly market: Market;
  readonly shown: ShownHistory;
}

/** The progress of reading a market. An object: the reading failed. */
export type ComparedState = 'reading' | 'read' | { readonly problem: string };

interface Compared {
  readonly store: ObservationStore;
  readonly prepared: PreparedHistory;
  market: Market | null;
  state: ComparedState;
}

export class ComparedMarkets {
  readonly #answers: PublicAnswers;
  readonly #onRead: () => void;
  readonly #bySlug = new Map<string, Compared>();

  /** @param onRead called when a market was read, or could not be read */
  constructor(answers: PublicAnswers, onRead: () => void) {
    this.#answers = answers;
    this.#onRead = onRead;
  }

  /** The histories that have been read, in the order of the slugs. Starts to read the others. */
  async histories(slugs: readonly string[], wish: HistoryWish, hasFiles: boolean): Promise<readonly ComparedHistory[]> {
    const found: ComparedHistory[] = [];
    for (const slug of slugs) {
      const known = this.#bySlug.get(slug) ?? this.#read(slug, hasFiles);
      const shown =
        known.market === null || known.state !== 'read' ? null : await known.prepared.of(known.market, wish);
      if (known.market !== null && shown !== null) found.push({ market: known.market, shown });
    }
    return found;
  }

  stateOf(slug: string): ComparedState {
    return this.#bySlug.get(slug)?.state ?? 'reading';
  }

  nameOf(slug: string): string {
    return this.#bySlug.get(slug)?.market?.name ?? slug;
  }

  /** The market of a row, and its store. Null: no compared market has it. */
  ownerOf(
    id: string,
  ): { readonly market: Market; readonly store: ObservationStore; readonly row: PublicObservation } | null {
    for (const { market, store } of this.#bySlug.values()) {
      const row = store.byId(id);
      if (market !== null && row !== undefined) return { market, store, row };
    }
    return null;
  }

  #read(slug: string, hasFiles: boolean): Compared {
    const store = new ObservationStore();
    const made: Compared = { store, prepared: new PreparedHistory(store), market: null, state: 'reading' };
    this.#bySlug.set(slug, made);
    void this.#readInto(made, slug, hasFiles);
    return made;
  }

  async #readInto(made: Compared, slug: string, hasFiles: boolean): Promise<void> {
    try {
      const answer = await this.#answers.readAgain(`${marketUrl(slug)}.json`);
      if (answer.kind !== 'found') made.state = { problem: 'there is no such market' };
      else {
        made.market = answer.body as Market;
        const reader = new HistoryReader({ answers: this.#answers, slug, store: made.store });
        await reader.readAll({ onPart: () => {}, signal: new AbortController().signal, hasFiles });
        made.state = 'read';
      }
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      made.state = { problem: error.message };
      // Removed, so that the next request tries again.
      this.#bySlug.delete(slug);
    }
    this.#onRead();
  }
}

/** Markets in one chart, the page's own included: more lines cannot be distinguished. */
export const COMPARED_MAX = 6;

/** Slugs in an address, each once. Other words are left out. */
export function comparedSlugs(text: string): readonly string[] {
  const isSlug = (slug: string): boolean =>
    slug.length <= SLUG_MAX_LENGTH && new RegExp(`^${SLUG_PATTERN}$`).test(slug);
  return [...new Set(text.split(',').filter(isSlug))].slice(0, COMPARED_MAX - 1);
}
