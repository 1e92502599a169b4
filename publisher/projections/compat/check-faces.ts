/** Checks faces: those of a market by rendering them again from its history, and rates by the prices that they name. */
import {
  type FaceRate,
  type FaceRates,
  faceCurrenciesSchema,
  faceQuotesSchema,
  faceRatesSchema,
} from '../../../contract/files/faces.ts';
import type { LatestEntry } from '../../../contract/files/latest-entries.ts';
import { PUBLIC_OBJECTS, publicPath } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { moneyTexts } from '../../../contract/values/money-texts.ts';
import { checkAnswer, checkHeaders, type Findings } from '../../verify/check-body.ts';
import type { PublicReader } from '../../verify/reader.ts';
import type { Share } from '../../verify/share.ts';
import { DayPrices } from './day-prices.ts';
import { marketFaces } from './market-faces.ts';
import { rateValue } from './pairs.ts';

/** The file that leads to those of the markets. */
export const INCLUDES_URL = publicPath({ kind: 'face-includes', extension: 'journal' });

/** The slugs that include files name: these markets have faces. Null: no faces have been made yet. */
export async function readIncluded(reader: PublicReader): Promise<ReadonlySet<string> | null> {
  const { status, body } = await reader(INCLUDES_URL);
  if (status !== 200) return null;
  const paths = Buffer.from(body)
    .toString('utf8')
    .matchAll(/^include prices\/(.*)\.journal$/gm);
  return new Set([...paths].map(([, slug]) => slug as string));
}

/**
 * Faces are made once a day, so they may show an earlier revision than the market. Then only their presence is checked.
 *
 * @param observations newest first
 */
export async function checkMarketFaces(
  reader: PublicReader,
  findings: Findings,
  market: Market,
  observations: readonly PublicObservation[],
  included: ReadonlySet<string>,
): Promise<void> {
  const prices = new DayPrices();
  for (const observation of observations) if (!prices.add(observation)) break;
  const expected = marketFaces(market, prices.days);
  const answers = await Promise.all(expected.map(({ name }) => reader(publicPath(name))));
  const isNew = !included.has(market.slug) && answers.every(({ status }) => status === 404);
  // It may have been removed since it was read.
  if (isNew || answers.every(({ status }) => status === 410)) return;
  for (const [index, { name }] of expected.entries()) {
    const url = publicPath(name);
    const response = answers[index] as (typeof answers)[number];
    if (name.kind === 'face-quotes') checkAnswer(findings, url, response, faceQuotesSchema);
    else if (response.status !== 200) findings.add(url, 'status', `answered ${response.status}, expected 200`);
    else checkHeaders(findings, url, response, PUBLIC_OBJECTS[name.kind].contentType);
  }
  const texts = answers.map(({ body }) => Buffer.from(body).toString('utf8'));
  if (answers.some(({ status }) => status !== 200) || observations.length !== market.history.count) return;
  // Each file says of which revision it is: where none does, they are of an earlier one.
  const ofRevision = [`, revision ${market.revision}.\n`, `"revision":${market.revision},`];
  if (!texts.some((text) => ofRevision.some((says) => text.includes(says)))) return;
  for (const [index, { name, text }] of expected.entries()) {
    if (texts[index] !== text)
      findings.add(publicPath(name), 'file', "differs from the prices of the market's history");
  }
}

/** @param list the newest values, as the list of this generation has them */
export async function checkRates(
  reader: PublicReader,
  findings: Findings,
  list: { readonly generation: number | null; readonly entries: readonly LatestEntry[] },
  share: Share,
): Promise<void> {
  const url = publicPath({ kind: 'face-rates', date: 'latest', file: 'currencies' });
  const currencies = checkAnswer(findings, url, await reader(url), faceCurrenciesSchema);
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
    const [ofDay, newest] = [date, 'latest'].map((each) => publicPath({ kind: 'face-rates', date: each, file }));
    const { status, body } = await reader(ofDay as string);
    if (status === 200 && !Buffer.from(body).equals((await reader(newest as string)).body))
      findings.add(ofDay as string, 'file', 'differs from the newest rates, which are of that day');
  }
}

/** @param generation of `entries`, with which rates of the same generation are compared. Null: with none */
async function checkRatesOf(
  reader: PublicReader,
  findings: Findings,
  code: string,
  generation: number | null,
  entries: ReadonlyMap<string, LatestEntry>,
): Promise<FaceRates | null> {
  const url = publicPath({ kind: 'face-rates', date: 'latest', file: `currencies/${code}` });
  const answer = checkAnswer(findings, url, await reader(url), faceRatesSchema);
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

function derivedRate({ decimal, currency, quantity, isInverse }: FaceRate): number {
  const amountMinor = Number(decimal.replace('.', ''));
  const { decimalPerUnit } = moneyTexts(amountMinor, currency, quantity);
  return rateValue({ decimal, decimalPerUnit }, quantity, isInverse);
}
