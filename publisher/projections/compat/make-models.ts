/** Puts the files of model prices: those of days first, then the newest one, then the index, which leads to them. */
import type * as z from 'zod';
import type { compatModelsIndexSchema } from '../../../contract/bodies/compat.ts';
import { MODELS_MAX } from '../../../contract/bodies/compat-limits.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { putDailyFile } from '../../kernel/files/put-daily-file.ts';
import { genaiText } from './genai-prices.ts';
import { type ModelMarket, ModelPrices } from './model-prices.ts';
import { GENAI_PRICES, modelsName } from './names.ts';
import { publishedHistory } from './read-days.ts';

interface ModelOptions {
  readonly storage: PublisherStorage;
  /** The generation that the files show. */
  readonly generation: number;
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Does nothing if no market has changed. A day with the same numbers keeps its file, with the facts from the time it was
 * made.
 *
 * @throws Superseded if a market changes in the meantime
 */
export async function makeModels(
  { storage, generation, yieldToEventLoop }: ModelOptions,
  markets: readonly ModelMarket[],
): Promise<void> {
  if (markets.length === 0 || markets.length > MODELS_MAX) return;
  const before = await readIndex(storage);
  const isSame = markets.every(({ slug, revision }) => before.markets[slug] === revision);
  const isPlaced = async (file: string) => (await storage.objects.stat(publicKey(modelsName(file)))) !== null;
  if (isSame && Object.keys(before.markets).length === markets.length && (await isPlaced('latest'))) return;

  const prices = new ModelPrices();
  for (const market of markets) {
    const rows = [];
    for await (const page of publishedHistory(storage, market.slug)) rows.push(...page);
    prices.add(market, rows);
    await yieldToEventLoop();
  }
  const days: Record<string, string> = {};
  let newest = '{}';
  const put = async (file: string, text: string) =>
    await putDailyFile(storage, { name: modelsName(file), text }, generation);
  /**
   * Days with files, newest first. A day that no longer has a change keeps its file, which shows the state at its end
   * without removed markets.
   */
  const known = Object.keys(before.days).sort().reverse();
  const passKnown = async (until: string) => {
    for (let day = known.at(-1); day !== undefined && day <= until; day = known.at(-1)) {
      known.pop();
      if (day < until) await put(day, newest);
    }
  };
  for (const { day, digest, textWith } of prices.days()) {
    await passKnown(day);
    days[day] = digest;
    newest = textWith(prices.factsOf);
    if (before.days[day] !== digest || !(await isPlaced(day))) await put(day, newest);
    await yieldToEventLoop();
  }
  await passKnown('9999-12-31');
  await put('latest', newest);
  await putDailyFile(storage, { name: GENAI_PRICES, text: genaiText(prices.histories) }, generation);
  await put('index', prices.indexText(days));
}

type Index = z.infer<typeof compatModelsIndexSchema>;

async function readIndex({ objects }: Pick<PublisherStorage, 'objects'>): Promise<Pick<Index, 'days' | 'markets'>> {
  const found = await objects.get(publicKey(modelsName('index')));
  if (found.kind !== 'found') return { days: {}, markets: {} };
  return JSON.parse(Buffer.from(found.body).toString('utf8')) as Index;
}
