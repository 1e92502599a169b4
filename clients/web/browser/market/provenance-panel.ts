/** Where one number comes from: its source, its four times, its digits, its corrections, and its place in the log. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { LogVerificationError } from '../../../typescript/signed-log.ts';
import { TidemarkError } from '../../../typescript/tidemark-error.ts';
import { groupedDigits } from '../exact-decimal.ts';
import { metricTitle } from '../shown-value.ts';
import { agedTime, badge, button, element, facts, outsideLink, timeElement } from './elements.ts';
import type { CheckedEntry } from './log-receipt.ts';
import type { RowWords } from './row-words.ts';

/** Walking from point to point starts no proof for each. */
const CHECK_DELAY_MS = 400;

export interface ProvenanceOptions {
  /** Null: this service writes no log. */
  readonly check: ((row: PublicObservation) => Promise<CheckedEntry>) | null;
  readonly slug: string;
  readonly words: RowWords;
  readonly versionOf: (id: string) => PublicObservation | undefined;
  readonly onChoose: (row: PublicObservation | null) => void;
}

export class ProvenancePanel {
  readonly root: HTMLElement;
  readonly #body = element('div', { class: 'provenance-body' });
  readonly #log = element('div', { class: 'provenance-log', role: 'status' });
  #options: ProvenanceOptions | null = null;
  #chosen: PublicObservation | null = null;
  #shown: PublicObservation | null | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.root = element(
      'section',
      { class: 'panel provenance', 'aria-labelledby': 'provenance-heading' },
      element('h2', { id: 'provenance-heading' }, 'Provenance'),
      this.#body,
      this.#log,
    );
    this.#show(null);
  }

  set options(options: ProvenanceOptions) {
    this.#options = options;
  }

  /** The pointer is over a point, for a moment; null: back to the chosen one. */
  hover(row: PublicObservation | null): void {
    this.#show(row ?? this.#chosen);
  }

  choose(row: PublicObservation | null): void {
    const isSame = row?.id === this.#chosen?.id && row?.supersededBy === this.#chosen?.supersededBy;
    this.#chosen = row;
    this.#show(row);
    if (isSame) return;
    clearTimeout(this.#timer);
    this.#log.replaceChildren();
    if (row === null) return;
    if (this.#options?.check === null) {
      this.#say('plain', 'This service writes no log, so nothing can be checked.');
    } else {
      this.#say('plain', 'Checking it in the signed log …');
      this.#timer = setTimeout(() => void this.#check(row), CHECK_DELAY_MS);
    }
  }

  #show(row: PublicObservation | null): void {
    if (row === this.#shown) return;
    this.#shown = row;
    this.#log.hidden = row === null || row.id !== this.#chosen?.id;
    if (row === null || this.#options === null) {
      const hint = 'Choose a point of the chart, or a row of the table, to see where its number comes from.';
      this.#body.replaceChildren(element('p', { class: 'soft' }, hint));
      return;
    }
    const { words } = this.#options;
    const value = words.value(row);
    const isUnknown = row.unknownReason !== null;
    const notes = words.notes(row).map((note) => badge(note, 'notice'));
    this.#body.replaceChildren(
      element('p', { class: 'provenance-value number' }, isUnknown ? value : `${value} ${words.per(row)}`.trimEnd()),
      notes.length === 0 ? '' : element('p', { class: 'badges' }, ...notes.flatMap((note) => [note, ' '])),
      facts([
        ['Metric', metricTitle(row.metric)],
        ['Source', outsideLink(row.sourceLabel, row.sourceUrl)],
        ['Observed', agedTime(row.observedAt)],
        ['Released', row.releasedAt === null ? 'not known' : timeElement(row.releasedAt)],
        ['Recorded', timeElement(row.recordedAt)],
        ['Replaced', row.supersededAt === null ? 'no, it stands' : timeElement(row.supersededAt)],
        ['Confidence', row.confidence],
        ['Status', row.status],
        ['Source digits', row.sourceValue ?? 'none given'],
        ['Rounding', row.rounded ? 'rounded: minor units cannot hold these digits' : 'exact'],
        perUnitRow(row, words.unit),
        ['Versions', this.#versions(row)],
        ['Id', element('span', { class: 'code' }, row.id)],
      ]),
    );
  }

  #versions(row: PublicObservation): Node {
    const list = element('span', {});
    const add = (id: string, words: string): void => {
      const version = this.#options?.versionOf(id);
      if (list.childNodes.length > 0) list.append(', ');
      list.append(`${words} `);
      if (version === undefined) list.append(element('span', { class: 'code' }, id));
      else
        list.append(button(this.#valueOf(version), () => this.#options?.onChoose(version), { class: 'link-button' }));
    };
    if (row.supersedes !== null) add(row.supersedes, 'replaces');
    if (row.supersededBy !== null) add(row.supersededBy, 'replaced by');
    return list.childNodes.length === 0 ? document.createTextNode('the only one') : list;
  }

  #valueOf(row: PublicObservation): string {
    return this.#options?.words.value(row) ?? '';
  }

  async #check(row: PublicObservation): Promise<void> {
    const isCurrent = (): boolean => this.#chosen === row;
    try {
      const checked = await this.#options?.check?.(row);
      if (checked !== undefined && isCurrent()) this.#showChecked(row, checked);
    } catch (error) {
      if (!isCurrent()) return;
      if (error instanceof LogVerificationError) {
        this.#say('alarm', `The signed log does not agree: ${error.message}. Do not rely on this value.`);
      } else if (error instanceof TidemarkError && error.code === 'not-in-log-yet') {
        this.#say('notice', 'Not in the log yet. Entries follow some seconds after a value. Choose it again soon.');
      } else if (!('crypto' in globalThis) || crypto.subtle === undefined) {
        this.#say('notice', 'Not checked: browsers check signatures on HTTPS pages only.');
      } else if (error instanceof DOMException && error.name === 'NotSupportedError') {
        this.#say('notice', 'Not checked: this browser cannot check Ed25519 signatures.');
      } else {
        this.#say('notice', 'Not checked: a file of the log could not be read. Choose the point again to retry.');
      }
    }
  }

  #showChecked(row: PublicObservation, { index, checkpoint: { size, origin, vkey }, receipt }: CheckedEntry): void {
    const href = URL.createObjectURL(new Blob([receipt], { type: 'text/plain' }));
    const day = row.observedAt.slice(0, 'YYYY-MM-DD'.length);
    const download = `${this.#options?.slug}-${row.metric}-${day}.tlog-proof`;
    const details = element(
      'details',
      { class: 'small' },
      element('summary', {}, 'What was checked'),
      element(
        'p',
        {},
        `The entry has the same members as this row. It is in the tree of ${size.toLocaleString('en')} entries whose ` +
          `root the log ${origin} has signed. The key comes from this host: compare it with the one that its operator ` +
          'names elsewhere.',
      ),
      element('p', { class: 'code vkey' }, vkey),
    );
    this.#log.replaceChildren(
      element(
        'p',
        {},
        badge('checked in your browser', 'good'),
        ` in the signed log at index ${index.toLocaleString('en')}`,
      ),
      element('p', {}, element('a', { href, download }, 'Download the receipt')),
      details,
    );
  }

  #say(look: 'plain' | 'notice' | 'alarm', text: string): void {
    const classes = { plain: 'soft', notice: 'notice', alarm: 'notice notice-alarm' }[look];
    this.#log.replaceChildren(element('p', { class: classes }, text));
  }
}

function perUnitRow(row: PublicObservation, unit: RowWords['unit']): readonly [string, string] | null {
  if (row.kind !== 'money' || unit.quantity === 1 || row.decimal === null) return null;
  const digits = row.decimalPerUnit;
  return [
    'Per unit',
    digits === null
      ? 'its decimals do not end'
      : `${groupedDigits(digits)} ${row.currency} per ${unit.of}${row.rounded ? ', rounded' : ''}`,
  ];
}
