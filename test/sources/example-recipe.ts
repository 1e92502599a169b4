/** A small recipe for tests: gold and silver, each day. */
import type { Json } from '../../contract/values/canonical-json.ts';

type JsonObject = { [name: string]: Json };

export const EXAMPLE_RECIPE: JsonObject = {
  name: 'metals',
  description: 'Metals, each day.',
  url: 'https://metals.test.example/daily.csv',
  hosts: ['metals.test.example'],
  schedule: { at: ['16:30'], timeZone: 'UTC' },
  licence: 'CC0-1.0',
  mapping: {
    match: ['metal'],
    tables: [{ key: '{metal}', columns: ['metalName'], rows: { gold: ['Gold'], silver: ['Silver'] } }],
    market: {
      slug: '{metal}-usd',
      name: '{metalName}, US dollar',
      kind: 'metal',
      nativeCurrency: 'USD',
      unit: { quantity: '1', of: 'troy ounce' },
      sources: [{ label: 'Metals', url: 'https://metals.test.example/', publisher: 'Metals', licence: 'CC0-1.0' }],
    },
    observation: {
      value: { column: 'price', quotedQuantity: '1', rounding: 'nearest', blank: { unknownReason: 'not-published' } },
      currency: 'USD',
      date: { column: 'day', format: 'YYYY-MM-DD', precision: 'day' },
      sourceLabel: 'Metals',
      sourceUrl: 'https://metals.test.example/',
      confidence: 'high',
      status: 'final',
    },
  },
};

export function recipeWith(change: JsonObject): JsonObject {
  return { ...EXAMPLE_RECIPE, ...change };
}

/** The file of the recipe: `[metal, day, price]`. */
export function metalsCsv(...rows: readonly (readonly [metal: string, day: string, price: string])[]): Uint8Array {
  return Buffer.from(['metal,day,price', ...rows.map((row) => row.join(',')), ''].join('\n'));
}

interface ListChanges {
  readonly recipe?: JsonObject;
  readonly market?: JsonObject;
  readonly observation?: JsonObject;
}

/** The recipe of a list of prices: an object of models, each with its price as `in`. A value is gone after so many fetches. */
export function listRecipe(goneAfter: number, { recipe = {}, market, observation }: ListChanges = {}): JsonObject {
  const { url = 'https://metals.test.example/prices.json' } = recipe;
  return recipeWith({
    ...recipe,
    url,
    list: { goneAfter },
    mapping: {
      json: { rows: '', name: 'model' },
      match: ['model'],
      market: {
        ...{ slug: '{model}', name: '{model}', kind: 'language-model', nativeCurrency: 'USD' },
        unit: { quantity: 'exact', atLeast: '1', of: 'token' },
        ...market,
      },
      observation: {
        value: { column: 'in', quotedQuantity: '1', rounding: 'refuse', blank: 'leave-out' },
        currency: 'USD',
        date: { column: 'fetchedAt', format: 'YYYY-MM-DDTHH:mm:ss.SZ', precision: 'instant' },
        ...{ sourceLabel: 'List', sourceUrl: url, confidence: 'high', status: 'final' },
        ...observation,
      },
    },
  });
}
