/**
 * The oracle: walks everything public, by GET alone, and checks every promise to readers. The same function checks the
 * tests' injected faults and running deployments.
 */
import pMap from 'p-map';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { type Market, marketSchema } from '../../contract/values/market.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../dependencies.ts';
import type { Projector } from '../kernel/projection.ts';
import { PROJECTORS } from '../projections.ts';
import { openBodyChecks } from './body-checks.ts';
import { type Checked, checkAnswer, Findings, readSnapshot } from './check-body.ts';
import { checkHistory } from './check-history.ts';
import { checkRemoved } from './log/check-removed.ts';
import { checkPublishedAt, checkTransport } from './reading/check-transport.ts';
import type { PublicReader } from './reading/reader.ts';
import { ALL_MARKETS, assertShare, type Share } from './reading/share.ts';
import { ListWalk } from './reading/walk-pages.ts';
import type { VerifyReport } from './report.ts';

export interface VerifyOptions {
  readonly pageSizes?: PageSizes;
  /**
   * True if nothing is being published: then all bodies must belong to one generation. Otherwise the target of a link may
   * be newer than the link, never older. A shared cache keeps each body for 15 s from its first read. So for 15 s after a
   * publication, a walk through the cache may see bodies of both generations.
   */
  readonly settled?: boolean;
  /**
   * The share of markets whose bodies and histories are checked. Default: all markets. The list itself is always
   * checked as a whole.
   */
  readonly share?: Share;
  /**
   * Slugs of removed markets whose removal is published: their URLs must answer 410, and the list must not show them. Only
   * the ledger knows all of them.
   */
  readonly removed?: readonly string[];
  /** Default: all projections of this version. */
  readonly projectors?: readonly Projector[];
  /** Whether the bodies of markets are skipped, because the log has proven them. */
  readonly withoutMarkets?: boolean;
  /** The time, in milliseconds since the epoch. Absent: no time counts as in the future. */
  readonly nowMs?: number;
}

const MARKETS_AT_ONCE = 8;

/**
 * Walks and checks. Rejects if the reader rejects, and with a RangeError for an invalid share. Every fault of an answer is
 * a finding.
 */
export async function verify(reader: PublicReader, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { pageSizes = DEFAULT_PAGE_SIZES, settled = false, share = ALL_MARKETS, removed = [], nowMs } = options;
  const { projectors = PROJECTORS, withoutMarkets = false } = options;
  assertShare(share);
  const findings = new Findings();
  const leftMeanwhile: string[] = [];
  const totals = { observations: 0, unknownValues: 0, pages: 0, missingValues: 0 };
  // The list has a cadence, so it may be behind its markets. Findings of this read are dropped; the snapshot is checked
  // when it is read again below.
  const before = await readSnapshot(reader);
  const asked = { projectors, share, snapshot: before?.value ?? null, isKept: withoutMarkets };
  const checks = await openBodyChecks(reader, findings, asked);
  const list = new ListWalk(reader, findings, pageSizes.markets, checks.item);
  const isListCurrent = before === null || before.value.listGeneration === before.value.generation;
  let firstSlug: string | null = null;
  const checkMarket = async (item: Market): Promise<void> => {
    firstSlug ??= item.slug;
    if (withoutMarkets) return;
    const url = marketUrl(item.slug);
    const response = await reader(url);
    if (response.status === 410 && !settled) {
      // The market may have been removed since the list was read.
      leftMeanwhile.push(item.slug);
      return;
    }
    const market = checkAnswer(findings, url, response, marketSchema);
    if (market === null) return;
    checkAgainstItem(findings, item, market, settled && isListCurrent);
    const history = await checkHistory(reader, findings, market.value, pageSizes.observations);
    const isSame = history.observations.length === market.value.history.count;
    const { slug, revision } = market.value;
    const shown = { slug, revision, market: market.value, observations: history.observations };
    // Different bodies may be of two generations: the next walk compares them again.
    if (isSame && history.areAmountsRight) await checks.market(shown, history, market.text === canonicalJson(item));
    else if (!isSame && settled)
      findings.add(item.history.href, 'unsettled', 'is of another generation than its market');
    totals.observations += history.observations.length;
    totals.unknownValues += history.unknownValues;
    totals.pages += history.pages;
    totals.missingValues += history.missingValues;
  };
  await pMap(list.itemsOf(share), checkMarket, { concurrency: MARKETS_AT_ONCE });
  await checkRemoved(reader, findings, new Set([...removed, ...leftMeanwhile]), pageSizes);

  // The snapshot is put last, so it is read last. It may be older than the list only while something is being
  // published.
  const snapshot = await readSnapshot(reader, findings);
  if (snapshot !== null && nowMs !== undefined) checkPublishedAt(findings, snapshot.value.publishedAt, nowMs);
  if (settled && snapshot !== null && list.head !== null) {
    const { counts, filesGeneration, listDigest } = snapshot.value;
    const { observations, unknownValues } = totals;
    // In a share, or without markets, not all observations were counted.
    const found =
      share.of === 1 && !withoutMarkets
        ? { markets: list.markets, observations, unknownValues }
        : { ...counts, markets: list.markets };
    if (filesGeneration !== undefined)
      findings.add(SNAPSHOT_URL, 'unsettled', `files of histories wait since generation ${filesGeneration}`);
    if (listDigest !== list.head.digest)
      findings.add(SNAPSHOT_URL, 'digest', 'names another list than the one published');
    if (isListCurrent && canonicalJson(counts) !== canonicalJson(found)) {
      findings.add(SNAPSHOT_URL, 'count', `counts ${canonicalJson(counts)}, found ${canonicalJson(found)}`);
    }
  }
  await checks.end(list);
  const sample = firstSlug === null ? [] : [marketUrl(firstSlug), historyUrl(firstSlug)];
  if (!withoutMarkets) await checkTransport(reader, findings, [MARKETS_URL, SNAPSHOT_URL, ...sample], settled);
  return {
    findings: findings.all,
    generation: snapshot?.value.generation ?? null,
    markets: list.markets,
    observations: totals.observations,
    pages: list.pages + totals.pages,
    missingValues: totals.missingValues,
  };
}

function checkAgainstItem(findings: Findings, item: Market, market: Checked<Market>, settled: boolean): void {
  const url = marketUrl(item.slug);
  if (market.value.slug !== item.slug) findings.add(url, 'link', `is about ${market.value.slug}`);
  if (market.value.history.href !== historyUrl(item.slug))
    findings.add(url, 'link', 'names another history than its own');
  if (market.value.revision < item.revision) {
    const revisions = `revision ${market.value.revision}, its list item is of ${item.revision}`;
    findings.add(url, 'older-than-its-link', `is of ${revisions}`);
  }
  const differs = canonicalJson(item) !== market.text;
  if (differs && market.value.revision === item.revision) findings.add(url, 'digest', 'differs from its list item');
  if (differs && settled) findings.add(url, 'unsettled', 'is of another generation than its list item');
}
