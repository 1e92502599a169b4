/**
 * The oracle: walks everything that is published, by GET alone, and checks every promise to the reader. The same
 * function judges the tests' injected faults and a running deployment.
 */
import pMap from 'p-map';
import { canonicalJson } from '../../contract/canonical-json.ts';
import { type Market, marketSchema, snapshotSchema } from '../../contract/market.ts';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/routes.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../dependencies.ts';
import { type Checked, checkBody, Findings } from './check-body.ts';
import { checkDocuments } from './check-documents.ts';
import { checkHistory } from './check-history.ts';
import type { PublicReader } from './reader.ts';
import type { VerifyReport } from './report.ts';
import { ALL_MARKETS, assertShare, type Share } from './share.ts';
import { ListWalk } from './walk-list.ts';

export interface VerifyOptions {
  readonly pageSizes?: PageSizes;
  /**
   * True when nothing is being published: then all bodies must be of one generation. Otherwise what a link leads to may
   * be newer than the link, never older. A shared cache keeps each body for its own 15 s: read through one, a publication
   * less than that ago can look like either.
   */
  readonly settled?: boolean;
  /** Whose bodies and histories are checked, of all markets unless it says so; the list itself is always checked whole. */
  readonly share?: Share;
}

const MARKETS_AT_ONCE = 8;

/**
 * Walks and checks. Rejects when the reader does, and with a RangeError for a share that there is not; whatever is wrong
 * with the answers is a finding.
 */
export async function verify(reader: PublicReader, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { pageSizes = DEFAULT_PAGE_SIZES, settled = false, share = ALL_MARKETS } = options;
  assertShare(share);
  const findings = new Findings();
  const list = new ListWalk(reader, findings, pageSizes.markets);
  const totals = { observations: 0, unknownValues: 0, pages: 0 };
  // A list in its cadence may be behind its markets. Findings about the snapshot come when it is read for itself.
  const before = settled ? await checkBody(reader, new Findings(), SNAPSHOT_URL, snapshotSchema) : null;
  const isListCurrent = before === null || before.value.listGeneration === before.value.generation;
  const checkMarket = async (item: Market): Promise<void> => {
    const market = await checkBody(reader, findings, marketUrl(item.slug), marketSchema);
    if (market === null) return;
    checkAgainstItem(findings, item, market, settled && isListCurrent);
    const history = await checkHistory(reader, findings, market.value, pageSizes.observations);
    if (settled && history.observations !== market.value.history.count) {
      findings.add(item.history.href, 'unsettled', 'is of another generation than its market');
    }
    totals.observations += history.observations;
    totals.unknownValues += history.unknownValues;
    totals.pages += history.pages;
  };
  await pMap(list.itemsOf(share), checkMarket, { concurrency: MARKETS_AT_ONCE });

  // The snapshot is put last, so it is read last: it may be older than the list, and only unsettled.
  const snapshot = await checkBody(reader, findings, SNAPSHOT_URL, snapshotSchema);
  if (settled && snapshot !== null && list.head !== null) {
    const { counts, listDigest } = snapshot.value;
    const { observations, unknownValues } = totals;
    // Of a share, nobody has counted the observations.
    const found =
      share.of === 1 ? { markets: list.markets, observations, unknownValues } : { ...counts, markets: list.markets };
    if (listDigest !== list.head.digest)
      findings.add(SNAPSHOT_URL, 'digest', 'names another list than the one published');
    if (isListCurrent && canonicalJson(counts) !== canonicalJson(found)) {
      findings.add(SNAPSHOT_URL, 'count', `counts ${canonicalJson(counts)}, found ${canonicalJson(found)}`);
    }
  }
  await checkDocuments(reader, findings);
  if (list.head !== null) await checkConditional(reader, findings, list.head, settled);
  return {
    findings: findings.all,
    generation: snapshot?.value.generation ?? null,
    markets: list.markets,
    observations: totals.observations,
    pages: list.pages + totals.pages,
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

/** A poller that has the newest bytes gets 304 and no body (RFC 9110, section 15.4.5). */
async function checkConditional(
  reader: PublicReader,
  findings: Findings,
  head: Checked<unknown>,
  settled: boolean,
): Promise<void> {
  const response = await reader(MARKETS_URL, { 'if-none-match': head.etag });
  if (response.status === 304 && response.body.length === 0) return;
  if (response.status === 200 && !settled) return;
  findings.add(MARKETS_URL, 'conditional', `answered ${response.status} to its own ETag, expected 304`);
}
