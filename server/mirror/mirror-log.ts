/** The log of a mirror: how far it is verified, and which markets its newer entries have changed. */

import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../contract/files/removed-market.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { type LogCheckpoint, openCheckpoint } from '../../contract/log/checkpoint.ts';
import type { ServiceEntry } from '../../contract/log/entries.ts';
import { takenDownHash } from '../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import { LogFold } from '../../publisher/core/log/fold.ts';
import type { FoldedMarket } from '../../publisher/core/log/folded-market.ts';
import type { ReadLog } from '../../publisher/projections/exports/check-export-rows.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import { checkFolded, foldedMarket } from '../../publisher/verify/check-folded.ts';
import { checkItem, listedItem } from '../../publisher/verify/check-list-rows.ts';
import { type Lateness, PastMarket } from '../../publisher/verify/past-market.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { MirrorCopy } from './copy.ts';
import { type FollowedLog, followLog } from './follow-log.ts';
import { linesOf, putLogFile, readLogFile, tilesOfCopy } from './log-copy.ts';
import { type MirrorProgress, NO_PROGRESS } from './step-progress.ts';

/** What a mirror's folder keeps of the log. */
export interface MirrorLogState extends FollowedLog {
  /** The bodies in the copy are as new as so many entries, or newer. */
  readonly bodiesAt: number;
}

/** For what is asked at any revision. */
export const NEVER_LATE: Lateness = { nowMs: null, mostMs: 0 };

export class MirrorLog {
  readonly #upstream: PublicReader;
  readonly #copy: MirrorCopy;
  readonly #progress: MirrorProgress;
  #known: FollowedLog;
  #bodiesAt: number;
  /**
   * Markets whose bodies may be older than the log, with the revision that they must have. The service puts bodies
   * before the checkpoint.
   */
  readonly due = new Map<string, number>();
  /**
   * Bodies that were newer than the log when a round ended: the revision of each, null for a removal. None of them is in
   * the copy. A service puts bodies before the checkpoint, so one may be true once; not again a round later.
   */
  readonly ahead = new Map<string, number | null>();
  /** Everything that the verified entries say. */
  #fold = new LogFold({ keepsPast: true });
  /** Entries were noted, and then the log could not be taken over. */
  #isFoldAhead = false;
  #faults: Finding[] = [];

  private constructor(upstream: PublicReader, copy: MirrorCopy, state: MirrorLogState, progress: MirrorProgress) {
    this.#upstream = upstream;
    this.#copy = copy;
    this.#progress = progress;
    this.#known = state;
    this.#bodiesAt = state.bodiesAt;
  }

  /** Reads the entries that an earlier process has verified. */
  static async open(
    upstream: PublicReader,
    copy: MirrorCopy,
    state: MirrorLogState,
    progress = NO_PROGRESS,
  ): Promise<MirrorLog> {
    const log = new MirrorLog(upstream, copy, state, progress);
    await log.#readCopy();
    return log;
  }

  get state(): MirrorLogState {
    return { ...this.#known, bodiesAt: this.#bodiesAt };
  }

  /** Null: no checkpoint was verified. */
  get checkpoint(): LogCheckpoint | null {
    const { checkpoint, vkeys } = this.#known;
    return checkpoint === null ? null : openCheckpoint(checkpoint, vkeys.map(verifierKey));
  }

  /** Takes over what is new. Rejects as {@link followLog} does. */
  async follow(generation: number): Promise<void> {
    if (this.#isFoldAhead) await this.#readCopy();
    const options = {
      upstream: this.#upstream,
      copy: this.#copy,
      generation,
      onGrowth: (entries: number) => this.#progress.begin('log', entries),
      onEntry: (line: string) => {
        this.#progress.did();
        this.#isFoldAhead = true;
        this.#note(line, true);
      },
      isAnnounced: (index: number) => this.#fold.isAnnounced(index),
    };
    this.#known = await followLog(this.#known, options);
    this.#isFoldAhead = false;
  }

  /** Whether the log has the size and the root that the snapshot names. `ahead`: it is not verified up to there. */
  async agreesWith({ log }: Pick<Snapshot, 'log'>): Promise<'yes' | 'no' | 'ahead'> {
    const { checkpoint } = this;
    if (log === undefined) return 'no';
    if (checkpoint === null || log.size > checkpoint.size) return 'ahead';
    const tree = await LogTree.at(log.size, tilesOfCopy(this.#copy, checkpoint.size));
    return tree.root().toString('base64') === log.root ? 'yes' : 'no';
  }

  /** Whether the snapshot names the whole log that is verified, or another one, which no waiting mends. */
  async isSettled(snapshot: Snapshot): Promise<boolean> {
    const position = await this.agreesWith(snapshot);
    return position === 'no' || (position === 'yes' && snapshot.log?.size === this.checkpoint?.size);
  }

  /** To be called once the bodies are as new as the log. */
  async putCheckpoint(generation: number): Promise<void> {
    const { checkpoint } = this.#known;
    if (checkpoint === null || this.due.size > 0) return;
    if (this.checkpoint?.size === this.#bodiesAt && (await this.#copy.head({ kind: 'log-checkpoint' })) !== null)
      return;
    await this.#copyKeys(generation);
    await putLogFile(this.#copy, 'checkpoint', Buffer.from(checkpoint), generation);
    this.#bodiesAt = this.checkpoint?.size ?? 0;
  }

  /** Readers of the copy find the keys that sign now. A key that did not come by the log is not shown. */
  async #copyKeys(generation: number): Promise<void> {
    const { status, body } = await this.#upstream(`${LOG_ROOT}/vkey`);
    if (status !== 200) return;
    const named = Buffer.from(body).toString('utf8').trimEnd().split('\n');
    const unknown = named.find((vkey) => !this.#known.vkeys.includes(vkey));
    if (unknown === undefined) await putLogFile(this.#copy, 'vkey', Buffer.from(body), generation);
    else
      this.#faults.push({
        url: `${LOG_ROOT}/vkey`,
        rule: 'signature',
        detail: `names ${unknown}, which no entry announces`,
      });
  }

  /**
   * Whether the bodies of a market are what the log says, byte for byte. `ahead`: they are newer than the log as far as
   * it is verified; `stale`: older. Faults are added to `findings`.
   *
   * @param revision of the market's body; null: its removal
   * @param reader gives the bodies
   */
  async judge(
    slug: string,
    revision: number | null,
    reader: PublicReader,
    findings: Findings,
    pageSize: number,
  ): Promise<'same' | 'ahead' | 'stale'> {
    const folded = foldedMarket(this.#fold, slug, findings);
    if (folded === null) return 'ahead';
    const isRemoved = folded.kind === 'removed';
    if (isRemoved !== (revision === null)) return isRemoved ? 'stale' : 'ahead';
    if (!isRemoved && folded.revision !== revision) return folded.revision > (revision ?? 0) ? 'stale' : 'ahead';
    await checkFolded(reader, findings, slug, folded, pageSize);
    return 'same';
  }

  /**
   * The market at the revision that an item of the list shows, if the item is what the log says there. `ahead`: the log is
   * not verified up to there. Null: it never said that, and `findings` have it.
   */
  judgeItem(item: Market, findings: Findings): FoldedMarket | 'ahead' | null {
    const { slug, revision } = item;
    const past = this.pastOf(slug);
    const [newest = null] = past.at(revision);
    if (newest === null && revision > this.revisionOf(slug) && !this.#fold.isRemoved(slug)) return 'ahead';
    const found = new Findings();
    checkItem(found, listedItem(item), past, null, NEVER_LATE);
    findings.all.push(...found.all);
    return found.all.length === 0 ? newest : null;
  }

  /** The newest revision of the market that is verified; 0: the log says nothing of it. */
  revisionOf(slug: string): number {
    return this.#fold.revisionOf(slug);
  }

  shows(slug: string): boolean {
    return this.#fold.revisionOf(slug) > 0 && !this.#fold.isRemoved(slug);
  }

  isRemoved(slug: string): boolean {
    return this.#fold.isRemoved(slug);
  }

  /** Markets that the log shows now. */
  *shown(): Generator<string> {
    for (const slug of this.#fold.slugs()) if (this.shows(slug)) yield slug;
  }

  /** Markets that the log says are removed. */
  *removed(): Generator<string> {
    for (const slug of this.#fold.slugs()) if (this.isRemoved(slug)) yield slug;
  }

  /** The document that readers get in the place of a removed market. Null: it is not removed. */
  removalOf(slug: string): string | null {
    const folded = this.isRemoved(slug) ? this.#fold.market(slug) : null;
    return folded?.kind === 'removed' ? canonicalJson(removedMarketDocument(folded.removal)) : null;
  }

  /** What was verified, for other judges. */
  get read(): ReadLog {
    const size = this.checkpoint?.size ?? 0;
    const tiles = tilesOfCopy(this.#copy, size);
    return { fold: this.#fold, size, rootAt: async (at) => (await LogTree.at(at, tiles)).root() };
  }

  /** What the service publishes and how often, as the log says it. Null: it does not say so. */
  get service(): ServiceEntry | null {
    return this.#fold.service;
  }

  /** @param size leaves later entries out. Default: none is later */
  pastOf(slug: string, size = Number.POSITIVE_INFINITY): PastMarket {
    return new PastMarket(this.#fold, slug, size);
  }

  /**
   * To be called at the end of a round, after the log was read once more. A body that an earlier round has found ahead of
   * the log is a finding if the log has not said it since.
   *
   * @param ahead bodies that this round has found ahead, with their revisions
   */
  settleAhead(ahead: ReadonlyMap<string, number | null>): readonly Finding[] {
    const findings = new Findings();
    for (const [slug, revision] of this.ahead) {
      const isSaid = revision === null ? this.#fold.isRemoved(slug) : this.revisionOf(slug) >= revision;
      if (isSaid || !ahead.has(slug)) {
        this.ahead.delete(slug);
        continue;
      }
      const what = revision === null ? 'that it was removed' : `revision ${revision}`;
      findings.add(marketUrl(slug), 'not-in-log', `says ${what}, and the log still did not a round later`);
    }
    for (const [slug, revision] of ahead) if (!this.ahead.has(slug)) this.ahead.set(slug, revision);
    return findings.all;
  }

  /** The faults that were found since it was last called. */
  takeFaults(): readonly Finding[] {
    const faults = this.#faults;
    this.#faults = [];
    return faults;
  }

  /** Notes what was taken over, and nothing else. */
  async #readCopy(): Promise<void> {
    this.#fold = new LogFold({ keepsPast: true });
    this.#isFoldAhead = false;
    this.#faults = [];
    let index = 0;
    this.#progress.begin('log', this.checkpoint?.size ?? 0);
    for await (const line of this.#entries()) {
      this.#progress.did();
      this.#note(line, index++ >= this.#bodiesAt);
    }
  }

  /** The entries of the copy. */
  async *#entries(): AsyncGenerator<string> {
    const size = this.checkpoint?.size ?? 0;
    for (let n = 0; n * TILE_WIDTH < size; n++) {
      const width = widthOfTile(0, n, size);
      yield* linesOf(await readLogFile(this.#copy.reader, ndjsonPath(n, width)), n, width);
    }
  }

  #note(line: string, isNew: boolean): void {
    if (takenDownHash(line) !== null) {
      this.#fold.addTakenDown();
      return;
    }
    try {
      this.#fold.add(line);
    } catch (error) {
      if (!(error instanceof LogFaultError)) throw error;
      this.#faults.push({ url: `${LOG_ROOT}/checkpoint`, rule: 'log', detail: error.message });
    }
    if (!isNew) return;
    const {
      market,
      revision = 0,
      type,
    } = JSON.parse(line) as {
      readonly type?: string;
      readonly market?: string;
      readonly revision?: number;
    };
    // A takedown changes no body.
    if (typeof market !== 'string' || type === 'takedown') return;
    this.due.set(market, type === 'reset' ? 0 : Math.max(revision, this.due.get(market) ?? 0));
  }
}
