/**
 * Compares the items of the list with the log. The list has a cadence, so an item may show a market at an earlier revision,
 * but only as the log had it then, and not for too long.
 */

import { MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import type { Market } from '../../contract/values/market.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { marketBody } from '../core/bodies/render.ts';
import type { FoldedMarket } from '../core/log/folded-market.ts';
import type { Findings } from './check-body.ts';
import { isNamed } from './check-folded.ts';
import type { Lateness, PastMarket } from './past-market.ts';

/** An item of the list, without its bytes: a long list would not fit into memory. */
export interface ListedItem {
  readonly revision: number;
  readonly digest: string;
  readonly name: string | null;
  readonly salt: string | null;
}

export function listedItem(market: Market): ListedItem {
  const { revision, representedBy: name, representedBySalt: salt = null } = market;
  return { revision, digest: sha256Hex(canonicalJson(market as unknown as Json)), name, salt };
}

/** @param past of the item's market */
export function checkItem(
  findings: Findings,
  item: ListedItem,
  past: PastMarket,
  current: FoldedMarket | null,
  lateness: Lateness,
): void {
  const { slug } = past;
  const { revision, digest, name, salt } = item;
  const candidates = current?.revision === revision ? [current] : past.at(revision);
  const representative = name === null ? null : { name, salt };
  const shown = candidates.find(({ representedBy, record }) => {
    if (!isNamed(representedBy, representative)) return false;
    return sha256Hex(marketBody(slug, revision, record(representative))) === digest;
  });
  if (shown === undefined) {
    findings.add(MARKETS_URL, 'not-in-log', `shows ${slug} otherwise than the log at revision ${revision}`);
  } else if (shown !== current && past.isLate(revision, shown.record(null).updatedAt, lateness)) {
    findings.add(MARKETS_URL, 'time', `still shows revision ${revision} of ${slug}`);
  }
}

/** Markets that the list lacks although the log has them. */
export function checkMissing(findings: Findings, past: PastMarket, lateness: Lateness): void {
  if (past.isLateIfMissing(lateness))
    findings.add(marketUrl(past.slug), 'not-in-log', 'is in the log, and not in the list');
}
