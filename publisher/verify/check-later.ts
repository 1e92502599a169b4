/**
 * Compares with the log what is published later than the markets: the list, the files beside it, and those for other programs. Whoever serves
 * the files can say in the snapshot that there are none, so everything is asked for.
 */
import { historyFilesDue } from '../../contract/files/history-files.ts';
import type { Projection } from '../../contract/files/projections.ts';
import { historyFileUrl } from '../../contract/files/routes.ts';
import type { Folded } from '../core/log/fold.ts';
import { defaultListEverySeconds } from '../dependencies.ts';
import { LoggedCompat } from '../projections/compat/check-logged.ts';
import { PARTS_URL } from '../projections/compat/read-parts.ts';
import type { Findings } from './check-body.ts';
import { checkItem, checkMissing, type ListedItem, ListRows, listedItem } from './check-list-rows.ts';
import type { LogWalk } from './log-walk.ts';
import { type Lateness, PastMarket, SLACK_MS } from './past-market.ts';
import type { PublicReader } from './reader.ts';
import { ALL_MARKETS } from './share.ts';
import type { ListWalk } from './walk-pages.ts';

/** A list is published this often at least, if the log does not say otherwise. */
const LIST_SECONDS_MIN = 60;
/** Exports and files for other programs are made once a day. */
export const DAILY_MS = 2 * 24 * 60 * 60 * 1000 + SLACK_MS;

export interface LaterOptions {
  /** Milliseconds since the epoch. Null: nothing is found to be late. */
  readonly nowMs: number | null;
}

export class LaterFiles {
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly #findings: Findings;
  readonly #walk: LogWalk;
  readonly #lateness: Lateness;
  readonly #rows: ListRows;
  readonly #compat: LoggedCompat;
  /** The kinds of files that the log says there are. */
  readonly #stated: ReadonlySet<string>;
  readonly #reader: PublicReader;
  #shown = 0;

  static async read(
    reader: PublicReader,
    findings: Findings,
    walk: LogWalk,
    list: ListWalk,
    { nowMs }: LaterOptions,
  ): Promise<LaterFiles> {
    const listed = new Map<string, ListedItem>();
    for await (const item of list.itemsOf(ALL_MARKETS)) listed.set(item.slug, listedItem(item));
    const { service } = walk.fold;
    const listSeconds =
      service?.listSeconds ?? Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(walk.fold.slugs().length));
    // Twice: a list may just have been published when the market changed.
    const lateness = { nowMs, mostMs: 2 * listSeconds * 1000 + SLACK_MS };
    const rows = await ListRows.read(reader, findings);
    const compat = await LoggedCompat.open(reader, findings, { nowMs, mostMs: DAILY_MS });
    const stated = new Set<string>(service?.projections);
    return new LaterFiles(reader, findings, walk, listed, lateness, rows, compat, stated);
  }

  private constructor(
    reader: PublicReader,
    findings: Findings,
    walk: LogWalk,
    listed: ReadonlyMap<string, ListedItem>,
    lateness: Lateness,
    rows: ListRows,
    compat: LoggedCompat,
    stated: ReadonlySet<string>,
  ) {
    this.#reader = reader;
    this.#stated = stated;
    this.#findings = findings;
    this.#walk = walk;
    this.listed = listed;
    this.#lateness = lateness;
    this.#rows = rows;
    this.#compat = compat;
  }

  /** To be called once for each market of the log. */
  async market(slug: string, folded: Folded): Promise<void> {
    const past = new PastMarket(this.#walk.fold, slug, this.#walk.size);
    const current = folded.kind === 'shown' ? folded : null;
    const item = this.listed.get(slug);
    if (item !== undefined) checkItem(this.#findings, item, past, current, this.#lateness);
    else if (current !== null) checkMissing(this.#findings, past, this.#lateness);
    this.#rows.check(past, current, this.#lateness);
    if (folded.kind === 'removed') return await this.#compat.removed(past, folded.removal);
    this.#shown++;
    const areMade = await this.#compat.market(past, folded);
    if (!past.isLateIfMissing({ ...this.#lateness, mostMs: DAILY_MS })) return;
    if (areMade === false) this.#miss('compat', PARTS_URL);
    const file = historyFileUrl(slug, 'csv', null);
    const { hasWhole } = historyFilesDue(folded.observations.length, 0);
    if (hasWhole && this.#stated.has('history-files') && (await this.#reader(file)).status === 404)
      this.#miss('history-files', file);
  }

  /** After all markets. */
  async end(): Promise<void> {
    for (const { url, projection, marketsMax } of this.#rows.end())
      if (this.#shown > 0 && this.#shown <= marketsMax) this.#miss(projection, url);
    await this.#compat.shared(this.#walk);
  }

  #miss(kind: Projection, url: string): void {
    if (this.#stated.has(kind))
      this.#findings.add(url, 'not-in-log', `is missing, and the log says that ${kind} is published`);
  }
}
