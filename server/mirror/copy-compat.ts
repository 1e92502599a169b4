/**
 * Takes over the daily compat: the files of each market that is copied, then the files that include them, then the rates.
 * A file is asked for again only if the copy's market is of another revision than its compat.
 */

import { type CompatRates, compatCurrenciesSchema } from '../../contract/files/compat.ts';
import { RATES_KEPT_DAYS } from '../../contract/files/compat-limits.ts';
import { PRICE_EXTENSIONS, type PublicObjectName } from '../../contract/files/public-object-names.ts';
import { parsePublicKey, publicKey, publicPath } from '../../contract/files/public-objects.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { marketBody, publicObservation } from '../../publisher/core/bodies/render.ts';
import { checkMarketCompat, checkRatesOf, readIncluded } from '../../publisher/projections/compat/check-files.ts';
import { marketCompatNames } from '../../publisher/projections/compat/part-names.ts';
import { checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { checkHistory } from '../../publisher/verify/check-history.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import { goneBody } from './copy-market.ts';
import { freshReader, type RecordedAnswers, recorded } from './fresh-reader.ts';
import { checkLoggedRates } from './logged-rates.ts';
import { NEVER_LATE } from './mirror-log.ts';
import type { MirrorWorld } from './mirror-world.ts';
import { copiedKeys } from './reached.ts';

type FacesWorld = Pick<
  MirrorWorld,
  'upstream' | 'copy' | 'log' | 'known' | 'progress' | 'pageSizes' | 'generation' | 'pause'
>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** By which a history may be newer than the list. */
const REVISIONS_AHEAD = 32;

/**
 * A service that has not made any yet has none to copy. Nothing is put of the files of a market, or of the rates of a day,
 * with a finding.
 *
 * @param cachedMs longer than a shared cache keeps a body
 */
export async function copyCompat(world: FacesWorld, cachedMs: number): Promise<readonly Finding[]> {
  const files = recorded(freshReader(world));
  const included = await readIncluded(files.reader);
  if (included === null) return [];
  for (const extension of PRICE_EXTENSIONS) await files.reader(publicPath({ kind: 'compat-includes', extension }));
  const findings: Finding[] = [];
  const doubtful: string[] = [];
  const slugs = await world.known.slugs(world.copy);
  world.progress.begin('compat', slugs.size);
  for (const slug of slugs) {
    world.progress.did();
    if ((await copyMarketCompat(world, slug, included)).length > 0) doubtful.push(slug);
  }
  // The files of two days' runs may be in a cache on the way.
  if (doubtful.length > 0) await world.pause(cachedMs);
  for (const slug of doubtful) findings.push(...(await copyMarketCompat(world, slug, included)));
  if (!(await isCopiedAlready(world, files.answers)) && (await hasCompatOf(world, included))) {
    await putFound(world, files.answers);
  }
  const day = await copyRates(world, 'latest', findings);
  if (day !== null) await copyDays(world, day, findings);
  return findings;
}

async function copyMarketCompat(
  world: FacesWorld,
  slug: string,
  included: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const { copy, known } = world;
  // Most markets have not changed since their files were copied.
  if (known.compat.has(slug) && known.compat.get(slug) === known.revisionOf(slug)) return [];
  const market = await copiedJson<Market>(world, marketUrl(slug));
  const quotesUrl = publicPath({ kind: 'compat-quotes', slug });
  const copied = await copiedJson<{ readonly revision: number }>(world, quotesUrl);
  const heads = await Promise.all(marketCompatNames(slug).map((name) => copy.head(name)));
  const isWhole = heads.every((head) => head !== null);
  if (isWhole && copied !== null) known.compat.set(slug, copied.revision);
  if (market === null || (isWhole && copied?.revision === market.revision)) return [];
  const files = recorded(freshReader(world));
  // The last one that the service puts.
  const quotes = await files.reader(quotesUrl);
  const revision = revisionOf(quotes.body);
  if (isWhole && revision === copied?.revision) return [];
  // The copy is behind.
  if (revision !== null && revision > market.revision) return [];
  const answered: typeof files.reader = async (url) => files.answers.get(url) ?? (await files.reader(url));
  let faults: readonly Finding[] = [
    { url: quotesUrl, rule: 'not-in-log', detail: `shows revision ${revision}, which the log never had` },
  ];
  for await (const shown of shownAt(world, market, revision)) {
    const findings = new Findings();
    await checkMarketCompat(answered, findings, shown.market, shown.observations, included);
    faults = bodyFaults(findings);
    if (faults.length === 0) break;
  }
  if (faults.length === 0) await putFound(world, files.answers);
  return faults;
}

/**
 * From what the compat of a market may have been made, most likely first. The service takes a market from its list, and the
 * prices from its history, which may be some revisions newer. Without a log, nothing is known but the market in the copy.
 */
async function* shownAt(
  { copy, log, pageSizes }: FacesWorld,
  market: Market,
  revision: number | null,
): AsyncGenerator<{ readonly market: Market; readonly observations: readonly PublicObservation[] }> {
  if (log === null || revision === null) {
    const { observations } = await checkHistory(copy.reader, new Findings(), market, pageSizes.observations);
    yield { market, observations };
    return;
  }
  const past = log.pastOf(market.slug);
  const [listed] = past.at(revision);
  if (listed === undefined) return;
  const record = listed.record(null);
  const shown = JSON.parse(marketBody(market.slug, revision, record)) as Market;
  const later = [...past.revisions(NEVER_LATE)].filter((each) => each >= revision).reverse();
  for (const each of later.slice(0, REVISIONS_AHEAD)) {
    const [{ observations: stored = [] } = {}] = past.at(each);
    const rows = stored.map(({ observation }) => publicObservation(observation, record.unit.quantity)).reverse();
    const observations = rows as unknown as readonly PublicObservation[];
    yield { market: { ...shown, history: { ...shown.history, count: observations.length } }, observations };
  }
}

async function isCopiedAlready({ copy }: FacesWorld, answers: RecordedAnswers): Promise<boolean> {
  for (const [url, { body }] of answers) if (!Buffer.from((await copy.reader(url)).body).equals(body)) return false;
  return true;
}

/** Whether the copy has all that the include files lead to. A market may be removed since they were made. */
async function hasCompatOf({ copy, log, generation }: FacesWorld, slugs: ReadonlySet<string>): Promise<boolean> {
  for (const slug of slugs) {
    const removal = log?.removalOf(slug) ?? null;
    if (removal !== null) {
      for (const name of marketCompatNames(slug)) await copy.put(name, goneBody(removal, generation));
    } else if ((await copy.head({ kind: 'compat-quotes', slug })) === null) return false;
  }
  return true;
}

/** Past days, as far as the service has them. The newest one comes last: where it is copied, all are. */
async function copyDays(world: FacesWorld, newest: string, findings: Finding[]): Promise<void> {
  if ((await world.copy.head(currenciesOf(newest))) !== null) return;
  for (let back = RATES_KEPT_DAYS; back >= 0; back--) {
    const day = new Date(Date.parse(newest) - back * DAY_MS).toISOString().slice(0, newest.length);
    if ((await world.copy.head(currenciesOf(day))) === null) await copyRates(world, day, findings);
  }
}

/** Returns the day of the rates that it has copied. Null: the service has no rates, or they were refused. */
async function copyRates(world: FacesWorld, date: string, all: Finding[]): Promise<string | null> {
  const findings = new Findings();
  const files = recorded(freshReader(world));
  const listName = currenciesOf(date);
  const url = publicPath(listName);
  const answer = await files.reader(url);
  if (answer.status === 404) return null;
  const list = checkAnswer(findings, url, answer, compatCurrenciesSchema);
  const codes = new Set(Object.keys(list?.value ?? {}));
  // Currencies that have lost their rates are not in the list.
  if (date === 'latest') for (const code of await copiedCodes(world)) codes.add(code);
  const days: string[] = [];
  const logs = new Map<string, { readonly where: string; readonly log: NonNullable<CompatRates['derived']['log']> }>();
  for (const code of codes) {
    const rates = await checkRatesOf(files.reader, findings, code, null, new Map(), date);
    if (rates === null) continue;
    days.push(rates.date);
    const where = publicPath({ kind: 'compat-rates', date, file: `currencies/${code}` });
    if (date !== 'latest' && rates.date !== date) findings.add(where, 'file', `is of ${rates.date}`);
    const { log } = rates.derived;
    if (log !== null) logs.set(canonicalJson(log), { where, log });
    if (world.log === null) continue;
    // Of a time without a log: nothing proves them.
    if (log === null && date !== 'latest') return null;
    if (log === null) findings.add(where, 'not-in-log', 'names no log');
    else if ((await world.log.agreesWith({ log })) === 'yes') checkLoggedRates(world.log, findings, where, rates);
  }
  for (const { where, log } of logs.values()) {
    const position = await world.log?.agreesWith({ log });
    // It is taken over once the log is verified up to there.
    if (position === 'ahead') return null;
    if (position === 'no') findings.add(where, 'digest', 'names another log than the one that is signed');
  }
  const faults = bodyFaults(findings);
  all.push(...faults);
  if (faults.length > 0) return null;
  // The list leads to the others.
  const { [url]: first, ...others } = Object.fromEntries(files.answers);
  await putFound(world, new Map([...Object.entries(others), [url, first ?? answer]]));
  return days.sort().at(-1) ?? null;
}

async function copiedCodes({ copy }: FacesWorld): Promise<readonly string[]> {
  const codes: string[] = [];
  const prefix = publicKey(currenciesOf('latest')).slice(0, -'.json'.length);
  for await (const key of copiedKeys(copy, `${prefix}/`)) {
    const name = parsePublicKey(key);
    if (name?.kind === 'compat-rates') codes.push(name.file.slice('currencies/'.length));
  }
  return codes;
}

const currenciesOf = (date: string): PublicObjectName => ({ kind: 'compat-rates', date, file: 'currencies' });

async function putFound({ copy, generation }: FacesWorld, answers: RecordedAnswers): Promise<void> {
  for (const [url, { status, body }] of answers) if (status === 200) await copy.putAt(url, { body, generation });
}

async function copiedJson<Value>({ copy }: FacesWorld, url: string): Promise<Value | null> {
  const { status, body } = await copy.reader(url);
  return status === 200 ? (JSON.parse(Buffer.from(body).toString('utf8')) as Value) : null;
}

/** Null if it is no such file: the check says so. */
function revisionOf(body: Uint8Array): number | null {
  const [, revision] = /"revision":(\d+),/.exec(Buffer.from(body).toString('utf8')) ?? [];
  return revision === undefined ? null : Number(revision);
}
