/** The origin of one number: its source, its four times, its digits, its corrections, and its place in the log. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { metricTitle } from '../../../../contract/values/metric-words.ts';
import { quotedAmount, shownQuantity } from '../../../../contract/values/shown-value.ts';
import { type CheckedEntry, checkedParts, checkFailure, checkWords } from './check-result.ts';
import { agedTime, badge, button, dom, element, facts, fill, outsideLink, type Slot, timeElement } from './elements.ts';
import type { RowOwner, RowWords } from './row-words.ts';

/** The delay of a proof, so that moving from point to point does not start one for each. */
const CHECK_DELAY_MS = 400;

export interface ProvenanceOptions {
  /** Null: this service has no log. */
  readonly check: ((row: PublicObservation) => Promise<CheckedEntry>) | null;
  readonly ownerOf: (row: PublicObservation) => RowOwner;
  /** Whether the chart has several markets. */
  readonly isCompared: () => boolean;
  readonly onChoose: (row: PublicObservation | null) => void;
  /** The row to show while none is chosen. */
  readonly newest: () => PublicObservation | undefined;
}

export class ProvenancePanel {
  readonly root: HTMLElement;
  readonly #body = element('div', { class: 'provenance-body stack' });
  readonly #missing = element('p', { class: 'unknown', role: 'status' });
  readonly #log = element('div', { class: 'provenance-log', role: 'status' });
  #options: ProvenanceOptions | null = null;
  #chosen: PublicObservation | null = null;
  #shown: { readonly row: PublicObservation | null; readonly shown: PublicObservation | undefined } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.root = dom`<section class="panel provenance stack" aria-labelledby="provenance-heading">
<h2 id="provenance-heading">Provenance</h2>${this.#missing}${this.#body}${this.#log}</section>`;
    this.#show(null);
  }

  set options(options: ProvenanceOptions) {
    this.#options = options;
  }

  /** Shows the hovered point; null: the chosen one again. */
  hover(row: PublicObservation | null): void {
    this.#show(row ?? this.#chosen);
  }

  /** @param missing the id in the address, if no value has it */
  choose(row: PublicObservation | null, missing: string | null = null): void {
    const text = missing === null ? '' : `No value has the id ${missing} here, as far as the history is read.`;
    if (this.#missing.textContent !== text) this.#missing.textContent = text;
    const isSame = row?.id === this.#chosen?.id && row?.supersededBy === this.#chosen?.supersededBy;
    this.#chosen = row;
    this.#show(row);
    if (isSame) return;
    clearTimeout(this.#timer);
    this.#log.replaceChildren();
    if (row === null) return;
    if (this.#options?.check === null) {
      this.#log.replaceChildren(checkWords('plain', 'This service writes no log, so nothing can be checked.'));
    } else {
      this.#log.replaceChildren(checkWords('plain', 'Checking it in the signed log …'));
      this.#timer = setTimeout(() => void this.#check(row), CHECK_DELAY_MS);
    }
  }

  #show(row: PublicObservation | null): void {
    const shown = row ?? this.#options?.newest();
    if (this.#shown !== undefined && row === this.#shown.row && shown === this.#shown.shown) return;
    this.#shown = { row, shown };
    this.#log.hidden = row === null || row.id !== this.#chosen?.id;
    fill(this.#body, shown === undefined || this.#options === null ? null : this.#parts(shown, this.#options));
    if (row !== null) return;
    const hint = 'Choose a point of the chart, or a row of the table, to check it in the signed log.';
    this.#body.append(dom`<p class="small soft">${hint}</p>`);
  }

  #parts(row: PublicObservation, { ownerOf, isCompared }: ProvenanceOptions): readonly Slot[] {
    const { words, marketName, versionOf } = ownerOf(row);
    const notes = words.notes(row).map((note) => badge(note, 'notice'));
    return [
      dom`<p class="provenance-value number">${words.whole(row)}</p>`,
      notes.length === 0 ? null : dom`<p class="badges">${notes}</p>`,
      facts([
        isCompared() ? ['Market', marketName] : null,
        ['Metric', metricTitle(row.metric)],
        ['Source', outsideLink(row.sourceLabel, row.sourceUrl)],
        ['Observed', agedTime(row.observedAt)],
        ['Released', row.releasedAt === null ? 'not known' : timeElement(row.releasedAt)],
        ['Recorded', timeElement(row.recordedAt)],
        ['Replaced', row.supersededAt === null ? 'no, it is current' : timeElement(row.supersededAt)],
        ...words.reasons(row),
        ['Confidence', row.confidence],
        ['Status', row.status],
        ['Source wrote', sourceDigits(row, words)],
        words.digits(row) === null
          ? null
          : ['Rounding', row.rounded ? 'rounded to the decimals of its currency' : 'exact'],
        quotedRow(row, words),
        ['Versions', this.#versions(row, versionOf, words)],
        ['Id', dom`<span class="code">${row.id}</span>`],
      ]),
    ];
  }

  #versions(row: PublicObservation, versionOf: RowOwner['versionOf'], words: RowWords): Slot {
    const list: Slot[] = [];
    const add = (id: string, text: string): void => {
      const version = versionOf(id);
      const choose = () => this.#options?.onChoose(version ?? null);
      const named = version && button(words.value(version), choose, { class: 'link-button' });
      list.push(`${list.length > 0 ? ', ' : ''}${text} `, named ?? dom`<span class="code">${id}</span>`);
    };
    if (row.supersedes !== null) add(row.supersedes, 'replaces');
    if (row.supersededBy !== null) add(row.supersededBy, 'replaced by');
    return list.length === 0 ? 'no other version' : list;
  }

  async #check(row: PublicObservation): Promise<void> {
    const isCurrent = (): boolean => this.#chosen === row;
    try {
      const checked = await this.#options?.check?.(row);
      if (checked !== undefined && isCurrent())
        this.#log.replaceChildren(...checkedParts(this.#options?.ownerOf(row).slug ?? '', row, checked));
    } catch (error) {
      if (isCurrent()) this.#log.replaceChildren(checkFailure(error));
    }
  }
}

/**
 * The digits of the source. It may quote another quantity than the market, and no field states which: then the digits are not
 * those of the amount.
 */
function sourceDigits(row: PublicObservation, { unit }: RowWords): string {
  if (row.sourceValue === null) return 'not given';
  if (row.kind !== 'money' || row.decimal === null) return row.sourceValue;
  const isAmount = Math.abs(Number(row.sourceValue) - Number(row.decimal)) < 10 ** -row.minorDigits;
  if (unit.quantity === 1 && isAmount) return row.sourceValue;
  return `${row.sourceValue}, for the quantity that the source quotes`;
}

/** Null: the price is shown for the quantity that the market quotes. */
function quotedRow(row: PublicObservation, { unit }: RowWords): readonly [string, string] | null {
  if (row.kind !== 'money' || row.decimal === null || shownQuantity(unit.quantity) === unit.quantity) return null;
  return ['Recorded as', quotedAmount(row.decimal, row.currency, unit)];
}
