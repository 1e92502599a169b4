/**
 * Compares with the log the files that are published after the markets: the list, and files of projections. The snapshot is
 * not signed, so a host could deny a kind in it. Therefore every file is requested.
 */

import type { Projection } from '../../../contract/files/projections.ts';
import { MARKETS_URL, marketUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market, Snapshot } from '../../../contract/values/market.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { marketBody } from '../../core/bodies/render.ts';
import type { Folded } from '../../core/log/fold.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import { defaultListEverySeconds } from '../../dependencies.ts';
import type { Projector } from '../../kernel/projection.ts';
import type { Findings } from '../check-body.ts';
import type { CheckContext } from '../projection-check.ts';
import type { PublicReader } from '../reading/reader.ts';
import { ALL_MARKETS } from '../reading/share.ts';
import type { ListWalk } from '../reading/walk-pages.ts';
import { shownByLog } from '../shown-market.ts';
import { isNamed } from './check-folded.ts';
import type { LogWalk } from './log-walk.ts';
import { type Lateness, type PastMarket, SLACK_MS } from './past-market.ts';

/** The list is published at least this often, unless the log states another interval. */
const LIST_SECONDS_MIN = 60;

export interface LaterOptions {
  readonly walk: LogWalk;
  readonly list: ListWalk;
  readonly snapshot: Snapshot | null;
  readonly nowMs: number | null;
  readonly partEntries: number;
  readonly projectors: readonly Projector[];
  readonly isKept: boolean;
}

export async function readLaterFiles(reader: PublicReader, findings: Findings, options: LaterOptions) {
  const { walk, list, snapshot, projectors, nowMs, isKept } = options;
  const listed = new Map<string, ListedItem>();
  for await (const item of list.itemsOf(ALL_MARKETS)) listed.set(item.slug, listedItem(item));
  const { service } = walk.fold;
  const listSeconds =
    service?.listSeconds ?? Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(walk.fold.slugs().length));
  // Two intervals: the list may have been published just before the market changed.
  const lateness = { nowMs, mostMs: 2 * listSeconds * 1000 + SLACK_MS };
  const isStated = (kind: Projection) => service?.projections.includes(kind) ?? null;
  /** Files that were missing although they were due, with their kinds. */
  const missing = new Map<string, Projection>();
  /** Whether the log has a market that is older than the delay of such files. */
  let isOld = false;
  const context: CheckContext = {
    ...{ reader, findings, snapshot, isStated, rule: 'not-in-log', share: ALL_MARKETS },
    log: { ...options, listed: listed.size, lateness },
    async read(kind, url, _contentType, isDue = true) {
      if (isKept && isStated(kind) === false) return null;
      const answer = await reader(url);
      if (answer.status === 200) return answer;
      if (isDue && isStated(kind)) missing.set(url, kind);
      return null;
    },
  };
  const inLog = projectors.filter(({ isInLog }) => isInLog);
  const opened = await Promise.all(inLog.map(({ check }) => check?.(context)));
  const checks = opened.filter((check) => check !== undefined);

  return {
    listed: listed as ReadonlyMap<string, ListedItem>,

    /** The list item and the files' data about a market as one text. Equal texts show the same data. */
    shownOf: (slug: string): string =>
      [listed.get(slug)?.digest, ...checks.map((check) => check.shown?.(slug))].join(' '),

    /** Call it instead of `market` if none of the market's data has changed since an earlier pass. */
    skip(slug: string, isShown: boolean): void {
      isOld ||= isShown;
      for (const check of checks) check.skip?.(slug, isShown);
    },

    /**
     * Call it once for each market of the log.
     *
     * @returns whether the list shows the market's current revision
     */
    async market(past: PastMarket, folded: Folded): Promise<boolean> {
      const { slug } = past;
      const current = folded.kind === 'shown' ? folded : null;
      const item = listed.get(slug);
      isOld ||= past.isLateIfMissing(lateness);
      if (item !== undefined) checkItem(findings, item, past, current, lateness);
      else if (current !== null && past.isLateIfMissing(lateness))
        findings.add(marketUrl(slug), 'not-in-log', 'is in the log, and not in the list');
      const isCurrent = item?.revision === current?.revision;
      const shown = current && shownByLog(slug, current);
      const removal = folded.kind === 'removed' ? folded.removal : null;
      const ofList = () => (item === undefined ? [] : isCurrent && shown ? [shown] : past.at(item.revision));
      for (const check of checks) await check.market?.({ slug, shown, removal, listed: ofList, past });
      return isCurrent;
    },

    /** Call it after all markets. */
    async end(): Promise<void> {
      for (const check of checks) await check.end?.({ head: list.head, entries: list.latest });
      for (const [url, kind] of isOld ? missing : [])
        findings.add(url, 'not-in-log', `is missing, and the log says that ${kind} is published`);
    },
  };
}

// Compares the items of the list with the log. The list has a cadence, so an item may show a market at an earlier revision,
// but only as the log had it then, and not for too long.

/** An item of the list, without its bytes: a long list would not fit into memory. */
interface ListedItem {
  readonly revision: number;
  readonly digest: string;
  readonly name: string | null;
  readonly salt: string | null;
}

function listedItem(market: Market): ListedItem {
  const { revision, representedBy: name, representedBySalt: salt = null } = market;
  return { revision, digest: sha256Hex(canonicalJson(market as unknown as Json)), name, salt };
}

/** @param past the history of the item's market */
function checkItem(
  findings: Findings,
  item: ListedItem,
  past: PastMarket,
  current: FoldedMarket | null,
  lateness: Lateness,
): void {
  const { slug } = past;
  const { revision, digest, name, salt } = item;
  const candidates = current?.revision === revision ? [current] : past.foldedAt(revision);
  const representative = name === null ? null : { name, salt };
  const shown = candidates.find(({ representedBy, record }) => {
    if (!isNamed(representedBy, representative)) return false;
    return sha256Hex(marketBody(slug, revision, record(representative))) === digest;
  });
  if (shown === undefined) {
    findings.add(MARKETS_URL, 'not-in-log', `${slug} differs from the log at revision ${revision}`);
  } else if (shown !== current && past.isLate(revision, shown.record(null).updatedAt, lateness)) {
    findings.add(MARKETS_URL, 'time', `still shows revision ${revision} of ${slug}`);
  }
}
