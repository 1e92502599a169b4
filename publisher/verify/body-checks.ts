/** Opens the checks of projections that compare files with the bodies, for `verify` and for a mirror. */
import type { Projection } from '../../contract/files/projections.ts';
import { historyUrl, MARKETS_URL } from '../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import type { Projector } from '../kernel/projection.ts';
import { checkHeaders, Findings } from './check-body.ts';
import type { CheckedHistory } from './check-history.ts';
import type { CheckContext } from './projection-check.ts';
import type { PublicReader } from './reading/reader.ts';
import { ALL_MARKETS, type Share } from './reading/share.ts';
import type { ListWalk } from './reading/walk-pages.ts';
import type { ShownMarket } from './shown-market.ts';

interface BodyCheckOptions {
  readonly snapshot: Snapshot | null;
  readonly projectors: readonly Projector[];
  readonly share?: Share;
  /**
   * Whether a mirror keeps the files that are read. Then kinds that the snapshot does not name are skipped, because the
   * service may just have switched them off.
   */
  readonly isKept: boolean;
}

export async function openBodyChecks(
  reader: PublicReader,
  findings: Findings,
  { snapshot, projectors, share = ALL_MARKETS, isKept }: BodyCheckOptions,
) {
  // The files of a deferred projection may be of an earlier generation, so they are skipped.
  const current = projectors.filter(({ name }) => snapshot?.deferred?.includes(name) !== true);
  /** Kinds that answer although the snapshot does not name them. Each gets one finding. */
  const unnamed = new Set<Projection>();

  const isStated = (kind: Projection): boolean => snapshot?.projections?.includes(kind) === true;

  /**
   * Whether the snapshot names the kind, or this file of the kind exists. The snapshot is not signed, so an existing file
   * is checked in any case. If the snapshot does not name its kind, that is a finding.
   */
  const has = async (kind: Projection, url: string): Promise<boolean> => {
    if (isStated(kind)) return true;
    if (isKept || (await reader(url)).status !== 200) return false;
    if (snapshot !== null && !unnamed.has(kind))
      findings.add(url, 'status', `answered 200, and the snapshot does not name ${kind}`);
    unnamed.add(kind);
    return true;
  };

  const read: CheckContext['read'] = async (kind, url, contentType, isDue = true) => {
    if (!(await has(kind, url))) return null;
    const answer = await reader(url);
    if (answer.status === 200) {
      if (contentType !== null) checkHeaders(findings, url, answer, contentType);
      return answer;
    }
    if (isDue) findings.add(url, 'status', `answered ${answer.status}, expected 200`);
    return null;
  };

  const context: CheckContext = { reader, findings, snapshot, share, isStated, read, rule: 'file', log: null };
  const opened = await Promise.all(current.map(({ check }) => check?.(context)));
  const checks = opened.filter((check) => check !== undefined);

  return {
    /** Receives each item of the list. */
    item(item: Market): void {
      for (const check of checks) check.item?.(item);
    },

    /** @param isListed whether the list shows the market with the same bytes */
    async market(shown: ShownMarket, { closedPages, headDigest }: CheckedHistory, isListed: boolean): Promise<void> {
      const { slug } = shown;
      const own = new Findings();
      const isWithout = async (kind: Projection, url: string) => !(await has(kind, url));
      const ofMarket = { slug, shown, removal: null };
      const bodies = { ...ofMarket, reader, findings: own, closedPages, isStated, isWithout, rule: 'file' } as const;
      for (const { checkMarket } of current) await checkMarket?.(bodies);
      // If the history has changed since it was read, drop the findings: the next walk checks again.
      if (own.all.length > 0 && sha256Hex((await reader(historyUrl(slug))).body) === headDigest)
        findings.all.push(...own.all);
      const listed = () => (isListed ? [shown] : null);
      for (const check of checks) await check.market?.({ ...ofMarket, listed, past: null });
    },

    async end({ head, latest: entries }: Pick<ListWalk, 'head' | 'latest'>): Promise<void> {
      const list = { head, entries };
      const ofList = new Findings();
      for (const check of checks) {
        await check.end?.(list);
        if (head !== null) await check.ofList?.(list, ofList);
      }
      if (ofList.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === head?.digest)
        findings.all.push(...ofList.all);
    },
  };
}
