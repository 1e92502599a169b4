/** Walks one market's history and compares it with the market. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OBSERVATIONS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { historyUrl } from '../../contract/files/routes.ts';
import { missingBetween } from '../../contract/freshness/expected-next.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { millisecondInstant } from '../../contract/values/instants.ts';
import { collectionSchema, type Market } from '../../contract/values/market.ts';
import {
  canonicalInstant,
  type Observation,
  observationSchema,
  type PublicObservation,
} from '../../contract/values/metric.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { moneyTexts } from '../../contract/values/money/money-texts.ts';
import { isShowable } from '../../contract/values/showable.ts';
import { observationKey, orderKey } from '../../storage/records/markets.ts';
import { marketBody, publicStanding } from '../core/bodies/render.ts';
import { recountOf } from '../repair/recount.ts';
import type { Findings } from './check-body.ts';
import type { PageSpan } from './projection-check.ts';
import type { PublicReader } from './reading/reader.ts';
import { walkPages } from './reading/walk-pages.ts';

const pageSchema = collectionSchema(observationSchema, OBSERVATIONS_PAGE_SIZE);

/** The pages of a history, as they were read. */
export interface CheckedHistory {
  /** Newest first. */
  readonly observations: readonly PublicObservation[];
  /** Oldest first. */
  readonly closedPages: readonly PageSpan[];
  /** SHA-256 of the newest page. */
  readonly headDigest: string;
  readonly unknownValues: number;
  readonly pages: number;
  /** Values that the cadences of the market's sources expected between two others. The service is not at fault. */
  readonly missingValues: number;
  /** False: an amount is wrong, e.g. its currency does not exist, so no body can be rendered from these observations. */
  readonly areAmountsRight: boolean;
}

/**
 * Checks that every observation appears once, newest first; that closed pages are full; that corrections are linked in both
 * directions, with their time; that amounts and their texts agree; that the history has as many observations as the market
 * counts; and that the market shows the standing ones. A history may be newer than the market that links to it, never
 * older.
 */
export async function checkHistory(
  reader: PublicReader,
  findings: Findings,
  market: Market,
  pageSize: number,
): Promise<CheckedHistory> {
  const observations: PublicObservation[] = [];
  const closedPages: PageSpan[] = [];
  let headDigest = '';
  let pages = 0;
  let areAmountsRight = true;
  for await (const { url, isFirst, value, digest } of walkPages(
    reader,
    findings,
    historyUrl(market.slug),
    pageSchema,
  )) {
    pages++;
    const { data } = value;
    const fits = isFirst ? data.length <= pageSize : data.length === pageSize;
    if (!fits) findings.add(url, 'page-size', `holds ${data.length} observations, pages hold ${pageSize}`);
    observations.push(...(data as readonly PublicObservation[]));
    // Page by page: of a long history at once, this would block a server for seconds.
    areAmountsRight &&= checkAmounts(findings, market, data as readonly PublicObservation[]);
    if (isFirst) headDigest = digest;
    else closedPages.unshift(entryOf(url, data));
  }
  const checkWholeTotals: typeof checkOrder = (...whole) => checkTotals(...whole, areAmountsRight);
  for (const check of [checkOrder, checkLinks, checkWholeTotals, checkTimes]) {
    // The server verifies in the thread that takes writes.
    await nextTurn();
    check(findings, market, observations);
  }
  const unknownValues = observations.filter(({ unknownReason }) => unknownReason !== null).length;
  return {
    observations,
    closedPages,
    headDigest,
    unknownValues,
    pages,
    missingValues: missingValues(market, observations),
    areAmountsRight,
  };
}

/** The entry that the index of the history must have for this page. */
function entryOf(url: string, data: readonly PublicObservation[]): PageSpan {
  return {
    cursor: url.slice(url.indexOf('=') + 1),
    count: data.length,
    firstObservedAt: canonicalInstant(data.at(-1)?.observedAt ?? ''),
    lastObservedAt: canonicalInstant(data[0]?.observedAt ?? ''),
  };
}

function missingValues({ sources }: Market, observations: readonly Observation[]): number {
  let missing = 0;
  for (const { label, cadence } of sources) {
    if (!cadence) continue;
    const ofSource = observations.filter((observation) => observation.sourceLabel === label && isShowable(observation));
    // Newest first, each moment once: a source may have several metrics.
    const moments = [...new Set(ofSource.map(({ observedAt }) => observedAt))];
    for (const [index, moment] of moments.entries()) {
      const older = moments[index + 1];
      if (older !== undefined) missing += missingBetween(cadence, older, moment);
    }
  }
  return missing;
}

function checkOrder(findings: Findings, market: Market, observations: readonly PublicObservation[]): void {
  const ids = new Set(observations.map(({ id }) => id));
  if (ids.size !== observations.length) findings.add(market.history.href, 'order', 'shows an observation twice');
  // The version is not public. Within one source and moment, the links give the order of versions.
  const places = observations.map((observation) => orderKey({ ...observation, market: market.slug, ordinal: 0 }));
  const wrong = places.findIndex((place, index) => index > 0 && place > (places[index - 1] as string));
  if (wrong > 0)
    findings.add(market.history.href, 'order', `${observations[wrong]?.id} is newer than the one before it`);
}

function checkLinks(findings: Findings, market: Market, observations: readonly Observation[]): void {
  const byId = new Map(observations.map((observation) => [observation.id, observation]));
  for (const { id, supersedes, supersededAt, supersededBy } of observations) {
    const next = supersededBy === null ? null : byId.get(supersededBy);
    const forward = next === null || next?.supersedes === id;
    const backward = supersedes === null || byId.get(supersedes)?.supersededBy === id;
    if (!forward || !backward) findings.add(market.history.href, 'link', `the correction links of ${id} do not match`);
    if (next !== undefined && supersededAt !== (next?.recordedAt ?? null)) {
      findings.add(market.history.href, 'time', `${id} was superseded at another time than ${supersededAt}`);
    }
  }
}

/** If all amounts are right, the market is rendered again from its history. */
function checkTotals(
  findings: Findings,
  market: Market,
  observations: readonly PublicObservation[],
  areAmountsRight: boolean,
): void {
  const { count, href } = market.history;
  if (observations.length < count) {
    findings.add(href, 'older-than-its-link', `shows ${observations.length} observations, the market counts ${count}`);
  }
  if (observations.length !== count || !areAmountsRight) return;
  if (bodyByHistory(market, observations) !== canonicalJson(market as unknown as Json))
    findings.add(href, 'count', 'the market shows other values than those that stand in its history');
}

/** The market's body with the values of this history, newest first. Other facts are taken from the market. */
function bodyByHistory({ announced: _, ...market }: Market, observations: readonly PublicObservation[]): string {
  const { slug, revision, representedBy: name, representedBySalt: salt = null, disputedMetrics, sources } = market;
  const stored = observations.toReversed().map((observation) => {
    const { decimal, decimalPerUnit, minorDigits, ...value } = observation as Extract<
      typeof observation,
      { kind: 'money' }
    >;
    // Only one version of an observation stands, so any version number gives the same body.
    const { sort } = observationKey(slug, orderKey({ ...observation, market: slug, ordinal: 0 }));
    return { sort, revision: 0, value };
  });
  return marketBody(slug, revision, {
    ...market,
    ...recountOf(stored),
    standing: publicStanding(name === null ? null : { name, salt }, disputedMetrics, sources),
  });
}

/** If the market counts an observation, its `updatedAt` is not earlier than the recording of that observation. */
function checkTimes(findings: Findings, { history, updatedAt }: Market, observations: readonly Observation[]): void {
  if (observations.length !== history.count) return;
  const late = observations.find(
    ({ recordedAt }) => updatedAt === null || millisecondInstant(recordedAt) > millisecondInstant(updatedAt),
  );
  if (late === undefined) return;
  findings.add(history.href, 'time', `${late.id} was recorded at ${late.recordedAt}, after the market's ${updatedAt}`);
}

/** The texts of an amount must equal its minor units. The market's metrics are observations too. */
function checkAmounts(
  findings: Findings,
  { history, unit }: Market,
  observations: readonly PublicObservation[],
): boolean {
  const wrong = observations.find((observation) => {
    if (observation.kind !== 'money') return false;
    const { amountMinor, currency, minorDigits, decimal, decimalPerUnit } = observation;
    if (currencyExponent(currency) === null) return true;
    const expected = moneyTexts(amountMinor, currency, unit.quantity);
    const isSame = minorDigits === expected.minorDigits && decimal === expected.decimal;
    return !isSame || decimalPerUnit !== expected.decimalPerUnit;
  });
  if (wrong !== undefined) findings.add(history.href, 'amount', `the decimals of ${wrong.id} are not its amount`);
  return wrong === undefined;
}
