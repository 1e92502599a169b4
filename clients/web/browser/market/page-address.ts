/**
 * The state of the page, kept in its address: a link leads to the same page. A choice is an entry of the browser's history, so that
 * Back undoes it. The chart's movements and its chosen point are not: they belong to the entry at which they are made.
 */
import type { AsOf } from '../../../typescript/as-of.ts';
import { type AskedRange, type ReadRange, roundedRange } from '../chart/asked-range.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { fragmentOf, type PageState, readFragment, refusalOf } from './page-state.ts';

/** Browsers refuse addresses that change with each frame. */
const WRITTEN_AFTER_MS = 250;
/** Keys move a slider stop by stop, and a date part by part: what stays for so long was meant. */
const MEANT_AFTER_MS = 600;

export class PageAddress {
  #state = readFragment(location.hash, Date.now());
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Something was chosen that is not written yet. */
  #isChosen = false;
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

  /** The reader has gone back or forward, has followed a link, or typed one. */
  listen(): void {
    addEventListener('hashchange', () => {
      clearTimeout(this.#timer);
      this.#isChosen = false;
      this.#state = readFragment(location.hash, Date.now());
      this.#onChange();
    });
  }

  get state(): PageState {
    return this.#state;
  }

  go(change: Partial<PageState>): void {
    this.#take(change);
    this.#isChosen = true;
    this.#write();
    this.#onChange();
  }

  /** A moment is being chosen: the page shows it, and the address waits for {@link rested}. */
  slide(asOf: AsOf | null): void {
    clearTimeout(this.#timer);
    this.#take({ asOf, refused: null });
    this.#onChange();
  }

  rested(): void {
    this.#isChosen = true;
    this.#writeLater(MEANT_AFTER_MS);
  }

  #take(change: Partial<PageState>): void {
    const { asOf, refused: before, ...rest } = { ...this.#state, ...change };
    const refused = asOf === null ? before : refusalOf(instantOfMs(asOf.atMs), Date.now());
    this.#state = { ...rest, asOf: refused === null ? asOf : null, refused };
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
    this.#isChosen = true;
    this.#keep({ convert: currency });
  }

  #keep(change: Partial<PageState>): void {
    this.#state = { ...this.#state, ...change };
    this.#writeLater();
  }

  #writeLater(ms = WRITTEN_AFTER_MS): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#write();
      this.#onMoved();
    }, ms);
  }

  #write(): void {
    clearTimeout(this.#timer);
    const address = this.at(this.#state.asOf, this.#state.point);
    if (this.#isChosen && address !== location.href) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    this.#isChosen = false;
  }
}
