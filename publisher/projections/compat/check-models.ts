/** Checks the files of model prices by the histories that they follow from. */
import { compatModelsIndexSchema, compatModelsSchema } from '../../../contract/bodies/compat.ts';
import { publicPath } from '../../../contract/files/public-objects.ts';
import { checkAnswer } from '../../verify/check-body.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';
import { genaiText } from './genai-prices.ts';
import { type ModelFacts, ModelPrices } from './model-prices.ts';
import { GENAI_PRICES, modelsName } from './names.ts';

export class ModelCheck {
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
