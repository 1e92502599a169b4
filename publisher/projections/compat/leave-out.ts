/** Takes the rates of markets out of the files of earlier days, which are never made again otherwise. */
import pMap from 'p-map';
import type * as z from 'zod';
import type { compatRatesSchema } from '../../../contract/bodies/compat.ts';
import { parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { keyPages } from '../../../storage/ports/objects.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { putDailyFile } from '../../kernel/files/put-daily-file.ts';
import { ratesName } from './names.ts';

export interface ToLeaveOut {
  readonly markets: ReadonlySet<string>;
  /** The attributions that may stay: a file does not say to which market each of its own belongs. */
  readonly credits: ReadonlySet<string>;
  /** The generation that publishes none of these markets. */
  readonly generation: number;
}

const FOLDER = publicKey(ratesName('latest', 'currencies')).split('latest/')[0] as string;

/** Puts each file of rates that has one of these markets again, without it. */
export async function leaveOutOfRates(storage: PublisherStorage, out: ToLeaveOut): Promise<void> {
  const leaveOut = async (key: string) => {
    const name = parsePublicKey(key);
    const found = await storage.objects.get(key);
    if (name === null || found.kind !== 'found') return;
    const text = ratesWithout(Buffer.from(found.body).toString('utf8'), out);
    if (text !== null) await putDailyFile(storage, { name, text }, out.generation);
  };
  for await (const keys of keyPages(storage.objects, FOLDER)) {
    const files = keys.filter((key) => key.includes('/currencies/'));
    await pMap(files, leaveOut, { concurrency: OBJECT_CONCURRENCY });
  }
}

/** Null: the file has none of these markets. */
function ratesWithout(text: string, { markets, credits }: Omit<ToLeaveOut, 'generation'>): string | null {
  const { date, derived, ...ofBase } = JSON.parse(text) as z.infer<typeof compatRatesSchema>;
  const isOut = (quote: string) => markets.has(derived.rates[quote]?.market ?? '');
  if (!Object.keys(derived.rates).some(isOut)) return null;
  const left = <Value>(byQuote: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(byQuote).filter(([quote]) => !isOut(quote)));
  const document = {
    date,
    ...Object.fromEntries(Object.entries(ofBase).map(([base, rates]) => [base, left(rates)])),
    derived: {
      ...derived,
      rates: left(derived.rates),
      attributions: derived.attributions.filter((attribution) => credits.has(attribution)),
    },
  };
  return canonicalJson(document as unknown as Json);
}
