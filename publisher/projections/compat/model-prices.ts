/** Prices of language models in the layout of LiteLLM's map: today's, and those at the end of each day with a change. Pure. */
import { MODEL_KIND } from '../../../contract/bodies/compat-limits.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { statedPerUnit } from '../../../contract/values/money/money.ts';
import { isShowable } from '../../../contract/values/showable.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';

/** Our metrics and attributes, with their names in that layout. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  inputPrice: ['input_cost_per_token'],
  outputPrice: ['output_cost_per_token'],
  cacheReadPrice: ['cache_read_input_token_cost'],
  cacheWritePrice: ['cache_creation_input_token_cost'],
  contextWindow: ['max_input_tokens'],
  maxOutput: ['max_output_tokens', 'max_tokens'],
};
const FACTS = { litellm_provider: 'provider', mode: 'mode', deprecation_date: 'deprecationDate' } as const;

/** Facts of a model, by the names of the layout. */
export type ModelFacts = { readonly [Name in keyof typeof FACTS]?: string };

/** A number that is valid from a day on. Null: unknown, or no longer listed. */
interface Change {
  readonly day: string;
  readonly model: string;
  readonly field: string;
  /** The exact digits of the price of one token. */
  readonly digits: string | null;
}

/** All changes of a model, oldest first. */
export interface ModelHistory {
  readonly model: string;
  readonly facts: ModelFacts;
  readonly changes: readonly Change[];
}

/** The fields of a market that the files need. */
export type ModelMarket = Pick<
  Market,
  'attributes' | 'history' | 'kind' | 'name' | 'revision' | 'slug' | 'sources' | 'unit'
>;

/** Whether the files can show the market. */
export function isModel({ kind, unit }: Pick<Market, 'kind' | 'unit'>): boolean {
  return kind === MODEL_KIND && unit.of === 'token';
}

export class ModelPrices {
  readonly #changes: Change[] = [];
  readonly #facts = new Map<string, ModelFacts>();
  readonly #markets = new Map<string, number>();
  readonly #attributions = new Set<string>();

  /** If two markets have the same name, the first one counts. */
  add({ attributes = {}, name, revision, slug, sources }: Omit<ModelMarket, 'unit'>, numbers: ModelNumbers): void {
    this.#markets.set(slug, revision);
    for (const { attribution } of sources) if (attribution !== null) this.#attributions.add(attribution);
    if (this.#facts.has(name)) return;
    this.#facts.set(name, factsOf(attributes));
    for (const change of numbers.changes) this.#changes.push(change);
  }

  /** Each day with a change, and these others, oldest first. */
  *days(others: readonly string[] = []): Generator<ModelDay> {
    const byDay = Map.groupBy(this.#changes, ({ day }) => day);
    const state = new Map<string, Map<string, string>>();
    let digest = '';
    for (const day of [...new Set([...byDay.keys(), ...others])].sort()) {
      const changes = (byDay.get(day) ?? []).sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
      for (const { model, field, digits } of changes) {
        const fields = state.get(model) ?? new Map<string, string>();
        if (digits === null) fields.delete(field);
        else fields.set(field, digits);
        if (fields.size === 0) state.delete(model);
        else state.set(model, fields);
      }
      const lines = changes.map((change) => `${placeOf(change)} ${change.digits}`);
      const hasChange = lines.length > 0;
      if (hasChange) digest = sha256Hex([digest, ...lines].join('\n')).slice(0, 16);
      yield { day, hasChange, digest, textWith: (factsOfModel) => textOf(state, factsOfModel) };
    }
  }

  /** Sorted by the names of the models. */
  get histories(): readonly ModelHistory[] {
    const byModel = Map.groupBy(this.#changes, ({ model }) => model);
    return [...byModel.keys()].sort().map((model) => {
      return { model, facts: this.factsOf(model), changes: byModel.get(model) as readonly Change[] };
    });
  }

  readonly factsOf = (model: string): ModelFacts => this.#facts.get(model) ?? {};

  /** @param days the days, with their digests */
  indexText(days: Readonly<Record<string, string>>): string {
    const markets = Object.fromEntries([...this.#markets].sort());
    return canonicalJson({ days, markets, attributions: [...this.#attributions].sort() });
  }
}

export interface ModelDay {
  readonly day: string;
  readonly hasChange: boolean;
  /** Covers all changes up to the day. */
  readonly digest: string;
  /** Writes the file of the day. With thousands of models this is slow: call it only if it is needed, before the next day. */
  readonly textWith: (factsOf: (model: string) => ModelFacts) => string;
}

const placeOf = ({ model, field }: Change): string => `${JSON.stringify(model)} ${field}`;

function factsOf(attributes: NonNullable<Market['attributes']>): ModelFacts {
  const facts = Object.entries(FACTS).flatMap(([name, attribute]) => {
    const value = attributes[attribute]?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(facts);
}

/** Receives the history of a model, newest first. Keeps the newest standing number of each day and metric. */
export class ModelNumbers {
  readonly #market: Pick<ModelMarket, 'name' | 'unit'>;
  readonly #seen = new Set<string>();
  readonly #newestFirst: Change[] = [];

  constructor(market: Pick<ModelMarket, 'name' | 'unit'>) {
    this.#market = market;
  }

  addAll(rows: readonly PublicObservation[]): boolean {
    const { name: model, unit } = this.#market;
    for (const row of rows) {
      const fields = Object.hasOwn(NUMBERS, row.metric) ? NUMBERS[row.metric] : undefined;
      if (fields === undefined || !isShowable(row) || !isOfLayout(row)) continue;
      const day = millisecondInstant(row.observedAt).slice(0, '2026-11-22'.length);
      if (this.#seen.has(`${day} ${row.metric}`)) continue;
      this.#seen.add(`${day} ${row.metric}`);
      const digits = row.kind === 'money' ? pricePerToken(row, unit.quantity) : row.value;
      for (const field of fields) this.#newestFirst.push({ day, model, field, digits });
    }
    return true;
  }

  /** The numbers that differ from the one before, oldest first. */
  get changes(): readonly Change[] {
    const last = new Map<string, string | null>();
    return this.#newestFirst.toReversed().filter(({ field, digits }) => {
      if ((last.get(field) ?? null) === digits) return false;
      last.set(field, digits);
      return true;
    });
  }
}

/** The digits of the source, if minor units could not hold them. */
function pricePerToken(row: Extract<PublicObservation, { kind: 'money' }>, quantity: number): string | null {
  const { amountMinor, decimalPerUnit, minorDigits, rounded, sourceValue } = row;
  if (!rounded || amountMinor === null || sourceValue === null) return decimalPerUnit;
  return statedPerUnit(amountMinor, sourceValue, minorDigits, quantity) ?? decimalPerUnit;
}

/** That layout knows only US dollars and tokens. */
function isOfLayout(row: PublicObservation): boolean {
  const isPrice = row.metric.endsWith('Price');
  return row.kind === 'money' ? isPrice && row.currency === 'USD' : !isPrice && row.unit === 'token';
}

/** A number keeps up to 15 significant digits exactly (IEEE 754), and is written as in canonical JSON: `7.5e-8`. */
function textOf(state: ReadonlyMap<string, ReadonlyMap<string, string>>, factsOfModel: (model: string) => ModelFacts) {
  const models = [...state].map(([model, fields]) => {
    const numbers = [...fields].map(([field, digits]) => [field, Number(digits)] as const);
    return [model, { ...Object.fromEntries(numbers), ...factsOfModel(model) }] as const;
  });
  return canonicalJson(Object.fromEntries(models));
}
