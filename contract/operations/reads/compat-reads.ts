/** The public reads in the forms of other programs: see docs/compat.md. */
import * as z from 'zod';
import {
  compatChangesSchema,
  compatCurrenciesSchema,
  compatGenaiSchema,
  compatModelsIndexSchema,
  compatModelsSchema,
  compatPartsSchema,
  compatQuotesSchema,
  compatRatesSchema,
  type MarketQuotes,
} from '../../bodies/compat.ts';
import { QUOTES_NOTE, RATES_NOTE } from '../../bodies/compat-limits.ts';
import { publicReads, textFile } from '../operation.ts';

const partParams = z.strictObject({
  part: z
    .string()
    .regex(/^[0-9a-f]{2}$/)
    .describe('The first two hexadecimal digits of the SHA-256 of a slug. `parts.json` names those that there are.'),
});
const dateSchema = z
  .union([z.literal('latest'), z.iso.date()])
  .describe('`latest`, or a day in UTC of the last weeks on which the service has made rates.');
const modelsParams = z.strictObject({
  date: z
    .union([z.literal('latest'), z.iso.date()])
    .describe('`latest`, or a day in UTC on which a number changed: `index.json` has them.'),
});
const ratesParams = z.strictObject({ date: dateSchema });
const codeParams = z.strictObject({
  date: dateSchema,
  code: z
    .string()
    .regex(/^[a-z]{3}$/)
    .describe('A code of ISO 4217 in lower case.'),
});
const pricesFile = (description: string) =>
  textFile(description, 'text/plain', 'UTF-8 text. Lines that begin with a semicolon are comments.');

const MADE_DAILY =
  'Made once a day, soon after midnight UTC. Not every deployment publishes it: see `projections` of the snapshot.';
const MODELS_TEXT = `Only for a service with markets of language models. ${MADE_DAILY}`;
const PRICES_TEXT =
  `The last price of each day in UTC, for one unit, exactly. A day without a known price is left out. ${MADE_DAILY} ` +
  'Of several markets for one pair of ISO 4217 codes, one has the code as its commodity, the others have their slugs. ' +
  'Where the decimals of a price for one unit do not end, a comment says so in its place.';
const INCLUDES_TEXT = `Paths are relative to this file. ${MADE_DAILY}`;
const INVERSE = 'The numbers are derived: floating-point numbers, also of inverse rates. There are no cross rates.';
const quotes: MarketQuotes = {
  name: 'Gold, US dollar',
  unit: 'troy ounce',
  currency: 'USD',
  price: 4129.1,
  date: '2026-09-29',
  quotes: [
    { date: '2026-09-28', close: 4198.34 },
    { date: '2026-09-29', close: 4129.1 },
  ],
  derived: QUOTES_NOTE,
  market: '/api/v1/markets/gold-usd',
  revision: 57,
  sources: [
    {
      label: 'currency-api daily release',
      url: 'https://github.com/fawazahmed0/exchange-api',
      licence: 'CC0-1.0',
      attribution: null,
    },
  ],
};

const price = { currency: 'USD', decimal: '1136.07', market: 'eur-usd', observedAt: '2026-09-29T00:00:00Z' };

export const compatReads = publicReads({
  getCompatParts: {
    path: '/api/v1/compat/parts.json',
    summary: 'Find the part of the price files that has a market',
    description: `A part never changes, whatever markets are added. ${MADE_DAILY}`,
    success: { status: 200, description: 'Parts by slug', body: compatPartsSchema },
    example: { response: { 'gold-usd': '86' } },
  },
  getBeancountPrices: {
    path: '/api/v1/compat/beancount/{part}.beancount',
    summary: 'Read the daily prices of the markets of a part as a file of beancount',
    description: PRICES_TEXT,
    params: partParams,
    success: pricesFile('Price directives'),
    example: { params: { part: '86' }, response: '2026-09-29 price GOLD-USD 4129.10 USD\n' },
  },
  getHledgerPrices: {
    path: '/api/v1/compat/hledger/{part}.journal',
    summary: 'Read the daily prices of the markets of a part as a journal of hledger',
    description: PRICES_TEXT,
    params: partParams,
    success: pricesFile('Market prices'),
    example: { params: { part: '86' }, response: 'decimal-mark .\nP 2026-09-29 "GOLD-USD" 4129.10 USD\n' },
  },
  getBeancountIncludes: {
    path: '/api/v1/compat/beancount/prices.beancount',
    summary: 'List the price files of beancount',
    description: INCLUDES_TEXT,
    success: pricesFile('Include directives'),
    example: { response: 'include "86.beancount"\n' },
  },
  getHledgerIncludes: {
    path: '/api/v1/compat/hledger/prices.journal',
    summary: 'Read which price files of hledger there are',
    description: INCLUDES_TEXT,
    success: pricesFile('Include directives'),
    example: { response: 'include 86.journal\n' },
  },
  getCompatQuotes: {
    path: '/api/v1/compat/quotes/{part}.json',
    summary: 'Read the daily prices of the markets of a part as JSON for portfolio programs',
    description:
      'For Ghostfolio and Portfolio Performance. The numbers are derived: floating-point numbers, the last one of each ' +
      `day in UTC. ${MADE_DAILY}`,
    params: partParams,
    success: { status: 200, description: 'By slug: the newest price, and one for each day', body: compatQuotesSchema },
    example: { params: { part: '86' }, response: { 'gold-usd': quotes } },
  },
  getCompatChanges: {
    path: '/api/v1/compat/changes/{part}.json',
    summary: 'Read the prices that the newest ones of the markets of a part are compared with',
    description: `Of days in UTC, exactly: for changes of many markets in a few requests. ${MADE_DAILY}`,
    params: partParams,
    success: { status: 200, description: 'By slug: the newest price, and those before it', body: compatChangesSchema },
    example: {
      params: { part: '86' },
      response: {
        'gold-usd': {
          newest: { date: '2026-09-29', decimal: '4129.10' },
          day: { date: '2026-09-28', decimal: '4198.34' },
          month: { date: '2026-08-30', decimal: '4050.00' },
          year: null,
          revision: 57,
        },
      },
    },
  },
  getCompatGenaiPrices: {
    path: '/api/v1/compat/genai-prices/latest.json',
    summary: 'Read the prices of language models, each with the day from which it holds',
    description: `The layout of the data of genai-prices. ${MODELS_TEXT}`,
    success: { status: 200, description: 'Providers, their models, and their prices', body: compatGenaiSchema },
    example: { response: [] },
  },
  listCompatModelDays: {
    path: '/api/v1/compat/litellm/index.json',
    summary: 'Read on which days the price of a language model changed',
    description: `Each day has a file, which is kept. ${MODELS_TEXT}`,
    success: { status: 200, description: 'Days, and what the files show', body: compatModelsIndexSchema },
    example: { response: { days: { '2026-08-09': '3f2a9c1b7d4e5f60' }, markets: { 'gpt-4o': 1 }, attributions: [] } },
  },
  getCompatModels: {
    path: '/api/v1/compat/litellm/{date}.json',
    summary: 'Read the prices of language models, as they were at the end of a day',
    description: `The layout of LiteLLM's map, for its numbers and facts that this service publishes. ${MODELS_TEXT}`,
    params: modelsParams,
    success: { status: 200, description: 'By the name of the model', body: compatModelsSchema },
    example: {
      params: { date: 'latest' },
      response: { 'gpt-4o': { input_cost_per_token: 0.0000025, litellm_provider: 'openai', mode: 'chat' } },
    },
  },
  listCompatCurrencies: {
    path: '/api/v1/compat/currency-api/{date}/v1/currencies.json',
    summary: 'Read which currencies have rates',
    description:
      'The layout of the npm package currency-api. `currency-api@{date}` and `currencies.min.json` lead to the same file. ' +
      MADE_DAILY,
    params: ratesParams,
    success: { status: 200, description: 'English names by code', body: compatCurrenciesSchema },
    example: { params: { date: 'latest' }, response: { eur: 'Euro', usd: 'US Dollar' } },
  },
  getCompatRates: {
    path: '/api/v1/compat/currency-api/{date}/v1/currencies/{code}.json',
    summary: 'Read the rates of a currency',
    description: `${INVERSE} The layout of the npm package currency-api; \`.min.json\` leads to the same file. ${MADE_DAILY}`,
    params: codeParams,
    success: { status: 200, description: 'The rates, and the exact prices behind them', body: compatRatesSchema },
    example: {
      params: { date: 'latest', code: 'usd' },
      response: {
        date: '2026-09-30',
        usd: { eur: 0.8802274507732797, usd: 1 },
        derived: {
          note: RATES_NOTE,
          generation: 4,
          log: null,
          rates: { eur: { ...price, quantity: 1000, unit: 'EUR', isInverse: true } },
          attributions: [],
        },
      },
    },
  },
});
