/**
 * Takes over the daily files for other programs: the parts, then what leads to them, then the rates. A part is asked for
 * again only if a market of it is of another revision in the copy than in the part.
 */
import { type CompatRates, compatCurrenciesSchema } from '../../contract/files/compat.ts';
import { RATES_KEPT_DAYS } from '../../contract/files/compat-limits.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { parsePublicKey, publicKey, publicPath } from '../../contract/files/public-objects.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { marketBody, publicObservation } from '../../publisher/core/bodies/render.ts';
import { checkRatesOf } from '../../publisher/projections/compat/check-rates.ts';
import { partNames, partOfFile, quotesName, ratesName } from '../../publisher/projections/compat/names.ts';
import { PartReader, type ShownMarket } from '../../publisher/projections/compat/read-parts.ts';
import { checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { checkHistory } from '../../publisher/verify/check-history.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import { freshReader, type RecordedAnswers, recorded } from './fresh-reader.ts';
import { checkLoggedRates } from './logged-rates.ts';
import { NEVER_LATE } from './mirror-log.ts';
import type { MirrorWorld } from './mirror-world.ts';
import { copiedKeys } from './reached.ts';

type CompatWorld = Pick<
  MirrorWorld,
  'upstream' | 'copy' | 'log' | 'known' | 'progress' | 'pageSizes' | 'generation' | 'pause'
>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** By which a history may be newer than the list. */
const REVISIONS_AHEAD = 32;

/**
 * A service that has not made any yet has none to copy. Nothing is put of a part, or of the rates of a day, with a finding.
 *
 * @param cachedMs longer than a shared cache keeps a body
 */
export async function copyCompat(world: CompatWorld, cachedMs: number): Promise<readonly Finding[]> {
  const files = recorded(freshReader(world));
  const led = new Findings();
  const { index } = await PartReader.open(files.reader, led);
  if (index === null) return bodyFaults(led);
  await new PartReader(files.reader, led, index).checkIndex();
  const findings: Finding[] = [...bodyFaults(led)];
  const parts = new Set([...index.values(), ...(await copiedParts(world))]);
  world.progress.begin('compat', parts.size);
  const doubtful: string[] = [];
  for (const part of parts) {
    world.progress.did();
    if ((await copyPart(world, part, index)).length > 0) doubtful.push(part);
  }
  // The files of two days' runs may be in a cache on the way.
  if (doubtful.length > 0) await world.pause(cachedMs);
  for (const part of doubtful) findings.push(...(await copyPart(world, part, index)));
  const areThere = await Promise.all([...parts].map((part) => hasPart(world, part)));
  if (findings.length === 0 && areThere.every(Boolean) && !(await isCopiedAlready(world, files.answers)))
    await putFound(world, files.answers);
  const day = await copyRates(world, 'latest', findings);
  if (day !== null) await copyDays(world, day, findings);
  return findings;
}

async function copiedParts({ copy }: CompatWorld): Promise<readonly string[]> {
  const parts: string[] = [];
  const folder = publicKey(quotesName('')).slice(0, -'.json'.length);
  for await (const key of copiedKeys(copy, folder)) parts.push(partOfFile(key) ?? '');
  return parts;
}

async function hasPart({ copy }: CompatWorld, part: string): Promise<boolean> {
  return (await Promise.all(partNames(part).map((name) => copy.head(name)))).every((head) => head !== null);
}

async function copyPart(
  world: CompatWorld,
  part: string,
  index: ReadonlyMap<string, string>,
): Promise<readonly Finding[]> {
  const { known } = world;
  const slugs = [...index].flatMap(([slug, own]) => (own === part ? [slug] : []));
  const state = slugs.map((slug) => `${slug} ${known.revisionOf(slug)}`).join();
  // Most parts have not changed since they were copied.
  if ((known.compat.get(part) === state || (await isCurrent(world, part, slugs))) && (await hasPart(world, part))) {
    known.compat.set(part, state);
    return [];
  }
  const files = recorded(freshReader(world));
  const findings = new Findings();
  const parts = new PartReader(files.reader, findings, index);
  for (const slug of await parts.slugsOf(part)) {
    const sections = await parts.sectionsOf(slug);
    const market = await copiedJson<Market>(world, marketUrl(slug));
    const revisions = new Set(sections.map(({ read }) => read?.revision));
    for (const [file, { url, read }] of sections.entries()) {
      if (revisions.size > 1) findings.add(url, 'file', `shows ${slug} at another revision than the other files`);
      else if (read === undefined) findings.add(url, 'file', `has no prices of ${slug}`);
      else if (!(await isShown(world, parts, { slug, market, file, ...read })))
        findings.add(url, 'file', `shows ${slug} otherwise than at revision ${read.revision}`);
    }
  }
  const faults = bodyFaults(findings);
  if (faults.length > 0) return faults;
  if (!(await isCopiedAlready(world, files.answers))) await putFound(world, files.answers);
  return [];
}

/** Whether the copied part shows the markets of the copy as they are. */
async function isCurrent(world: CompatWorld, part: string, slugs: readonly string[]): Promise<boolean> {
  const copied = await copiedJson<{ readonly [slug: string]: { readonly revision: number } }>(
    world,
    publicPath(quotesName(part)),
  );
  if (copied === null || Object.keys(copied).length !== slugs.length) return false;
  for (const slug of slugs) {
    const market = await copiedJson<Market>(world, marketUrl(slug));
    if (market === null || copied[slug]?.revision !== market.revision) return false;
  }
  return true;
}

interface CheckedSection {
  readonly slug: string;
  /** In the copy. Null: it is removed there, or not copied yet. */
  readonly market: Market | null;
  /** The place of its file in the part. */
  readonly file: number;
  readonly revision: number;
  readonly digest: string;
}

async function isShown(
  world: CompatWorld,
  parts: PartReader,
  { slug, market, file, revision, digest }: CheckedSection,
): Promise<boolean> {
  for await (const shown of shownAt(world, slug, market, revision)) {
    if ((await parts.expected(shown)).some(({ digests }) => digests[file] === digest)) return true;
  }
  // Without a log, only the market in the copy can prove a section, and only at its own revision.
  return world.log === null && market?.revision !== revision;
}

/**
 * From what a section may have been made, most likely first. The service takes a market from its list, and the prices from
 * its history, which may be some revisions newer.
 */
async function* shownAt(
  { copy, log, pageSizes }: CompatWorld,
  slug: string,
  market: Market | null,
  revision: number,
): AsyncGenerator<ShownMarket> {
  if (log === null) {
    if (market?.revision !== revision) return;
    const { observations } = await checkHistory(copy.reader, new Findings(), market, pageSizes.observations);
    yield { market, observations };
    return;
  }
  const past = log.pastOf(slug);
  const [listed] = past.at(revision);
  if (listed === undefined) return;
  const record = listed.record(null);
  const shown = JSON.parse(marketBody(slug, revision, record)) as Market;
  const later = [...past.revisions(NEVER_LATE)].filter((each) => each >= revision).reverse();
  for (const each of later.slice(0, REVISIONS_AHEAD)) {
    const [{ observations: stored = [] } = {}] = past.at(each);
    const rows = stored.map(({ observation }) => publicObservation(observation, record.unit.quantity)).reverse();
    yield { market: shown, observations: rows as unknown as readonly PublicObservation[] };
  }
}

async function isCopiedAlready({ copy }: CompatWorld, answers: RecordedAnswers): Promise<boolean> {
  for (const [url, { body }] of answers) if (!Buffer.from((await copy.reader(url)).body).equals(body)) return false;
  return true;
}

/** Past days, as far as the service has them. The newest one comes last: where it is copied, all are. */
async function copyDays(world: CompatWorld, newest: string, findings: Finding[]): Promise<void> {
  if ((await world.copy.head(currenciesOf(newest))) !== null) return;
  for (let back = RATES_KEPT_DAYS; back >= 0; back--) {
    const day = new Date(Date.parse(newest) - back * DAY_MS).toISOString().slice(0, newest.length);
    if ((await world.copy.head(currenciesOf(day))) === null) await copyRates(world, day, findings);
  }
}

/** Returns the day of the rates that it has copied. Null: the service has no rates, or they were refused. */
async function copyRates(world: CompatWorld, date: string, all: Finding[]): Promise<string | null> {
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
    const where = publicPath(ratesName(date, `currencies/${code}`));
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

async function copiedCodes({ copy }: CompatWorld): Promise<readonly string[]> {
  const codes: string[] = [];
  const prefix = publicKey(currenciesOf('latest')).slice(0, -'.json'.length);
  for await (const key of copiedKeys(copy, `${prefix}/`)) {
    const name = parsePublicKey(key);
    if (name?.kind === 'compat-json') codes.push(name.file.slice(-'eur.json'.length, -'.json'.length));
  }
  return codes;
}

const currenciesOf = (date: string): PublicObjectName => ratesName(date, 'currencies');

async function putFound({ copy, generation }: CompatWorld, answers: RecordedAnswers): Promise<void> {
  for (const [url, { status, body }] of answers) if (status === 200) await copy.putAt(url, { body, generation });
}

async function copiedJson<Value>({ copy }: CompatWorld, url: string): Promise<Value | null> {
  const { status, body } = await copy.reader(url);
  return status === 200 ? (JSON.parse(Buffer.from(body).toString('utf8')) as Value) : null;
}
