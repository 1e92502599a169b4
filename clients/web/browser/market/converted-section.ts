/** The newest prices of a market in another currency: derived in the browser from rates of the same service, when it is asked for. */

import { groupedDigits } from '../../../../contract/values/decimal-text.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { unknownWords } from '../../../../contract/values/metric-words.ts';
import { shownAmount, unitText } from '../../../../contract/values/shown-value.ts';
import { type AsOf, AsOfReading } from '../../../typescript/as-of.ts';
import {
  type Conversion,
  convert,
  currenciesFrom,
  DayRates,
  type NotConverted,
  RATE_AGE_DAYS_MAX,
  type RateMarket,
  rateMarket,
  readRates,
} from '../../../typescript/conversion.ts';
import { isMissing } from '../../../typescript/public-files.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { BASE_URL, marketAddress } from '../base-url.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { badge, button, element, outsideLink, tableBox, timeElement } from './elements.ts';
import { RowWords } from './row-words.ts';
import { dayText } from './words.ts';

/** So the histories of rates are read for some days only. */
const ROWS_MAX = 30;
const DAY_MS = 86_400_000;

const REASONS: Readonly<Record<NotConverted, string>> = {
  'value-unknown': 'the price is unknown',
  'not-money': 'it is no price',
  'not-standing': 'the price was replaced',
  'no-rate': 'the service has no such rate',
  'no-rate-of-day': `no rate of that day, or of the ${RATE_AGE_DAYS_MAX} days before`,
  'rate-unknown': 'the newest rate of that day is unknown',
};

const ROLES = { table: 'table', 'thead, tbody': 'rowgroup', tr: 'row', th: 'columnheader', td: 'cell' };

interface Shown {
  readonly market: Market;
  readonly rows: readonly PublicObservation[];
  readonly asOf: AsOf | null;
}

export class ConvertedSection {
  readonly root = element('section', { class: 'market-section', 'aria-labelledby': 'converted-heading' });
  readonly #tidemark = new Tidemark({ url: BASE_URL, bodies: null });
  readonly #result = element('div', {});
  readonly #said = element('p', { class: 'small', role: 'status' });
  readonly #select = element('select', { id: 'converted-currency' });
  readonly #begin = button('Choose a currency', () => void this.#offer(null));
  #markets: readonly RateMarket[] = [];
  #isReading = false;
  /** The currencies are known, and the reader can choose. */
  #isOffered = false;
  #shown: Shown | null = null;
  /** Of the table that is shown, or that is being made. */
  #key = '';

  /** @param onChoose a currency; null: none */
  constructor(onChoose: (currency: string | null) => void) {
    this.#select.addEventListener('change', () => {
      onChoose(this.#select.value === '' ? null : this.#select.value);
      void this.#convert();
    });
  }

  /** @param visible newest first, of all metrics. @param currency that the address asks for */
  show(market: Market, visible: readonly PublicObservation[], asOf: AsOf | null, currency: string | null): void {
    const prices = visible.filter(({ metric, kind }) => metric === 'price' && kind === 'money').slice(0, ROWS_MAX);
    this.#shown = { market, rows: prices, asOf };
    if (prices.length > 0 && this.root.childElementCount === 0) {
      const heading = element('h2', { id: 'converted-heading' }, 'In another currency');
      this.root.append(heading, element('p', {}, this.#begin), this.#said, this.#result);
    }
    if (!this.#isOffered) {
      if (currency !== null && prices.length > 0) void this.#offer(currency);
      return;
    }
    this.#select.value = currency ?? '';
    void this.#convert();
  }

  /** Reads which currencies there are rates for. @param currency that the address asks for; null: the reader chooses */
  async #offer(currency: string | null): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    await this.#readCurrencies(currency);
    this.#isReading = false;
  }

  async #readCurrencies(currency: string | null): Promise<void> {
    const { nativeCurrency } = (this.#shown as Shown).market;
    this.#said.textContent = 'Reading the rates of this service …';
    const markets = await this.#rateMarkets().catch(() => null);
    if (markets === null) {
      this.#said.textContent = 'The rates could not be read. Try again.';
      return;
    }
    this.#markets = markets;
    const currencies = currenciesFrom(markets, nativeCurrency);
    this.#said.textContent = currencies.length === 0 ? `No market of this service is a rate of ${nativeCurrency}.` : '';
    if (currencies.length === 0) return;
    const names = new Intl.DisplayNames('en', { type: 'currency' });
    this.#select.replaceChildren(
      element('option', { value: '' }, 'none'),
      ...currencies.map((code) => element('option', { value: code }, `${code}, ${names.of(code)}`)),
    );
    this.#begin.replaceWith(element('label', { class: 'choice' }, 'Currency ', this.#select));
    this.#isOffered = true;
    if (currency === null) return this.#select.focus();
    this.#select.value = currency;
    if (this.#select.value === currency) return await this.#convert();
    this.#select.value = '';
    this.#said.textContent = `No market of this service is a rate from ${nativeCurrency} to ${currency}.`;
  }

  /** The file of newest prices has them in one answer, where the service has it. */
  async #rateMarkets(): Promise<readonly RateMarket[]> {
    const latest = await this.#tidemark.latest().catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (latest !== null) {
      return latest.flatMap(({ slug, kind, currency, quantity, unit }) => {
        return rateMarket({ slug, kind, nativeCurrency: currency, unit: { quantity, of: unit } }) ?? [];
      });
    }
    const found: RateMarket[] = [];
    for await (const market of this.#tidemark.markets()) {
      const rate = rateMarket(market);
      if (rate !== null) found.push(rate);
    }
    return found;
  }

  async #convert(): Promise<void> {
    const { market, rows, asOf } = this.#shown as Shown;
    const currency = this.#select.value;
    const key = JSON.stringify([currency, asOf, rows.map(({ id }) => id)]);
    if (key === this.#key) return;
    this.#key = key;
    if (currency === '' || rows.length === 0) {
      this.#result.replaceChildren();
      this.#said.textContent = '';
      return;
    }
    try {
      const read = (rate: RateMarket) => this.#ratesOf(rate);
      const { ways, rates } = await readRates(this.#markets, market.nativeCurrency, currency, read);
      if (this.#key !== key) return;
      const converted = rows.map((row) => {
        const isNative = row.kind === 'money' && row.currency === market.nativeCurrency;
        return [row, convert(row, currency, isNative ? ways : [], rates, asOf)] as const;
      });
      const count = converted.filter(([, { reason }]) => reason === null).length;
      this.#result.replaceChildren(
        ...(count === 0 ? [nothingOf(currency, converted)] : resultOf(market, currency, converted, asOf)),
      );
      this.#said.textContent = `${count} of ${converted.length} prices in ${currency}.`;
    } catch {
      if (this.#key !== key) return;
      this.#key = '';
      this.#result.replaceChildren();
      this.#said.textContent = 'The rates could not be read. Choose the currency again.';
    }
  }

  /** Of the days that are shown, and as of the moment that is shown. */
  async #ratesOf(market: RateMarket): Promise<DayRates> {
    const { rows, asOf } = this.#shown as Shown;
    const times = rows.map(({ observedAt }) => Date.parse(observedAt));
    const from = new Date(Math.min(...times) - (RATE_AGE_DAYS_MAX + 1) * DAY_MS);
    const to = new Date(Math.max(...times) + DAY_MS);
    const read = async (days: { readonly from?: Date; readonly to?: Date }) => {
      const reading = asOf === null ? null : new AsOfReading<PublicObservation>(asOf);
      const rates: PublicObservation[] = [];
      for await (const row of this.#tidemark.history(market.slug, days)) {
        if (reading === null ? row.supersededBy === null : reading.add(row)) rates.push(row);
      }
      return new DayRates(market, rates);
    };
    const ofDays = await read({ from, to });
    // A market without a rate of these days may have others: then it is a way.
    return ofDays.isEmpty ? await read({}) : ofDays;
  }
}

/** A table in which each row says the same would be long, and say no more. */
function nothingOf(currency: string, converted: readonly (readonly [PublicObservation, Conversion])[]): HTMLElement {
  const reasons = new Set(converted.map(([row, { reason }]) => reasonText(row, reason as NotConverted)));
  return element(
    'p',
    { class: 'notice' },
    `None of these prices can be shown in ${currency}: ${[...reasons].join('; ')}.`,
  );
}

function resultOf(
  market: Market,
  currency: string,
  converted: readonly (readonly [PublicObservation, Conversion])[],
  asOf: AsOf | null,
): readonly HTMLElement[] {
  const words = new RowWords(market.unit);
  const caption = element('caption', { class: 'visually-hidden' }, `Newest prices in ${currency}, derived`);
  const heads = ['Observed', `In ${currency}`, 'Price', 'Rate', 'Sources: of the price, of the rate'];
  const body = converted.map(([row, conversion]) =>
    element(
      'tr',
      {},
      element('td', {}, timeElement(row.observedAt)),
      derivedCell(market, row, conversion),
      element('td', { class: 'number value' }, words.value(row)),
      rateCell(conversion),
      element(
        'td',
        { class: 'source' },
        outsideLink(row.sourceLabel, row.sourceUrl),
        ...conversion.used.flatMap(({ row: rate }) => [', ', outsideLink(rate.sourceLabel, rate.sourceUrl)]),
      ),
    ),
  );
  const table = tableBox(
    `Newest prices in ${currency}`,
    { class: 'converted', heads, caption },
    element('tbody', {}, ...body),
  );
  // A phone shows each row as a card, and a browser then forgets that it is one.
  for (const [parts, role] of Object.entries(ROLES))
    for (const part of table.querySelectorAll(parts)) part.setAttribute('role', role);
  return [
    element(
      'p',
      {},
      badge('derived', 'notice'),
      ` Prices ${unitText(market.unit)}, by the newest rate of the same day (UTC), at most ${RATE_AGE_DAYS_MAX} days older. Exact,`,
      ' then rounded half to even. Made on this page: the service does not store or sign it. The whole history: ',
      element('code', {}, commandOf(market.slug, currency, asOf)),
    ),
    table,
  ];
}

function commandOf(slug: string, currency: string, asOf: AsOf | null): string {
  const moment = asOf === null ? '' : ` --as-of ${instantOfMs(asOf.atMs)}`;
  const clock = asOf?.clock === 'released' ? ' --by-release' : '';
  return `tidemark markets history ${slug} --in ${currency} --csv${moment}${clock}`;
}

function derivedCell({ unit }: Market, row: PublicObservation, { decimal, reason, currency }: Conversion): HTMLElement {
  if (decimal === null) {
    return element('td', { class: 'unknown' }, reasonText(row, reason as NotConverted));
  }
  return element('td', { class: 'number value' }, `${groupedDigits(shownAmount(decimal, unit.quantity))} ${currency}`);
}

function reasonText({ unknownReason, retraction }: PublicObservation, reason: NotConverted): string {
  return retraction === null ? REASONS[reason] : unknownWords(unknownReason, retraction);
}

/** Empty for a rate that is final and of high confidence. */
function doubtOf({ status, confidence }: PublicObservation): string {
  return `${status === 'final' ? '' : `, ${status}`}${confidence === 'high' ? '' : `, ${confidence} confidence`}`;
}

function rateCell({ rate, used }: Conversion): HTMLElement {
  const links = used.flatMap(({ market, row }) => [
    ' ',
    element('a', { href: marketAddress(market.slug) }, market.slug),
    ` of ${dayText(row.observedAt)}${doubtOf(row)}`,
  ]);
  return element('td', { class: 'source' }, element('span', { class: 'number' }, rate ?? ''), ...links);
}
