/** The head of the page: the market, its price, and what a reader must know before he uses it. */

import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import { groupedDigits } from '../exact-decimal.ts';
import { instantOfMs } from './as-of-view.ts';
import { agedTime, badge, badgeClass, button, element, outsideLink } from './elements.ts';
import { badgesOf, momentText, sourceWords, unitOf, unitText, valueText } from './words.ts';

export interface TopContent {
  readonly market: Market;
  /** Null: no price was known. */
  readonly price: PublicMetric | null;
  /** The price's row of the history. Undefined: not read yet. */
  readonly row: PublicObservation | undefined;
  readonly asOf: AsOf | null;
  /** Why it is not as of the moment that was asked for. */
  readonly refused: string | null;
  readonly onNow: () => void;
}

export function marketTop({ market, price, row, asOf, refused, onNow }: TopContent): HTMLElement {
  const badges = asOf === null ? badgesOf(market, Date.now()) : [];
  return element(
    'header',
    { class: 'market-top' },
    element(
      'div',
      { class: 'market-name' },
      element('h1', {}, market.name),
      element(
        'p',
        { class: 'soft' },
        element('span', { class: 'code' }, market.slug),
        ` · ${market.kind} · priced ${unitText(market.unit)}`,
      ),
    ),
    badges.length === 0
      ? null
      : element(
          'ul',
          { class: 'badges', 'aria-label': 'Notes on this market' },
          ...badges.map(({ text, look }) => element('li', { class: badgeClass(look) }, text)),
        ),
    asOf === null ? null : asOfNotice(asOf, onNow),
    refused === null
      ? null
      : element('p', { class: 'notice notice-alarm', role: 'alert' }, `${refused} Below is what is known now.`),
    priceLine(price, market),
    asOf === null ? announcedLine(market) : null,
    price === null ? null : priceFacts(price, row, asOf),
  );
}

function asOfNotice(asOf: AsOf, onNow: () => void): HTMLElement {
  const moment = momentText(instantOfMs(asOf.atMs));
  const words =
    asOf.clock === 'recorded'
      ? `This is what the service showed at ${moment}.`
      : `This is what the sources had published at ${moment}, as far as is known today.`;
  const back = button('Back to now', onNow);
  return element('p', { class: 'notice as-of-notice' }, element('span', {}, words), back);
}

function priceLine(price: PublicMetric | null, { unit }: Market): HTMLElement {
  if (price === null) return element('p', { class: 'market-price unknown' }, 'unknown: never observed');
  const digits = decimalOf(price);
  if (digits === null) return element('p', { class: 'market-price unknown' }, valueText(price));
  const perUnit = price.kind === 'money' && unit.quantity > 1 ? price.decimalPerUnit : null;
  return element(
    'p',
    { class: 'market-price' },
    element('span', { class: 'number figure' }, valueText(price)),
    ' ',
    element('span', { class: 'soft' }, unitText(unit)),
    perUnit === null
      ? null
      : element(
          'span',
          { class: 'soft number' },
          ` = ${groupedDigits(perUnit)} ${unitOf(price)} per ${unit.of}${price.rounded ? ', rounded' : ''}`,
        ),
    ...(price.rounded ? roundedWords(price.sourceValue) : []),
  );
}

function announcedLine({ announced }: Market): HTMLElement | null {
  const next = announced?.price;
  if (next === undefined) return null;
  return element('p', { class: 'soft' }, `Announced: ${valueText(next)} from ${momentText(next.observedAt)}`);
}

function roundedWords(sourceValue: string | null): readonly (Node | string)[] {
  const source = element('span', { class: 'small soft source-digits' }, sourceWords(sourceValue));
  return [' ', badge('rounded', 'plain'), ' ', source];
}

function priceFacts(price: PublicMetric, row: PublicObservation | undefined, asOf: AsOf | null): HTMLElement {
  const all: readonly (readonly [string, Node | string])[] = [
    ['Observed', agedTime(price.observedAt)],
    ['Released', price.releasedAt === null ? 'not known' : agedTime(price.releasedAt)],
    ['Recorded', row === undefined ? '…' : agedTime(row.recordedAt)],
    ['Source', outsideLink(price.sourceLabel, price.sourceUrl)],
    ['Confidence', `${price.confidence}${asOf === null ? '' : `, ${price.status}`}`],
  ];
  const pairs = all.map(([name, fact]) => element('div', {}, element('dt', {}, name), element('dd', {}, fact)));
  return element('dl', { class: 'market-facts' }, ...pairs);
}
