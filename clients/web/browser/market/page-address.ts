/**
 * The state of the page, in its address: a link opens the same state. A choice is an entry of the browser's history, so that
 * Back undoes it. Movements of the chart and its chosen point are not separate entries: they change the current one.
 */
import type { AsOf } from '../../../typescript/as-of.ts';
import { type AskedRange, type ReadRange, roundedRange } from '../chart/asked-range.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { fragmentOf, type PageState, readFragment, refusalOf } from './page-state.ts';

/** The delay of writing, because browsers refuse addresses that change with each frame. */
const WRITTEN_AFTER_MS = 250;
/** Keys move a slider or a date step by step. A value that stays for this time is the reader's choice. */
const MEANT_AFTER_MS = 600;

export class PageAddress {
  #state = readFragment(location.hash, Date.now());
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether a choice is not written yet. */
  #isChosen = false;
  readonly #onChange: () => void;
  readonly #onMoved: () => void;

  /**
   * @param onChange called when the page shows something else
   * @param onMoved called when another range or point has been shown for some time
   */
  constructor(onChange: () => void, onMoved: () => void) {
    this.#onChange = onChange;
    this.#onMoved = onMoved;
  }

  /** Follows the address: the reader goes back or forward, follows a link, or types an address. */
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

  /** Shows a moment that is being chosen. The address is written by {@link rested}. */
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

  /** Refused dates leave the chart unchanged. */
  askFor({ range, refused }: ReadRange): void {
    this.go({ range: refused === null ? range : this.#state.range, refusedRange: refused });
  }

  /** Writes the range of the chart, which has moved already. */
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
