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
import type { CheckContext, LogOfCheck, ProjectionCheck } from '../projection-check.ts';
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

export class LaterFiles {
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly #findings: Findings;
  readonly #log: LogOfCheck;
  #checks: readonly ProjectionCheck[] = [];
  /** Files that were missing although they were due, with their kinds. */
  readonly #missing = new Map<string, Projection>();
  /** Whether the log has a market that is older than the delay of such files. */
  #isOld = false;

  static async read(reader: PublicReader, findings: Findings, options: LaterOptions): Promise<LaterFiles> {
    const { walk, list, snapshot, projectors, nowMs } = options;
    const listed = new Map<string, ListedItem>();
    for await (const item of list.itemsOf(ALL_MARKETS)) listed.set(item.slug, listedItem(item));
    const { service } = walk.fold;
    const listSeconds =
      service?.listSeconds ?? Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(walk.fold.slugs().length));
    // Two intervals: the list may have been published just before the market changed.
    const lateness = { nowMs, mostMs: 2 * listSeconds * 1000 + SLACK_MS };
    const log = { ...options, listed: listed.size, lateness };
    const later = new LaterFiles(listed, findings, log);
    const isStated = (kind: Projection) => service?.projections.includes(kind) ?? null;
    const context: CheckContext = {
      ...{ reader, findings, snapshot, log, isStated, rule: 'not-in-log', share: ALL_MARKETS },
      async read(kind, url, _contentType, isDue = true) {
        if (log.isKept && isStated(kind) === false) return null;
        const answer = await reader(url);
        if (answer.status === 200) return answer;
        if (isDue && isStated(kind)) later.#missing.set(url, kind);
        return null;
      },
    };
    const inLog = projectors.filter(({ isInLog }) => isInLog);
    later.#checks = (await Promise.all(inLog.map(({ check }) => check?.(context)))).filter(
      (check) => check !== undefined,
    );
    return later;
  }

  private constructor(listed: ReadonlyMap<string, ListedItem>, findings: Findings, log: LogOfCheck) {
    this.listed = listed;
    this.#findings = findings;
    this.#log = log;
  }

  /** The list item and the files' data about a market as one text. Equal texts show the same data. */
  shownOf(slug: string): string {
    return [this.listed.get(slug)?.digest, ...this.#checks.map((check) => check.shown?.(slug))].join(' ');
  }

  /** Call it instead of {@link market} if none of the market's data has changed since an earlier pass. */
  skip(slug: string, isShown: boolean): void {
    this.#isOld ||= isShown;
    for (const check of this.#checks) check.skip?.(slug, isShown);
  }

  /**
   * Call it once for each market of the log.
   *
   * @returns whether the list shows the market's current revision
   */
  async market(past: PastMarket, folded: Folded): Promise<boolean> {
    const { slug } = past;
    const { lateness } = this.#log;
    const current = folded.kind === 'shown' ? folded : null;
    const item = this.listed.get(slug);
    this.#isOld ||= past.isLateIfMissing(lateness);
    if (item !== undefined) checkItem(this.#findings, item, past, current, lateness);
    else if (current !== null) checkMissing(this.#findings, past, lateness);
    const isCurrent = item?.revision === current?.revision;
    const shown = current && shownByLog(slug, current);
    const removal = folded.kind === 'removed' ? folded.removal : null;
    const listed = () => (item === undefined ? [] : isCurrent && shown ? [shown] : past.at(item.revision));
    for (const check of this.#checks) await check.market?.({ slug, shown, removal, listed, past });
    return isCurrent;
  }

  /** Call it after all markets. */
  async end(list: ListWalk): Promise<void> {
    for (const check of this.#checks) await check.end?.({ head: list.head, entries: list.latest });
    for (const [url, kind] of this.#isOld ? this.#missing : [])
      this.#findings.add(url, 'not-in-log', `is missing, and the log says that ${kind} is published`);
  }
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

/** Reports a market that the list lacks, if the log has had it for too long. */
function checkMissing(findings: Findings, past: PastMarket, lateness: Lateness): void {
  if (past.isLateIfMissing(lateness))
    findings.add(marketUrl(past.slug), 'not-in-log', 'is in the log, and not in the list');
}
