/** The head of the page: the market, its price, and important notes about its use. */

import type { PriceChanges } from '../../../../contract/bodies/price-change.ts';
import { marketHead } from '../../../../contract/html/market-head.ts';
import { dayText, momentText } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { changeText, type ValueChange } from '../history/value-changes.ts';
import { agedTime, badge, button, dom } from './elements.ts';
import type { RowWords } from './row-words.ts';
import { timelyNotes } from './words.ts';

export interface TopContent {
  readonly market: Market;
  readonly metrics: Market['metrics'];
  /** The row of the history that a metric shows. Undefined: not read yet. */
  readonly rowOf: (name: string) => PublicObservation | undefined;
  /** The last change of the value of a row. Null: not known. */
  readonly changeOf: (row: PublicObservation) => ValueChange | null;
  readonly words: RowWords;
  readonly changes: PriceChanges;
  readonly asOf: AsOf | null;
  /**
   * The moment at which the first value became known, by the clock of `asOf`. Null: none did, or the history has not been read.
   */
  readonly since: string | null;
  /** Why the page does not show the requested moment. */
  readonly refused: string | null;
  readonly onNow: () => void;
}

export function marketTop(content: TopContent): HTMLElement {
  const { market, metrics, rowOf, changeOf, words, changes, asOf, since, refused, onNow } = content;
  const price = rowOf('price');
  return marketHead<HTMLElement>(dom, {
    ...{ market, metrics, changes, isNewest: asOf === null, timely: timelyNotes(market, Date.now()) },
    ...(asOf !== null && { nothing: nothingText(since) }),
    timeOf: agedTime,
    recorded: price === undefined ? '…' : agedTime(price.recordedAt),
    messages: [
      asOf === null ? null : asOfNotice(asOf, onNow),
      refused && dom`<p class="notice notice-alarm" role="alert">${refused} Below is what is known now.</p>`,
    ],
    previous: (name) => {
      const row = rowOf(name);
      const change = row === undefined ? null : changeOf(row);
      return change && changedFrom(change, words);
    },
  });
}

function asOfNotice(asOf: AsOf, onNow: () => void): HTMLElement {
  const moment = momentText(instantOfMs(asOf.atMs));
  const words =
    asOf.clock === 'recorded'
      ? `This is what the service showed at ${moment}.`
      : `This is what the sources had published at ${moment}, as far as is known today.`;
  return dom`<p class="notice as-of-notice row apart"><span>${words}</span>${button('Back to now', onNow)}</p>`;
}

/** `was 5.00 USD before 1 Aug 2026`: the row that the tile shows may only repeat a value. */
function changedFrom({ before, after }: ValueChange, words: RowWords): HTMLElement {
  const moment = dom`<time datetime="${after.observedAt}" title="${momentText(after.observedAt)}">${dayText(after.observedAt)}</time>`;
  const change = changeText(before, after);
  return dom`<dd class="small"><span class="number">was ${words.value(before)}</span> before ${moment}
${change === '' ? null : badge(change, 'plain')}</dd>`;
}

function nothingText(since: string | null): string {
  return since === null ? 'nothing recorded here at that time' : `nothing recorded here before ${dayText(since)}`;
}
