/**
 * Compares with the log what is published later than the markets: the list, the files beside it, and faces. Whoever serves
 * the files can say in the snapshot that there are none, so everything is asked for.
 */
import { defaultListEverySeconds } from '../dependencies.ts';
import type { Folded } from '../log/fold.ts';
import type { Findings } from './check-body.ts';
import { checkItem, checkMissing, type ListedItem, ListRows, listedItem } from './check-list-rows.ts';
import { LoggedFaces } from './check-logged-faces.ts';
import type { LogWalk } from './log-walk.ts';
import { type Lateness, PastMarket, SLACK_MS } from './past-market.ts';
import type { PublicReader } from './reader.ts';
import { ALL_MARKETS } from './share.ts';
import type { ListWalk } from './walk-pages.ts';

/** A list is published this often at least. */
const LIST_SECONDS_MIN = 60;
/** Exports and faces are made once a day. */
export const DAILY_MS = 2 * 24 * 60 * 60 * 1000 + SLACK_MS;

export interface LaterOptions {
  /** Milliseconds since the epoch. Null: nothing is found to be late. */
  readonly nowMs: number | null;
  /** Whether only the list is there: an edition has no other files. */
  readonly isListAlone: boolean;
}

export class LaterFiles {
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly #findings: Findings;
  readonly #walk: LogWalk;
  readonly #lateness: Lateness;
  readonly #rows: ListRows | null;
  readonly #faces: LoggedFaces | null;

  static async read(
    reader: PublicReader,
    findings: Findings,
    walk: LogWalk,
    list: ListWalk,
    { nowMs, isListAlone }: LaterOptions,
  ): Promise<LaterFiles> {
    const listed = new Map<string, ListedItem>();
    for await (const item of list.itemsOf(ALL_MARKETS)) listed.set(item.slug, listedItem(item));
    const listSeconds = Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(walk.fold.slugs().length));
    // Twice: a list may just have been published when the market changed.
    const lateness = { nowMs, mostMs: 2 * listSeconds * 1000 + SLACK_MS };
    const rows = isListAlone ? null : await ListRows.read(reader, findings);
    const faces = isListAlone ? null : new LoggedFaces(reader, findings, { nowMs, mostMs: DAILY_MS });
    return new LaterFiles(findings, walk, listed, lateness, rows, faces);
  }

  private constructor(
    findings: Findings,
    walk: LogWalk,
    listed: ReadonlyMap<string, ListedItem>,
    lateness: Lateness,
    rows: ListRows | null,
    faces: LoggedFaces | null,
  ) {
    this.#findings = findings;
    this.#walk = walk;
    this.listed = listed;
    this.#lateness = lateness;
    this.#rows = rows;
    this.#faces = faces;
  }

  /** To be called once for each market of the log. */
  async market(slug: string, folded: Folded): Promise<void> {
    const past = new PastMarket(this.#walk.fold, slug, this.#walk.size);
    const current = folded.kind === 'shown' ? folded : null;
    const item = this.listed.get(slug);
    if (item !== undefined) checkItem(this.#findings, item, past, current, this.#lateness);
    else if (current !== null) checkMissing(this.#findings, past, this.#lateness);
    this.#rows?.check(past, current, this.#lateness);
    if (folded.kind === 'shown') await this.#faces?.market(past, folded);
    else await this.#faces?.removed(past, folded.removal);
  }

  /** After all markets. */
  async end(): Promise<void> {
    this.#rows?.end();
    await this.#faces?.shared(this.#walk);
  }
}
