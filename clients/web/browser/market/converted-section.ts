/** The price of a market in another currency: derived in the browser from rates of the same service, when it is asked for. */

import { dayText } from '../../../../contract/values/instants.ts';
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { unknownWords } from '../../../../contract/values/metric-words.ts';
import { groupedDigits } from '../../../../contract/values/money/decimal-text.ts';
import { shownAmount, unitText } from '../../../../contract/values/shown-value.ts';
import { type AsOf, rowsAt } from '../../../typescript/as-of.ts';
import {
  type Conversion,
  convert,
  currenciesFrom,
  DayRates,
  type NotConverted,
  RATE_AGE_DAYS_MAX,
  type RateMarket,
  rateMarkets,
  readRates,
} from '../../../typescript/conversion.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { walkEntries } from '../../../typescript/walks.ts';
import { BASE_URL, marketAddress } from '../base-url.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { PublicAnswers } from '../history/public-answers.ts';
import { badge, button, dom, element, facts, outsideLink } from './elements.ts';
import { RowWords } from './row-words.ts';

const DAY_MS = 86_400_000;

const REASONS: Readonly<Record<NotConverted, string>> = {
  'value-unknown': 'the price is unknown',
  'not-money': 'it is no price',
  'not-standing': 'the price was replaced',
  'no-rate': 'the service has no such rate',
  'no-rate-of-day': `no rate of that day, or of the ${RATE_AGE_DAYS_MAX} days before`,
  'rate-unknown': 'the newest rate of that day is unknown',
};

interface Shown {
  readonly market: Market;
  readonly row: PublicObservation;
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
  /** Of what is shown, or is being made. */
  #key = '';

  /** @param onChoose a currency; null: none */
  constructor(onChoose: (currency: string | null) => void) {
    this.#select.addEventListener('change', () => {
      onChoose(this.#select.value === '' ? null : this.#select.value);
      void this.#convert();
    });
  }

  /** @param row of the price that the page shows. @param currency that the address asks for */
  show(market: Market, row: PublicObservation | undefined, asOf: AsOf | null, currency: string | null): void {
    this.#shown = row?.kind === 'money' ? { market, row, asOf } : null;
    if (this.#shown === null) {
      this.#key = '';
      this.#result.replaceChildren();
      return;
    }
    if (this.root.childElementCount === 0) {
      const heading = dom`<h2 id="converted-heading">In another currency</h2>`;
      this.root.append(heading, dom`<p>${this.#begin}</p>`, this.#said, this.#result);
    }
    if (this.#isOffered) {
      this.#select.value = currency ?? '';
      void this.#convert();
    } else if (currency !== null) void this.#offer(currency);
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
    const markets = await new PublicAnswers().found((files) => rateMarkets(walkEntries(files))).catch(() => null);
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
    this.#begin.replaceWith(dom`<label class="choice row small">Currency ${this.#select}</label>`);
    this.#isOffered = true;
    if (currency === null) return this.#select.focus();
    this.#select.value = currency;
    if (this.#select.value === currency) return await this.#convert();
    this.#select.value = '';
    this.#said.textContent = `No market of this service has a rate from ${nativeCurrency} to ${currency}.`;
  }

  async #convert(): Promise<void> {
    if (this.#shown === null) return;
    const { market, row, asOf } = this.#shown;
    const currency = this.#select.value;
    const key = JSON.stringify([currency, asOf, row.id]);
    if (key === this.#key) return;
    this.#key = key;
    let [parts, said]: [readonly HTMLElement[], string] = [[], ''];
    try {
      if (currency !== '') {
        const read = (rate: RateMarket) => this.#ratesOf(rate);
        const { ways, rates } = await readRates(this.#markets, market.nativeCurrency, currency, read);
        const isNative = row.kind === 'money' && row.currency === market.nativeCurrency;
        parts = partsOf({ market, row, asOf }, convert(row, currency, isNative ? ways : [], rates, asOf));
      }
    } catch {
      said = 'The rates could not be read. Choose the currency again.';
    }
    if (this.#key !== key) return;
    if (said !== '') this.#key = '';
    this.#result.replaceChildren(...parts);
    this.#said.textContent = said;
  }

  /** Of the days that count, and as of the moment that is shown. */
  async #ratesOf(market: RateMarket): Promise<DayRates> {
    const { row, asOf } = this.#shown as Shown;
    const atMs = Date.parse(row.observedAt);
    const days = { from: new Date(atMs - (RATE_AGE_DAYS_MAX + 1) * DAY_MS), to: new Date(atMs + DAY_MS) };
    const read = async (range: Partial<typeof days>) =>
      new DayRates(market, await rowsAt(this.#tidemark.history(market.slug, range), asOf));
    const ofDays = await read(days);
    // A market without a rate of these days may have others: then it is a way.
    return ofDays.isEmpty ? await read({}) : ofDays;
  }
}

/** The price with its rates and both sources, or why there is no such price. */
function partsOf({ market: { slug, unit }, row, asOf }: Shown, conversion: Conversion): readonly HTMLElement[] {
  const { decimal, reason, currency, rate, used } = conversion;
  if (decimal === null) {
    const because =
      row.retraction === null ? REASONS[reason as NotConverted] : unknownWords(row.unknownReason, row.retraction);
    return [dom`<p class="notice">This price cannot be shown in ${currency}: ${because}.</p>`];
  }
  const rates = used.map(({ market, row }) => [
    dom`<span>, <a href="${marketAddress(market.slug)}">${market.slug}</a></span>`,
    ` of ${dayText(row.observedAt)}${doubtOf(row)}`,
  ]);
  const sources = [row, ...used.map((one) => one.row)].map(({ sourceLabel, sourceUrl }, at) => [
    at === 0 ? null : ', ',
    outsideLink(sourceLabel, sourceUrl),
  ]);
  const amount = `${groupedDigits(shownAmount(decimal, unit.quantity))} ${currency}`;
  return [
    dom`<p><strong class="number">${amount}</strong> ${unitText(unit)} ${badge('derived', 'notice')}</p>`,
    facts([
      ['Price', `${new RowWords(unit).value(row)} of ${dayText(row.observedAt)}`],
      ['Rate', [dom`<span class="number">${rate}</span>`, rates]],
      ['Sources', sources],
    ]),
    dom`<p class="small soft">By the newest rate of the same day (UTC), at most ${RATE_AGE_DAYS_MAX} days older. Exact, then
rounded half to even. Made on this page: the service does not store or sign it. The whole history:
<code>${commandOf(slug, currency, asOf)}</code></p>`,
  ];
}

function commandOf(slug: string, currency: string, asOf: AsOf | null): string {
  const moment = asOf === null ? '' : ` --as-of ${instantOfMs(asOf.atMs)}`;
  const clock = asOf?.clock === 'released' ? ' --by-release' : '';
  return `tidemark markets history ${slug} --in ${currency} --csv${moment}${clock}`;
}

/** Empty for a rate that is final and of high confidence. */
function doubtOf({ status, confidence }: PublicObservation): string {
  return `${status === 'final' ? '' : `, ${status}`}${confidence === 'high' ? '' : `, ${confidence} confidence`}`;
}
