/**
 * Compares the public bodies of one market with the log: they must be the same byte for byte, and no page may be missing or
 * extra.
 */

import { isCursorOf } from '../../../contract/files/cursors.ts';
import { NEXT_OF_HISTORY, NEXT_OF_PAGE } from '../../../contract/files/object-paths.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { historyUrl, marketUrl } from '../../../contract/files/routes.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { canonicalInstant } from '../../../contract/values/metric.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { historyPageBody, marketBody } from '../../core/bodies/render.ts';
import type { Folded, LogFold } from '../../core/log/fold.ts';
import type { FoldedMarket, PublicRepresentative } from '../../core/log/folded-market.ts';
import { PROJECTORS } from '../../projections.ts';
import type { Findings } from '../check-body.ts';
import { jsonIn } from '../check-file.ts';
import type { MarketBodies } from '../projection-check.ts';
import type { PublicReader } from '../reading/reader.ts';
import { shownByLog } from '../shown-market.ts';

/** The counts of all shown markets by the log, with the names of the snapshot's fields. */
export interface FoldedCounts {
  markets: number;
  observations: number;
  unknownValues: number;
}

/** The market by the log; null, with a finding, if its entries contradict each other. */
export function foldedMarket(fold: LogFold, slug: string, findings: Findings): Folded | null {
  try {
    return fold.market(slug);
  } catch (error) {
    if (!(error instanceof LogFaultError)) throw error;
    findings.add(marketUrl(slug), 'log', error.message);
    return null;
  }
}

export interface FoldedBodies extends Omit<MarketBodies, 'shown' | 'removal' | 'closedPages'> {
  readonly folded: Folded;
  /** Observations on a closed page. */
  readonly pageSize: number;
}

export async function checkFolded(market: FoldedBodies): Promise<void> {
  const { reader, findings, slug, folded, pageSize } = market;
  const bodies = { ...market, shown: null, removal: null, closedPages: [] };
  if (folded.kind === 'removed') {
    const { removal } = folded;
    const expected = canonicalJson(removedMarketDocument(removal));
    for (const url of [marketUrl(slug), historyUrl(slug)]) await compare(reader, findings, url, 410, () => expected);
    for (const { checkMarket } of PROJECTORS) await checkMarket?.({ ...bodies, removal });
    return;
  }
  const expectedMarket = (text: string) => {
    const representative = representativeOf(text);
    if (!isNamed(folded.representedBy, representative)) return null;
    return marketBody(slug, folded.revision, folded.record(representative));
  };
  await compare(reader, findings, marketUrl(slug), 200, expectedMarket);
  const cursors = await checkPages(reader, findings, slug, folded, pageSize);
  const closedPages = cursors.map((cursor, page) => {
    const onPage = folded.observations.slice(page * pageSize, (page + 1) * pageSize);
    const at = (index: number) => canonicalInstant(onPage.at(index)?.observation.observedAt ?? '');
    return { cursor, count: onPage.length, firstObservedAt: at(0), lastObservedAt: at(-1) };
  });
  const shown = shownByLog(slug, folded);
  for (const { checkMarket } of PROJECTORS) await checkMarket?.({ ...bodies, shown, closedPages });
}

/**
 * Compares the pages, newest first. All parts of a cursor follow from the log, except the number of its generation.
 *
 * @returns the cursors of the closed pages, oldest first
 */
async function checkPages(
  reader: PublicReader,
  findings: Findings,
  slug: string,
  { observations, record }: FoldedMarket,
  pageSize: number,
): Promise<readonly string[]> {
  const cursors: string[] = [];
  const { quantity } = record(null).unit;
  let page = Math.max(0, Math.ceil(observations.length / pageSize) - 1);
  for (let cursor: string | null = null; ; page--) {
    const url: string = cursor === null ? historyUrl(slug) : `${historyUrl(slug)}?cursor=${cursor}`;
    const onPage = observations.slice(page * pageSize, (page + 1) * pageSize);
    const shown = onPage.map(({ observation }) => observation);
    const text = await compare(reader, findings, url, 200, (found) => {
      const next = nextCursorOf(found);
      if ((next === null) !== (page === 0) || (cursor !== null && !isCursorOf(cursor, sha256Hex(found)))) return null;
      return historyPageBody(shown, next, quantity, cursor === null ? NEXT_OF_HISTORY : NEXT_OF_PAGE);
    });
    cursor = text === null ? null : nextCursorOf(text);
    if (cursor === null) return cursors.reverse();
    cursors.push(cursor);
  }
}

/** Reads the body. Null, with a finding, if it differs from the log's. */
async function compare(
  reader: PublicReader,
  findings: Findings,
  url: string,
  status: 200 | 410,
  expectedOf: (found: string) => string | null,
): Promise<string | null> {
  const response = await reader(url);
  if (response.status !== status) {
    findings.add(url, 'not-in-log', `answered ${response.status}, by the log ${status}`);
    return null;
  }
  const found = Buffer.from(response.body);
  const text = found.toString('utf8');
  const expected = expectedOf(text);
  if (expected !== null && Buffer.from(expected).equals(found)) return text;
  findings.add(url, 'not-in-log', 'holds other bytes than the entries of the log give');
  return null;
}

/**
 * Whether a body names the representative whose digest the log has, or nobody if the log has none. A name that was public
 * before the log began has no digest, so any name is right.
 */
export function isNamed(logged: FoldedMarket['representedBy'], representative: PublicRepresentative | null): boolean {
  if (logged === null || representative === null) return logged === null && representative === null;
  const { name, salt } = representative;
  return logged.digest === null ? salt === null : salt !== null && sha256Hex(`${salt}\n${name}`) === logged.digest;
}

/** The representative whom a market's body names. @param text the text of any body */
export function representativeOf(text: string): PublicRepresentative | null {
  const { representedBy: name, representedBySalt: salt } = objectOf(text);
  return typeof name === 'string' ? { name, salt: typeof salt === 'string' ? salt : null } : null;
}

function nextCursorOf(text: string): string | null {
  const { page } = objectOf(text) as { readonly page?: { readonly nextCursor?: unknown } };
  return typeof page?.nextCursor === 'string' ? page.nextCursor : null;
}

function objectOf(text: string): { readonly [name: string]: unknown } {
  const json = jsonIn(text);
  return typeof json === 'object' && json !== null ? (json as { readonly [name: string]: unknown }) : {};
}
