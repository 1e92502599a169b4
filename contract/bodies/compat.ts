/**
 * Files in the forms of other programs. Where the form requires floating-point numbers, these are derived, and each
 * description says so. docs/compat.md describes them.
 */
import * as z from 'zod';
import { MARKET_SOURCES_MAX } from '../files/limits.ts';
import { slugSchema } from '../values/market.ts';
import { currencyCodeSchema } from '../values/metric.ts';
import { COMPAT_MARKETS_MAX, MODELS_MAX, PART_PRICES_MAX, QUOTES_NOTE, RATES_NOTE } from './compat-limits.ts';

const dateSchema = z.iso.date().describe('A day in UTC.');
const closeSchema = z.number().describe('The last price of the day for one unit, as a floating-point number.');
const creditSchema = z.strictObject({
  label: z.string().describe('The name of the source.'),
  url: z.string().describe('A page that describes or holds the whole source.'),
  licence: z.string().nullable().describe('The licence of the data. Null: not stated.'),
  attribution: z.string().nullable().describe('The text that must be shown with the data. Null: no text.'),
});

const marketQuotesSchema = z.strictObject({
  name: z.string().describe('The name of the market.'),
  unit: z.string().describe('The thing of which one is priced.'),
  currency: currencyCodeSchema,
  price: closeSchema.nullable().describe('The newest known price for one unit. Null: no price is known.'),
  date: dateSchema.nullable().describe('The day of `price`.'),
  quotes: z
    .array(z.strictObject({ date: dateSchema, close: closeSchema }))
    .meta({ maxItems: PART_PRICES_MAX })
    .describe('Oldest first. A day without a known price is left out.'),
  derived: z.literal(QUOTES_NOTE).describe('How the numbers were made.'),
  market: z.string().describe('The URL of the market.'),
  revision: z.int().min(0).describe('Of the market that this file shows.'),
  sources: z.array(creditSchema).max(MARKET_SOURCES_MAX).describe('Where the numbers come from.'),
});

export type MarketQuotes = z.infer<typeof marketQuotesSchema>;

/** `GET /api/v1/compat/quotes/{part}.json`. */
export const compatQuotesSchema = z
  .record(slugSchema, marketQuotesSchema)
  .describe('The daily prices of each market of this part, by its slug.');

const dayPriceSchema = z.strictObject({
  date: dateSchema,
  decimal: z.string().describe('The last price of the day in major units for the quantity of the market, exactly.'),
});

const marketChangesSchema = z.strictObject({
  newest: dayPriceSchema.nullable().describe('The newest day with a known price. Null: no price is known.'),
  day: dayPriceSchema.nullable().describe('About a day before `newest`: at most four. Null: no price is known.'),
  month: dayPriceSchema.nullable().describe('25 to 36 days before it, nearest to 30. Null: no price is known.'),
  year: dayPriceSchema.nullable().describe('350 to 380 days before it, nearest to 365. Null: no price is known.'),
  revision: z.int().min(0).describe('Of the market that this file shows.'),
});

/** The earlier prices of one market with which its newest price is compared. */
export type MarketChanges = z.infer<typeof marketChangesSchema>;

/** `GET /api/v1/compat/changes/{part}.json`. */
export const compatChangesSchema = z
  .record(slugSchema, marketChangesSchema)
  .describe('The newest price of each market of this part, and those before it, by its slug.');

/** `GET /api/v1/compat/parts.json`. */
export const compatPartsSchema = z
  .record(slugSchema, z.string().regex(/^[0-9a-f]{2}$/))
  .describe('The part of each market, by its slug: the first two hexadecimal digits of the SHA-256 of the slug.');

const codeSchema = z.string().regex(/^[a-z]{3}$/);
const compatRateSchema = z.strictObject({
  market: z.string().describe('The slug of the market that gave the price.'),
  decimal: z.string().describe('Its newest price, exactly, in major units of `currency` for `quantity` of `unit`.'),
  currency: currencyCodeSchema,
  quantity: z.int().min(1).describe('How many of `unit` the price buys.'),
  unit: z.string().describe('The thing that the price buys: a code of ISO 4217.'),
  observedAt: z.string().describe('The moment of the price.'),
  isInverse: z.boolean().describe('Whether the market quotes the pair the other way round.'),
});

export type CompatRate = z.infer<typeof compatRateSchema>;

/** `GET /api/v1/compat/currency-api/{date}/v1/currencies/{code}.json`. */
export const compatRatesSchema = z
  .object({
    date: z.iso.date().describe('The day (UTC) on which the file was made. `derived` has the moment of each price.'),
    derived: z
      .strictObject({
        note: z.literal(RATES_NOTE),
        generation: z.int().min(1).describe('Of the list of markets that the rates show.'),
        log: z
          .strictObject({
            size: z.int().min(0).describe('The number of entries.'),
            root: z.string().describe('The root hash of the tree, in base64.'),
          })
          .nullable()
          .describe('The log that has the prices. Null: the deployment has no log.'),
        rates: z.record(codeSchema, compatRateSchema).describe('Where each rate comes from.'),
        attributions: z
          .array(z.string())
          .meta({ maxItems: COMPAT_MARKETS_MAX })
          .describe('Texts that must be shown with the data.'),
      })
      .describe('How the numbers were made.'),
  })
  .catchall(
    z
      .record(codeSchema, z.number())
      .describe(
        'Keyed by base currency: the value of one unit of it in each other currency, as a floating-point number.',
      ),
  );

/** `GET /api/v1/compat/currency-api/{date}/v1/currencies.json`. */
export const compatCurrenciesSchema = z
  .record(codeSchema, z.string())
  .describe('The English name of each currency that has a file of rates, by its code.');

const perTokenSchema = z.number().describe('US dollars for one token.');
const factSchema = z.string().describe('The text of the source.');
const tokensSchema = z.number().describe('A number of tokens.');

/** `GET /api/v1/compat/litellm/{date}.json`. */
export const compatModelsSchema = z
  .record(
    z.string(),
    z.strictObject({
      input_cost_per_token: perTokenSchema.exactOptional(),
      output_cost_per_token: perTokenSchema.exactOptional(),
      cache_read_input_token_cost: perTokenSchema.exactOptional(),
      cache_creation_input_token_cost: perTokenSchema.exactOptional(),
      max_input_tokens: tokensSchema.exactOptional(),
      max_output_tokens: tokensSchema.exactOptional(),
      max_tokens: tokensSchema.exactOptional(),
      litellm_provider: factSchema.exactOptional(),
      mode: factSchema.exactOptional(),
      deprecation_date: factSchema.exactOptional(),
    }),
  )
  .describe('By the name of the model. An unknown value is left out.');

/** `GET /api/v1/compat/litellm/index.json`. */
export const compatModelsIndexSchema = z.strictObject({
  days: z
    .record(z.iso.date(), z.string().regex(/^[0-9a-f]{16}$/))
    .describe('The days on which a number changed, in UTC: each has a file. With a digest of all changes up to it.'),
  markets: z
    .record(slugSchema, z.int().min(0))
    .describe('The markets in the files, and the revision of each that they show.'),
  attributions: z.array(z.string()).meta({ maxItems: MODELS_MAX }).describe('Texts that must be shown with the data.'),
});

/** `GET /api/v1/compat/genai-prices/latest.json`. The package checks the form of its elements itself. */
export const compatGenaiSchema = z
  .array(z.unknown())
  .meta({ maxItems: MODELS_MAX })
  .describe(
    'Providers with `models`, whose `prices` are US dollars for a million tokens, oldest first, each from its `start_date` on.',
  );
