/**
 * Compares the files for other programs with histories and list. They are made once a day, and each section names its
 * revision. By the bodies, only a section of the present revision can be compared; by the log, every section.
 */
import {
  type CompatRate,
  compatCurrenciesSchema,
  compatModelsIndexSchema,
  compatModelsSchema,
  compatRatesSchema,
} from '../../../contract/bodies/compat.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicPath } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import { checkAnswer } from '../../verify/check-body.ts';
import { DAILY_MS, SLACK_MS } from '../../verify/log/past-market.ts';
import type { CheckContext, CheckedMarket, ProjectionCheck } from '../../verify/projection-check.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';
import { commodityOf } from './commodity.ts';
import { genaiText } from './genai-prices.ts';
import { type ModelFacts, ModelPrices } from './model-prices.ts';
import { GENAI_PRICES, modelsName, ratesName } from './names.ts';
import { Pairs, rateValue } from './pairs.ts';
import { type RatesMade, rateFiles } from './rates.ts';
import { PARTS_URL, PartReader } from './read-parts.ts';

/** If there is no rate, the list of currencies is empty. */
const NO_RATES: RatesMade = { date: 'latest', generation: 0, log: null };

export async function checkCompat(context: CheckContext): Promise<ProjectionCheck> {
  const parts = await PartReader.open(context);
  if (parts.index === null) return context.log === null ? {} : missing(context);
  return new CompatCheck(context, parts, parts.index, await ModelCheck.open(context));
}

/** The check of a service that has not made these files yet. */
function missing({ findings, isStated, log }: CheckContext): ProjectionCheck {
  return {
    async market({ shown, past }) {
      const isLate = shown !== null && past?.isLateIfMissing({ nowMs: log?.nowMs ?? null, mostMs: DAILY_MS });
      if (isLate && isStated('compat'))
        findings.add(PARTS_URL, 'not-in-log', 'is missing, and the log says that compat is published');
    },
  };
}

class CompatCheck implements ProjectionCheck {
  readonly #context: CheckContext;
  readonly #parts: PartReader;
  /** The part of each market that has files. */
  readonly #index: ReadonlyMap<string, string>;
  readonly #models: ModelCheck | null;
  /** The pairs of the markets, as their sections show them. */
  readonly #pairs = new Pairs();
  /** Which sections use the currency code of their pair, with the URL of the file and the slug. */
  readonly #named: { readonly url: string; readonly slug: string; readonly isFirst: boolean }[] = [];
  /** Markets that were compared. */
  readonly #seen = new Set<string>();
  #isWhole = true;

  constructor(context: CheckContext, parts: PartReader, index: ReadonlyMap<string, string>, models: ModelCheck | null) {
    this.#context = context;
    this.#parts = parts;
    this.#index = index;
    this.#models = models;
  }

  get #lateness() {
    return { nowMs: this.#context.log?.nowMs ?? null, mostMs: DAILY_MS };
  }

  readonly market = async ({ slug, shown: current, removal, past }: CheckedMarket): Promise<void> => {
    // A market that is newer than the files is not in them yet.
    if (!this.#index.has(slug)) {
      const isLate = removal === null && past?.isLateIfMissing(this.#lateness) === true;
      if (isLate && this.#context.isStated('compat')) this.#add(PARTS_URL, `lacks ${slug}`);
      return;
    }
    const { nowMs, mostMs } = this.#lateness;
    // The next daily run removes the sections of a removed market.
    if (removal !== null && nowMs !== null && nowMs - Date.parse(removal.removedAt) > mostMs)
      this.#add(PARTS_URL, `has ${slug}, and the market was removed`);
    this.#seen.add(slug);
    /** Null: the market's state at that revision is unknown. */
    const statesAt = (revision: number) =>
      current?.revision === revision ? [current] : past === null ? null : past.at(revision);
    const ofModels = this.#models?.shownRevision(slug);
    const [model] = (ofModels === undefined ? null : statesAt(ofModels)) ?? [];
    if (model !== undefined) this.#models?.add(model);
    let shown: Market | null = null;
    for (const [index, { url, read }] of (await this.#parts.sectionsOf(slug)).entries()) {
      const states = read === undefined ? [] : statesAt(read.revision);
      if (states === null) continue;
      const right = await this.#fitting(states, (digests) => digests[index] === read?.digest);
      if (right === null || read === undefined) {
        this.#add(url, `has other prices of ${slug} than its history gives`);
        continue;
      }
      shown = right.state.market;
      const { isFirst, state } = right;
      if (isFirst !== null) this.#named.push({ url, slug, isFirst });
      if (state !== current && past?.isLate(read.revision, state.market.updatedAt, this.#lateness))
        this.#context.findings.add(url, 'time', `still shows revision ${read.revision} of ${slug}`);
    }
    if (shown === null) this.#isWhole = false;
    else this.#pairs.add(shown);
  };

  /** The state of the market from which this section was made. Null: it follows from none of these states. */
  async #fitting(states: readonly ShownMarket[], isRight: (digests: readonly string[]) => boolean) {
    for (const state of states) {
      const right = (await this.#parts.expected(state)).filter(({ digests }) => isRight(digests));
      // Quotes do not name a commodity, so both forms are the same.
      const isNamed = right.length === 1 && commodityOf(state.market, true) !== commodityOf(state.market, false);
      if (right.length > 0) return { state, isFirst: isNamed ? (right[0]?.isFirst ?? null) : null };
    }
    return null;
  }

  /** Checks the files that lead to the parts, those of models, and the rates. */
  readonly end = async (): Promise<void> => {
    const { log, share } = this.#context;
    await this.#parts.checkIndex();
    await this.#models?.end();
    const left = [...this.#index.keys()].filter((slug) => !this.#seen.has(slug));
    if (log !== null) for (const slug of left) this.#add(PARTS_URL, `has ${slug}, and the log has no such market`);
    for (const part of log === null ? [] : new Set(this.#index.values())) {
      for (const slug of await this.#parts.slugsOf(part))
        if (!this.#index.has(slug)) this.#add(PARTS_URL, `leaves out ${slug} of part ${part}`);
    }
    const isWhole = log !== null || (this.#isWhole && left.length === 0);
    const { first } = this.#pairs;
    for (const { url, slug, isFirst } of isWhole ? this.#named : [])
      if (first.has(slug) !== isFirst)
        this.#add(url, `names the commodity of ${slug} as if another market gave the price of its pair`);
    const { reader, findings } = this.#context;
    const url = publicPath(ratesName('latest', 'currencies'));
    const currencies = checkAnswer(findings, url, await reader(url), compatCurrenciesSchema);
    let made: RatesMade | null = NO_RATES;
    for (const [index, code] of Object.keys(currencies?.value ?? {}).entries()) {
      if (index % share.of === share.index)
        made = await this.#checkRates(ratesName('latest', `currencies/${code}`), code);
    }
    if (made === null || !isWhole) return;
    for (const { name, text } of rateFiles(this.#pairs.rates, made, []).files) {
      const { status, body } = await reader(publicPath(name));
      if (status === 200 && Buffer.from(text).equals(body)) continue;
      this.#add(publicPath(name), `answers ${status}, or has other markets or prices than it should`);
    }
  };

  /** Checks that each rate follows from its price. Returns day, generation and log that the file states. */
  async #checkRates(name: PublicObjectName, code: string): Promise<RatesMade | null> {
    const { reader, findings, log } = this.#context;
    const url = publicPath(name);
    const answer = checkAnswer(findings, url, await reader(url), compatRatesSchema);
    if (answer === null) return null;
    const { date, derived } = answer.value;
    const rates: Readonly<Record<string, number>> = answer.value[code] ?? {};
    const named = Object.entries(derived.rates);
    if (Object.keys(rates).length !== named.length + 1) this.#add(url, 'has rates without a price');
    for (const [quote, rate] of named) {
      if (rates[quote] !== derivedRate(rate))
        findings.add(url, 'amount', `the rate of ${quote} is not that of its price`);
    }
    const { generation, log: logged } = derived;
    const made = { date, generation, log: logged };
    if (log === null) return made;
    const ageMs = log.nowMs === null ? 0 : log.nowMs - Date.parse(date);
    if (ageMs < -SLACK_MS || ageMs > DAILY_MS) findings.add(url, 'time', `is of ${date}`);
    if (logged !== null) {
      const { size, root } = logged;
      const found = size > log.walk.size ? null : (await log.walk.rootAt(size)).toString('base64');
      if (found !== root) this.#add(url, `names a log of ${size} entries that is not this one`);
    }
    return made;
  }

  #add(url: string, detail: string): void {
    this.#context.findings.add(url, this.#context.rule, detail);
  }
}

function derivedRate({ decimal, currency, quantity, isInverse }: CompatRate): number {
  const { decimalPerUnit } = moneyTexts(Number(decimal.replace('.', '')), currency, quantity);
  return rateValue({ decimal, decimalPerUnit }, quantity, isInverse);
}

class ModelCheck {
  readonly #context: CheckContext;
  /** The revisions that the files show, by slug. */
  readonly #shown: Readonly<Record<string, number>>;
  readonly #index: string;
  readonly #markets: ShownMarket[] = [];

  private constructor(context: CheckContext, index: string, shown: Readonly<Record<string, number>>) {
    this.#context = context;
    this.#index = index;
    this.#shown = shown;
  }

  /** Null: the service has no such files. */
  static async open(context: CheckContext): Promise<ModelCheck | null> {
    const url = publicPath(modelsName('index'));
    const answer = await context.reader(url);
    if (answer.status === 404) return null;
    const index = checkAnswer(context.findings, url, answer, compatModelsIndexSchema);
    return index === null ? null : new ModelCheck(context, index.text, index.value.markets);
  }

  /** The revision of the market that the files show. Undefined: they do not show the market. */
  shownRevision(slug: string): number | undefined {
    return Object.hasOwn(this.#shown, slug) ? this.#shown[slug] : undefined;
  }

  /** Adds a market at the revision that the files show. */
  add(market: ShownMarket): void {
    this.#markets.push(market);
  }

  /**
   * If a market has changed since the files were made, or was not read, the files are read but not compared with the
   * histories.
   */
  async end(): Promise<void> {
    const { reader, findings, rule } = this.#context;
    const prices = new ModelPrices();
    for (const { market, observations } of this.#markets.sort((one, other) => (one.slug < other.slug ? -1 : 1)))
      prices.add(market, observations);
    if (this.#markets.length !== Object.keys(this.#shown).length) {
      const { days } = compatModelsIndexSchema.parse(JSON.parse(this.#index));
      for (const file of [...Object.keys(days), 'latest']) await this.#read(file);
      await reader(publicPath(GENAI_PRICES));
      return;
    }
    const digests: Record<string, string> = {};
    let newest: string | null = null;
    for (const { day, digest, textWith } of prices.days()) {
      digests[day] = digest;
      newest = textWith(prices.factsOf);
      const read = await this.#read(day);
      // The file shows the facts from the day on which it was made.
      if (read !== null && read.text !== textWith((model) => read.facts[model] ?? {})) this.#differs(day);
    }
    if (prices.indexText(digests) !== this.#index) this.#differs('index');
    const latest = await this.#read('latest');
    const genai = await reader(publicPath(GENAI_PRICES));
    if (!Buffer.from(genaiText(prices.histories)).equals(genai.body))
      findings.add(publicPath(GENAI_PRICES), rule, 'differs from the histories of the models');
    if (latest !== null && newest !== null && latest.text !== newest) this.#differs('latest');
  }

  async #read(
    file: string,
  ): Promise<{ readonly text: string; readonly facts: Readonly<Record<string, ModelFacts>> } | null> {
    const url = publicPath(modelsName(file));
    const answer = checkAnswer(this.#context.findings, url, await this.#context.reader(url), compatModelsSchema);
    if (answer === null) return null;
    const facts = Object.entries(answer.value).map(([model, { litellm_provider, mode, deprecation_date }]) => {
      const own = { litellm_provider, mode, deprecation_date };
      return [model, Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))] as const;
    });
    return { text: answer.text, facts: Object.fromEntries(facts) };
  }

  #differs(file: string): void {
    this.#context.findings.add(
      publicPath(modelsName(file)),
      this.#context.rule,
      'differs from the histories of the models',
    );
  }
}
