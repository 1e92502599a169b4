/** The log of a mirror: how far it is verified, and which markets its newer entries have changed. */
import { type LogCheckpoint, openCheckpoint } from '../../contract/log/checkpoint.ts';
import { takenDownHash } from '../../contract/log/entry-bundle.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';
import type { Snapshot } from '../../contract/market.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { MirrorCopy } from './copy.ts';
import { followLog, type KnownLog } from './follow-log.ts';
import { linesOf, putLogFile, readLogFile, tilesOfCopy } from './log-copy.ts';

/** What a mirror's folder keeps of the log. */
export interface MirrorLogState extends KnownLog {
  /** The bodies in the copy are as new as so many entries, or newer. */
  readonly bodiesAt: number;
}

export class MirrorLog {
  readonly #upstream: PublicReader;
  readonly #copy: MirrorCopy;
  #known: KnownLog;
  #bodiesAt: number;
  /**
   * Markets whose bodies may be older than the log, with the revision that they must have. The service puts bodies
   * before the checkpoint.
   */
  readonly due = new Map<string, number>();

  private constructor(upstream: PublicReader, copy: MirrorCopy, state: MirrorLogState) {
    this.#upstream = upstream;
    this.#copy = copy;
    this.#known = state;
    this.#bodiesAt = state.bodiesAt;
  }

  /** Reads the entries that an earlier process has verified, and whose bodies it has not taken over. */
  static async open(upstream: PublicReader, copy: MirrorCopy, state: MirrorLogState): Promise<MirrorLog> {
    const log = new MirrorLog(upstream, copy, state);
    for await (const line of log.#entries(state.bodiesAt)) log.#note(line);
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
    const options = {
      upstream: this.#upstream,
      copy: this.#copy,
      generation,
      onEntry: (line: string) => this.#note(line),
    };
    this.#known = await followLog(this.#known, options);
  }

  /** Whether the log has the size and the root that the snapshot names. `ahead`: it is not verified up to there. */
  async agreesWith({ log }: Snapshot): Promise<'yes' | 'no' | 'ahead'> {
    const { checkpoint } = this;
    if (log === undefined) return 'no';
    if (checkpoint === null || log.size > checkpoint.size) return 'ahead';
    const tree = await LogTree.at(log.size, tilesOfCopy(this.#copy, checkpoint.size));
    return tree.root().toString('base64') === log.root ? 'yes' : 'no';
  }

  /** To be called once the bodies are as new as the log. */
  async putCheckpoint(generation: number): Promise<void> {
    const { checkpoint } = this.#known;
    if (checkpoint === null || this.due.size > 0) return;
    await putLogFile(this.#copy, 'checkpoint', Buffer.from(checkpoint), generation);
    this.#bodiesAt = this.checkpoint?.size ?? 0;
  }

  /** The entries of the copy from an index on. */
  async *#entries(from: number): AsyncGenerator<string> {
    const size = this.checkpoint?.size ?? 0;
    for (let n = Math.floor(from / TILE_WIDTH); n * TILE_WIDTH < size; n++) {
      const width = widthOfTile(0, n, size);
      const lines = linesOf(await readLogFile(this.#copy.reader, ndjsonPath(n, width)), n, width);
      yield* lines.slice(Math.max(0, from - n * TILE_WIDTH));
    }
  }

  #note(line: string): void {
    if (takenDownHash(line) !== null) return;
    const {
      market,
      revision = 0,
      type,
    } = JSON.parse(line) as {
      readonly type?: string;
      readonly market?: string;
      readonly revision?: number;
    };
    if (typeof market !== 'string') return;
    this.due.set(market, type === 'reset' ? 0 : Math.max(revision, this.due.get(market) ?? 0));
  }
}
