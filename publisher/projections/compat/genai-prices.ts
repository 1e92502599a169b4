/** Prices of language models in the layout of the package genai-prices, each with its first day. Pure. */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { ModelHistory } from './model-prices.ts';

/** US dollars for a million tokens. */
const PRICES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input_mtok',
  output_cost_per_token: 'output_mtok',
  cache_read_input_token_cost: 'cache_read_mtok',
  cache_creation_input_token_cost: 'cache_write_mtok',
};

/** A pattern that matches nothing, because the URLs of providers are unknown. */
const NO_URL = '(?!)';

type Prices = { [name: string]: number };

/** Models without a known provider are left out: the layout has no place for them. */
export function genaiText(histories: readonly ModelHistory[]): string {
  const byProvider = Map.groupBy(histories, ({ facts }) => facts.litellm_provider ?? '');
  byProvider.delete('');
  const providers = [...byProvider].sort(([one], [other]) => (one < other ? -1 : 1));
  return canonicalJson(providers.map(([id, models]) => providerOf(id, models)) as unknown as Json);
}

function providerOf(id: string, models: readonly ModelHistory[]) {
  const shown = models.map((model) => modelOf(id, model));
  const named = shown.flatMap(({ match }) => match.or);
  return { id, name: id, api_pattern: NO_URL, model_match: { or: named }, models: shown };
}

/** The package compares names in lower case. A name of LiteLLM may begin with the provider's name. */
function modelOf(provider: string, { model, changes }: ModelHistory) {
  const short = model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
  const names = [...new Set([short, model])].map((name) => ({ equals: name.toLowerCase() }));
  const windows = changes.filter(({ field }) => field === 'max_input_tokens');
  const window = windows.at(-1)?.digits ?? null;
  return {
    id: short,
    name: model,
    match: { or: names },
    ...(window !== null && { context_window: Number(window) }),
    prices: pricesOf(changes),
  };
}

/** Oldest first. The first price has no condition, because the package uses it if no other condition holds. */
function pricesOf(changes: ModelHistory['changes']) {
  const byDay = Map.groupBy(changes, ({ day }) => day);
  const all: { readonly constraint?: { readonly start_date: string }; readonly prices: Prices }[] = [];
  let prices: Prices = {};
  for (const [day, ofDay] of [...byDay].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const named = ofDay.flatMap(({ field, digits }) => {
      const name = PRICES[field];
      return name === undefined ? [] : [{ name, digits }];
    });
    if (named.length === 0) continue;
    prices = { ...prices };
    for (const { name, digits } of named) {
      if (digits === null) delete prices[name];
      else prices[name] = perMillion(digits);
    }
    all.push(all.length === 0 ? { prices } : { constraint: { start_date: day }, prices });
  }
  return all;
}

/** Computed from the digits: multiplying floating-point numbers would change them. */
function perMillion(digits: string): number {
  return Number(`${digits}e6`);
}
