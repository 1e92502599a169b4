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
import { type PublicObjectName, publicPath } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import { checkAnswer } from '../../verify/check-body.ts';
import { DAILY_MS, SLACK_MS } from '../../verify/log/past-market.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';
import { commodityOf } from './commodity.ts';
import { genaiText } from './genai-prices.ts';
import { type ModelDay, type ModelFacts, ModelNumbers, ModelPrices } from './model-prices.ts';
import { GENAI_PRICES, modelsName, ratesName } from './names.ts';
import { Pairs, rateValue } from './pairs.ts';
import { type RatesMade, rateFiles } from './rates.ts';
import { openParts, PARTS_URL, type PartReader } from './read-parts.ts';

/** If there is no rate, the list of currencies is empty. */
const NO_RATES: RatesMade = { date: 'latest', generation: 0, log: null };

export async function checkCompat(context: CheckContext): Promise<ProjectionCheck> {
  const parts = await openParts(context);
  if (parts === null) return context.log === null ? {} : missing(context);
  return checkMade(context, parts, await openModels(context));
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

function checkMade(
  { reader, findings, rule, log, share, isStated }: CheckContext,
  parts: PartReader,
  models: ModelCheck | null,
): ProjectionCheck {
  const { index } = parts;
  /** The pairs of the markets, as their sections show them. */
  const pairs = new Pairs();
  /** Which sections use the currency code of their pair, with the URL of the file and the slug. */
  const named: { readonly url: string; readonly slug: string; readonly isFirst: boolean }[] = [];
  /** Markets that were compared. */
  const seen = new Set<string>();
  let areAllShown = true;
  const lateness = { nowMs: log?.nowMs ?? null, mostMs: DAILY_MS };
  const add = (url: string, detail: string) => findings.add(url, rule, detail);

  /** The state of the market from which this section was made. Null: it follows from none of these states. */
  const fitting = async (states: readonly ShownMarket[], isRight: (digests: readonly string[]) => boolean) => {
    for (const state of states) {
      const right = (await parts.expected(state)).filter(({ digests }) => isRight(digests));
      // Quotes do not name a commodity, so both forms are the same.
      const isNamed = right.length === 1 && commodityOf(state.market, true) !== commodityOf(state.market, false);
      if (right.length > 0) return { state, isFirst: isNamed ? (right[0]?.isFirst ?? null) : null };
    }
    return null;
  };

  /** Checks that each rate follows from its price. Returns day, generation and log that the file states. */
  const checkRates = async (name: PublicObjectName, code: string): Promise<RatesMade | null> => {
    const url = publicPath(name);
    const answer = checkAnswer(findings, url, await reader(url), compatRatesSchema);
    if (answer === null) return null;
    const { date, derived } = answer.value;
    const rates: Readonly<Record<string, number>> = answer.value[code] ?? {};
    const ofPrices = Object.entries(derived.rates);
    if (Object.keys(rates).length !== ofPrices.length + 1) add(url, 'has rates without a price');
    for (const [quote, rate] of ofPrices) {
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
      if (found !== root) add(url, `names a log of ${size} entries that is not this one`);
    }
    return made;
  };

  return {
    async market({ slug, shown: current, removal, past }) {
      // A market that is newer than the files is not in them yet.
      if (!index.has(slug)) {
        const isLate = removal === null && past?.isLateIfMissing(lateness) === true;
        if (isLate && isStated('compat')) add(PARTS_URL, `lacks ${slug}`);
        return;
      }
      const { nowMs, mostMs } = lateness;
      // The next daily run removes the sections of a removed market.
      if (removal !== null && nowMs !== null && nowMs - Date.parse(removal.removedAt) > mostMs)
        add(PARTS_URL, `has ${slug}, and the market was removed`);
      seen.add(slug);
      // Until that run, the entries that prove its section may be taken down.
      const isHidden = removal !== null && log !== null && log.walk.fold.takenDown > 0;
      /** Null: the market's state at that revision is unknown. */
      const statesAt = (revision: number) => {
        if (current?.revision === revision) return [current];
        const states = past?.at(revision) ?? null;
        return isHidden && states?.length === 0 ? null : states;
      };
      const ofModels = models?.shownRevision(slug);
      const [model] = (ofModels === undefined ? null : statesAt(ofModels)) ?? [];
      if (model !== undefined) models?.add(model);
      let shown: Market | null = null;
      for (const [place, { url, read }] of (await parts.sectionsOf(slug)).entries()) {
        const states = read === undefined ? [] : statesAt(read.revision);
        if (states === null) continue;
        const right = await fitting(states, (digests) => digests[place] === read?.digest);
        if (right === null || read === undefined) {
          add(url, `has other prices of ${slug} than its history gives`);
          continue;
        }
        shown = right.state.market;
        const { isFirst, state } = right;
        if (isFirst !== null) named.push({ url, slug, isFirst });
        if (state !== current && past?.isLate(read.revision, state.market.updatedAt, lateness))
          findings.add(url, 'time', `still shows revision ${read.revision} of ${slug}`);
      }
      if (shown === null) areAllShown = false;
      else pairs.add(shown);
    },

    /** Checks the files that lead to the parts, those of models, and the rates. */
    async end() {
      await parts.checkIndex();
      await models?.end();
      const left = [...index.keys()].filter((slug) => !seen.has(slug));
      if (log !== null) for (const slug of left) add(PARTS_URL, `has ${slug}, and the log has no such market`);
      for (const part of log === null ? [] : new Set(index.values())) {
        for (const slug of await parts.slugsOf(part))
          if (!index.has(slug)) add(PARTS_URL, `leaves out ${slug} of part ${part}`);
      }
      const isWhole = areAllShown && (log !== null || left.length === 0);
      const { first } = pairs;
      for (const { url, slug, isFirst } of isWhole ? named : [])
        if (first.has(slug) !== isFirst)
          add(url, `names the commodity of ${slug} as if another market gave the price of its pair`);
      const url = publicPath(ratesName('latest', 'currencies'));
      const currencies = checkAnswer(findings, url, await reader(url), compatCurrenciesSchema);
      let made: RatesMade | null = NO_RATES;
      for (const [place, code] of Object.keys(currencies?.value ?? {}).entries()) {
        if (place % share.of === share.index) made = await checkRates(ratesName('latest', `currencies/${code}`), code);
      }
      if (made === null || !isWhole) return;
      for (const { name, text } of rateFiles(pairs.rates, made, []).files) {
        const { status, body } = await reader(publicPath(name));
        if (status === 200 && Buffer.from(text).equals(body)) continue;
        add(publicPath(name), `answers ${status}, or has other markets or prices than it should`);
      }
    },
  };
}

function derivedRate({ decimal, currency, quantity, isInverse }: CompatRate): number {
  const { decimalPerUnit } = moneyTexts(Number(decimal.replace('.', '')), currency, quantity);
  return rateValue({ decimal, decimalPerUnit }, quantity, isInverse);
}

type ModelCheck = NonNullable<Awaited<ReturnType<typeof openModels>>>;

/** Null: the service has no files of models. */
async function openModels({ reader, findings, rule }: CheckContext) {
  const indexUrl = publicPath(modelsName('index'));
  const found = await reader(indexUrl);
  const index = found.status === 404 ? null : checkAnswer(findings, indexUrl, found, compatModelsIndexSchema);
  if (index === null) return null;
  /** The revisions that the files show, by slug. */
  const shown: Readonly<Record<string, number>> = index.value.markets;
  const markets: ShownMarket[] = [];

  const read = async (file: string) => {
    const url = publicPath(modelsName(file));
    const answer = checkAnswer(findings, url, await reader(url), compatModelsSchema);
    if (answer === null) return null;
    // The schema drops a model with the name `__proto__`.
    const models = Object.entries(JSON.parse(answer.text) as typeof answer.value);
    const facts = models.map(([model, { litellm_provider, mode, deprecation_date }]) => {
      const own = { litellm_provider, mode, deprecation_date };
      return [model, Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))] as const;
    });
    return { text: answer.text, facts: new Map<string, ModelFacts>(facts) };
  };
  const differs = (name: PublicObjectName) =>
    findings.add(publicPath(name), rule, 'differs from the histories of the models');

  return {
    /** The revision of the market that the files show. Undefined: they do not show the market. */
    shownRevision: (slug: string): number | undefined => (Object.hasOwn(shown, slug) ? shown[slug] : undefined),

    /** Adds a market at the revision that the files show. */
    add(market: ShownMarket): void {
      markets.push(market);
    },

    /**
     * If a market has changed since the files were made, or was not read, the files are read but not compared with the
     * histories.
     */
    async end(): Promise<void> {
      const prices = new ModelPrices();
      for (const { market, observations } of markets.sort((one, other) => (one.slug < other.slug ? -1 : 1))) {
        const numbers = new ModelNumbers(market);
        numbers.addAll(observations);
        prices.add(market, numbers);
      }
      if (markets.length !== Object.keys(shown).length) {
        for (const file of [...Object.keys(index.value.days), 'latest']) await read(file);
        await reader(publicPath(GENAI_PRICES));
        return;
      }
      const digests: Record<string, string> = {};
      let newest: ModelDay['textWith'] | null = null;
      for (const { day, digest, textWith } of prices.days()) {
        digests[day] = digest;
        newest = textWith;
        const ofDay = await read(day);
        // The file shows the facts from the day on which it was made.
        if (ofDay !== null && ofDay.text !== textWith((model) => ofDay.facts.get(model) ?? {}))
          differs(modelsName(day));
      }
      if (prices.indexText(digests) !== index.text) differs(modelsName('index'));
      const latest = await read('latest');
      const genai = await reader(publicPath(GENAI_PRICES));
      if (!Buffer.from(genaiText(prices.histories)).equals(genai.body)) differs(GENAI_PRICES);
      if (latest !== null && newest !== null && latest.text !== newest(prices.factsOf)) differs(modelsName('latest'));
    },
  };
}
