/** What the page shows, kept in its address: a link leads to the same page. */
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs } from './as-of-view.ts';
import { type AskedRange, type ReadRange, roundedRange } from './asked-range.ts';
import { fragmentOf, type PageState, readFragment, refusalOf } from './page-state.ts';

/** Browsers refuse addresses that change with each frame. */
const WRITTEN_AFTER_MS = 250;

export class PageAddress {
  #state = readFragment(location.hash, Date.now());
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onChange: () => void;
  readonly #onMoved: () => void;

  /**
   * @param onChange the page shows something else. @param onMoved it shows another part, or another point is chosen, for some
   * time now
   */
  constructor(onChange: () => void, onMoved: () => void) {
    this.#onChange = onChange;
    this.#onMoved = onMoved;
  }

  /** The reader has followed a link, or typed one. */
  listen(): void {
    addEventListener('hashchange', () => {
      this.#state = readFragment(location.hash, Date.now());
      this.#onChange();
    });
  }

  get state(): PageState {
    return this.#state;
  }

  go(change: Partial<PageState>): void {
    const { asOf, refused: before, ...rest } = { ...this.#state, ...change };
    const refused = asOf === null ? before : refusalOf(instantOfMs(asOf.atMs), Date.now());
    this.#state = { ...rest, asOf: refused === null ? asOf : null, refused };
    this.#write();
    this.#onChange();
  }

  /** Dates that are refused leave the chart as it is. */
  askFor({ range, refused }: ReadRange): void {
    this.go({ range: refused === null ? range : this.#state.range, refusedRange: refused });
  }

  /** The chart has moved already. */
  moved(range: AskedRange): void {
    const rounded = range === null || typeof range === 'string' ? range : roundedRange(range);
    this.#keep({ range: rounded, refusedRange: null });
  }

  chosen(point: string | null): void {
    this.#keep({ point });
  }

  /** The address of the page as it was at a moment. @param point the id of a row */
  at(asOf: AsOf | null, point: string | null): string {
    const { origin, pathname, search } = location;
    return `${origin}${pathname}${search}${fragmentOf({ ...this.#state, asOf, point })}`;
  }

  converted(currency: string | null): void {
    this.#keep({ convert: currency });
  }

  #keep(change: Partial<PageState>): void {
    this.#state = { ...this.#state, ...change };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#write();
      this.#onMoved();
    }, WRITTEN_AFTER_MS);
  }

  #write(): void {
    clearTimeout(this.#timer);
    history.replaceState(null, '', this.at(this.#state.asOf, this.#state.point));
  }
}
