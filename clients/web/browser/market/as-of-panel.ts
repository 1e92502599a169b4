/** The page as of an earlier moment: a slider over the moments at which something was recorded, and a field for any moment. */

import { momentText } from '../../../../contract/values/instants.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { button, dom, element } from './elements.ts';
import { many } from './words.ts';

const CLOCKS = [
  ['recorded', 'this service (recorded)'],
  ['released', 'the sources (released)'],
] as const;

export interface AsOfEvents {
  /** @param refused why the date is refused */
  readonly onChange: (asOf: AsOf | null, refused: string | null) => void;
  /** Called with each moment while the slider moves. */
  readonly onSlide: (asOf: AsOf | null) => void;
  /** The slider was released, or the date is complete. */
  readonly onRest: () => void;
}

export class AsOfPanel {
  readonly root: HTMLElement;
  readonly #slider = element('input', { type: 'range', id: 'as-of-slider', min: '0', step: '1' });
  readonly #field = element('input', { type: 'datetime-local', id: 'as-of-field', step: '1' });
  readonly #said = element('p', { class: 'small soft' });
  readonly #radios = new Map<AsOf['clock'], HTMLInputElement>();
  readonly #events: AsOfEvents;
  #moments: readonly number[] = [];
  #asOf: AsOf | null = null;

  constructor(events: AsOfEvents) {
    this.#events = events;
    const clocks = CLOCKS.map(([clock, words]) => {
      const radio = element('input', { type: 'radio', name: 'clock', value: clock, id: `clock-${clock}` });
      radio.checked = clock === 'recorded';
      radio.addEventListener('change', () => this.#set(this.#asOf?.atMs ?? null));
      this.#radios.set(clock, radio);
      return dom`<label class="choice row small">${radio} ${words}</label>`;
    });
    this.#slider.addEventListener('input', () => this.#slide(this.#moments[Number(this.#slider.value)] ?? null));
    this.#slider.addEventListener('change', () => events.onRest());
    this.#field.addEventListener('change', () => {
      if (this.#field.validity.badInput) return events.onChange(null, 'This date does not exist.');
      const ms = Date.parse(`${this.#field.value}Z`);
      this.#slide(Number.isNaN(ms) ? null : ms);
      events.onRest();
    });
    this.root = dom`<section class="panel as-of stack" aria-labelledby="as-of-heading">
<h2 id="as-of-heading">Go back in time</h2>
<div class="row"><div class="as-of-slide stack"><label for="as-of-slider">See this page as it was</label>${this.#slider}</div>
<div class="control-group row"><label for="as-of-field">Moment (UTC)</label>${this.#field}</div>
${button('Latest', () => this.#set(null))}</div>
<fieldset class="as-of-clock row"><legend class="small soft">As known by</legend>${clocks}</fieldset>
${this.#said}</section>`;
  }

  /** @param moments by this clock, ascending: the stops of the slider */
  show(moments: readonly number[], asOf: AsOf | null, note: string): void {
    this.#asOf = asOf;
    this.#moments = moments;
    const clock = asOf?.clock ?? this.clock;
    (this.#radios.get(clock) as HTMLInputElement).checked = true;
    this.#slider.max = String(this.#moments.length);
    const at = asOf === null ? -1 : this.#moments.findLastIndex((ms) => ms <= asOf.atMs);
    this.#slider.value = String(asOf === null ? this.#moments.length : Math.max(0, at));
    this.#field.max = instantOfMs(Math.floor(Date.now() / 1000) * 1000).slice(0, -1);
    this.#field.value = asOf === null ? '' : instantOfMs(asOf.atMs).slice(0, -1);
    const moment = asOf === null ? 'latest' : momentText(instantOfMs(asOf.atMs));
    this.#slider.setAttribute('aria-valuetext', moment);
    const count = `${many(this.#moments.length, 'update')} ${clock}.`;
    const limits = 'Name, unit, sources and disputes are those of today.';
    this.#said.textContent =
      asOf === null ? `Showing the latest. ${count} ${note}` : `As of ${moment}. ${count} ${limits} ${note}`;
  }

  get clock(): AsOf['clock'] {
    return this.#radios.get('released')?.checked === true ? 'released' : 'recorded';
  }

  #set(atMs: number | null): void {
    this.#events.onChange(this.#at(atMs), null);
  }

  #slide(atMs: number | null): void {
    this.#events.onSlide(this.#at(atMs));
  }

  #at(atMs: number | null): AsOf | null {
    return atMs === null ? null : { atMs, clock: this.clock };
  }
}
