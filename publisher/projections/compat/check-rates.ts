/** Checks rates by the prices that they name. */
import {
  type CompatRate,
  type CompatRates,
  compatCurrenciesSchema,
  compatRatesSchema,
} from '../../../contract/bodies/compat.ts';
import type { LatestEntry } from '../../../contract/bodies/latest-entries.ts';
import { publicPath } from '../../../contract/files/public-objects.ts';
import { moneyTexts } from '../../../contract/values/money-texts.ts';
import { checkAnswer, type Findings } from '../../verify/check-body.ts';
import type { PublicReader } from '../../verify/reader.ts';
import type { Share } from '../../verify/share.ts';
import { ratesName } from './names.ts';
import { rateValue } from './pairs.ts';

/** @param list the newest values, as the list of this generation has them */
export async function checkRates(
  reader: PublicReader,
  findings: Findings,
  list: { readonly generation: number | null; readonly entries: readonly LatestEntry[] },
  share: Share,
): Promise<void> {
  const url = publicPath(ratesName('latest', 'currencies'));
  const currencies = checkAnswer(findings, url, await reader(url), compatCurrenciesSchema);
  const entries = new Map(list.entries.map((entry) => [entry.slug, entry]));
  for (const [index, code] of Object.keys(currencies?.value ?? {}).entries()) {
    if (index % share.of !== share.index) continue;
    const rates = await checkRatesOf(reader, findings, code, list.generation, entries);
    if (rates !== null) await checkSameOnDay(reader, findings, rates.date, `currencies/${code}`);
  }
}

/** The files of a day are those of `latest` on that day. They may have gone since. */
async function checkSameOnDay(reader: PublicReader, findings: Findings, date: string, code: string): Promise<void> {
  for (const file of [code, 'currencies']) {
    const ofDay = publicPath(ratesName(date, file));
    const { status, body } = await reader(ofDay);
    if (status === 200 && !Buffer.from(body).equals((await reader(publicPath(ratesName('latest', file)))).body))
      findings.add(ofDay, 'file', 'differs from the newest rates, which are of that day');
  }
}

/** @param generation of `entries`, with which rates of the same generation are compared. Null: with none */
async function checkRatesOf(
  reader: PublicReader,
  findings: Findings,
  code: string,
  generation: number | null,
  entries: ReadonlyMap<string, LatestEntry>,
): Promise<CompatRates | null> {
  const url = publicPath(ratesName('latest', `currencies/${code}`));
  const answer = checkAnswer(findings, url, await reader(url), compatRatesSchema);
  if (answer === null) return null;
  const { derived } = answer.value;
  const rates: Readonly<Record<string, number>> = answer.value[code] ?? {};
  const named = Object.entries(derived.rates);
  if (Object.keys(rates).length !== named.length + 1) findings.add(url, 'file', 'has rates without a price');
  for (const [quote, rate] of named) {
    if (rates[quote] !== derivedRate(rate))
      findings.add(url, 'amount', `the rate of ${quote} is not that of its price`);
    const entry = entries.get(rate.market);
    const isShown = entry?.decimal === rate.decimal && entry.observedAt === rate.observedAt;
    if (derived.generation === generation && !isShown) findings.add(url, 'file', `${rate.market} has another price`);
  }
  return answer.value;
}

function derivedRate({ decimal, currency, quantity, isInverse }: CompatRate): number {
  const amountMinor = Number(decimal.replace('.', ''));
  const { decimalPerUnit } = moneyTexts(amountMinor, currency, quantity);
  return rateValue({ decimal, decimalPerUnit }, quantity, isInverse);
}
