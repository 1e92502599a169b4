/** Opens the checks of projections that compare files with the bodies, for `verify` and for a mirror. */
import type { Projection } from '../../contract/files/projections.ts';
import { historyUrl, MARKETS_URL } from '../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import type { Projector } from '../kernel/projection.ts';
import { checkHeaders, Findings } from './check-body.ts';
import type { CheckedHistory } from './check-history.ts';
import type { CheckContext, ProjectionCheck } from './projection-check.ts';
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

export class BodyChecks {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #projectors: readonly Projector[];
  readonly #isKept: boolean;
  readonly #named: readonly Projection[] | null;
  /** Kinds that answer although the snapshot does not name them. Each gets one finding. */
  readonly #unnamed = new Set<Projection>();
  #checks: readonly ProjectionCheck[] = [];

  static async open(
    reader: PublicReader,
    findings: Findings,
    { snapshot, projectors, share = ALL_MARKETS, isKept }: BodyCheckOptions,
  ): Promise<BodyChecks> {
    // The files of a deferred projection may be of an earlier generation, so they are skipped.
    const current = projectors.filter(({ name }) => snapshot?.deferred?.includes(name) !== true);
    const opened = new BodyChecks(reader, findings, current, snapshot, isKept);
    const { isStated, read } = opened;
    const context: CheckContext = { reader, findings, snapshot, share, isStated, read, rule: 'file', log: null };
    const checks = await Promise.all(current.map(({ check }) => check?.(context)));
    opened.#checks = checks.filter((check) => check !== undefined);
    return opened;
  }

  private constructor(
    reader: PublicReader,
    findings: Findings,
    projectors: readonly Projector[],
    snapshot: Snapshot | null,
    isKept: boolean,
  ) {
    this.#projectors = projectors;
    this.#reader = reader;
    this.#findings = findings;
    this.#isKept = isKept;
    this.#named = snapshot === null ? null : (snapshot.projections ?? []);
  }

  readonly isStated = (kind: Projection): boolean => this.#named?.includes(kind) === true;

  /**
   * Whether the snapshot names the kind, or this file of the kind exists. The snapshot is not signed, so an existing file
   * is checked in any case. If the snapshot does not name its kind, that is a finding.
   */
  readonly has = async (kind: Projection, url: string): Promise<boolean> => {
    if (this.isStated(kind)) return true;
    if (this.#isKept || (await this.#reader(url)).status !== 200) return false;
    if (this.#named !== null && !this.#unnamed.has(kind))
      this.#findings.add(url, 'status', `answered 200, and the snapshot does not name ${kind}`);
    this.#unnamed.add(kind);
    return true;
  };

  readonly read: CheckContext['read'] = async (kind, url, contentType, isDue = true) => {
    if (!(await this.has(kind, url))) return null;
    const answer = await this.#reader(url);
    if (answer.status === 200) {
      if (contentType !== null) checkHeaders(this.#findings, url, answer, contentType);
      return answer;
    }
    if (isDue) this.#findings.add(url, 'status', `answered ${answer.status}, expected 200`);
    return null;
  };

  readonly item = (item: Market): void => {
    for (const check of this.#checks) check.item?.(item);
  };

  /** @param isListed whether the list shows the market with the same bytes */
  async market(shown: ShownMarket, { closedPages, headDigest }: CheckedHistory, isListed: boolean): Promise<void> {
    const { slug } = shown;
    const [reader, isStated, findings] = [this.#reader, this.isStated, new Findings()];
    const isWithout = async (kind: Projection, url: string) => !(await this.has(kind, url));
    const bodies = {
      reader,
      findings,
      slug,
      shown,
      removal: null,
      closedPages,
      isStated,
      isWithout,
      rule: 'file',
    } as const;
    for (const { checkMarket } of this.#projectors) await checkMarket?.(bodies);
    // If the history has changed since it was read, drop the findings: the next walk checks again.
    if (findings.all.length > 0 && sha256Hex((await reader(historyUrl(slug))).body) === headDigest)
      this.#findings.all.push(...findings.all);
    const listed = () => (isListed ? [shown] : null);
    for (const check of this.#checks) await check.market?.({ slug, shown, removal: null, listed, past: null });
  }

  async end({ head, latest: entries }: Pick<ListWalk, 'head' | 'latest'>): Promise<void> {
    const list = { head, entries };
    const ofList = new Findings();
    for (const check of this.#checks) {
      await check.end?.(list);
      if (head !== null) await check.ofList?.(list, ofList);
    }
    if (ofList.all.length > 0 && sha256Hex((await this.#reader(MARKETS_URL)).body) === head?.digest)
      this.#findings.all.push(...ofList.all);
  }
}
