/**
 * Compares with the log what is published later than the markets: the list, the files beside it, and the files of
 * projections. Whoever serves the files can say in the snapshot that there are none, so everything is asked for.
 */
import type { Projection } from '../../contract/files/projections.ts';
import type { Folded } from '../core/log/fold.ts';
import { defaultListEverySeconds } from '../dependencies.ts';
import type { Projector } from '../kernel/projection.ts';
import type { Findings } from './check-body.ts';
import { checkItem, checkMissing, type ListedItem, ListRows, listedItem } from './check-list-rows.ts';
import type { LogWalk } from './log-walk.ts';
import { type Lateness, PastMarket, SLACK_MS } from './past-market.ts';
import type { LoggedCheck } from './projection-check.ts';
import type { PublicReader } from './reader.ts';
import { ALL_MARKETS } from './share.ts';
import type { ListWalk } from './walk-pages.ts';

/** A list is published this often at least, if the log does not say otherwise. */
const LIST_SECONDS_MIN = 60;

export interface LaterOptions {
  /** Milliseconds since the epoch. Null: nothing is found to be late. */
  readonly nowMs: number | null;
  readonly partEntries: number;
  readonly projectors: readonly Projector[];
  /** What is read is kept as a copy: files beside the list must be of this list, and not only of a recent one. */
  readonly isKept: boolean;
}

export class LaterFiles {
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly #findings: Findings;
  readonly #walk: LogWalk;
  readonly #lateness: Lateness;
  readonly #rows: ListRows;
  readonly #isKept: boolean;
  #checks: readonly LoggedCheck[] = [];
  #shown = 0;

  static async read(
    reader: PublicReader,
    findings: Findings,
    walk: LogWalk,
    list: ListWalk,
    { nowMs, partEntries, projectors, isKept }: LaterOptions,
  ): Promise<LaterFiles> {
    const listed = new Map<string, ListedItem>();
    for await (const item of list.itemsOf(ALL_MARKETS)) listed.set(item.slug, listedItem(item));
    const { service } = walk.fold;
    const listSeconds =
      service?.listSeconds ?? Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(walk.fold.slugs().length));
    // Twice: a list may just have been published when the market changed.
    const lateness = { nowMs, mostMs: 2 * listSeconds * 1000 + SLACK_MS };
    const isAskedFor = (kind: Projection) => !isKept || service?.projections.includes(kind) !== false;
    // A file that has become too long stays as it was until the sweep removes it, within the hour. A copy leaves it out.
    const isShort = (marketsMax: number) => !isKept || listed.size <= marketsMax;
    const rows = await ListRows.read(
      reader,
      findings,
      ({ projection, marketsMax }) => isAskedFor(projection) && isShort(marketsMax),
    );
    const later = new LaterFiles(findings, walk, listed, lateness, rows, isKept);
    const context = { reader, findings, walk, nowMs, partEntries, isAskedFor, miss: later.#miss };
    const checks = await Promise.all(projectors.map((projector) => projector.checkLogged?.(context)));
    later.#checks = checks.filter((check) => check !== undefined);
    return later;
  }

  private constructor(
    findings: Findings,
    walk: LogWalk,
    listed: ReadonlyMap<string, ListedItem>,
    lateness: Lateness,
    rows: ListRows,
    isKept: boolean,
  ) {
    this.#findings = findings;
    this.#walk = walk;
    this.listed = listed;
    this.#lateness = lateness;
    this.#rows = rows;
    this.#isKept = isKept;
  }

  /** What the list and the files beside it show of a market: equal texts, if they show the same. */
  shownOf(slug: string): string {
    return `${this.listed.get(slug)?.digest} ${this.#rows.digestOf(slug)}`;
  }

  /** In the place of {@link market}, if nothing of it has changed since an earlier pass. */
  skip(slug: string, isShown: boolean): void {
    this.#rows.skip(slug);
    if (isShown) this.#shown++;
  }

  /**
   * To be called once for each market of the log.
   *
   * @returns whether everything shows the market as it is now
   */
  async market(slug: string, folded: Folded): Promise<boolean> {
    const past = new PastMarket(this.#walk.fold, slug, this.#walk.size);
    const current = folded.kind === 'shown' ? folded : null;
    const item = this.listed.get(slug);
    if (item !== undefined) checkItem(this.#findings, item, past, current, this.#lateness);
    else if (current !== null) checkMissing(this.#findings, past, this.#lateness);
    const isCurrent = item?.revision === current?.revision;
    if (!this.#isKept) this.#rows.check(past, current, this.#lateness);
    else this.#rows.checkOf(slug, item === undefined ? [] : isCurrent && current ? [current] : past.at(item.revision));
    if (current !== null) this.#shown++;
    for (const check of this.#checks) await check.market?.(past, folded);
    return isCurrent;
  }

  /** After all markets. */
  async end(): Promise<void> {
    for (const { url, projection, marketsMax } of this.#rows.end())
      if (this.#shown > 0 && this.#shown <= marketsMax) this.#miss(projection, url);
    for (const check of this.#checks) await check.end?.();
  }

  readonly #miss = (kind: Projection, url: string): void => {
    if (this.#walk.fold.service?.projections.includes(kind))
      this.#findings.add(url, 'not-in-log', `is missing, and the log says that ${kind} is published`);
  };
}
