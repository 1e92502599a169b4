/** The verified part of a mirror's log. No file of the log is kept before its root equals the signed root. */

import type { LogCheckpoint } from '../../contract/log/checkpoint.ts';
import { openCheckpoint } from '../../contract/log/checkpoint.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import { LogFileError, LogFiles, openSigned, VKEY_URL } from '../../publisher/verify/log/log-files.ts';
import { checkTakedowns } from '../../publisher/verify/log/log-pass.ts';
import { LogWalk } from '../../publisher/verify/log/log-walk.ts';
import { UpstreamInvalid } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { Stage } from './stage.ts';

/** The state of the log in a mirror's folder. */
export interface MirrorLogState {
  /**
   * The keys that may sign the log, oldest first. The first one was given or trusted; the log's own entries announced the
   * others.
   */
  readonly vkeys: readonly string[];
  /** The newest checkpoint whose tree was verified, with its signatures. Null: none yet. */
  readonly checkpoint: string | null;
}

/** One key has signed two checkpoints that contradict each other. */
export class UpstreamForked extends Error {
  override readonly name = 'UpstreamForked';
  readonly earlier: string;
  readonly later: string;

  constructor(message: string, earlier: string, later: string) {
    super(message);
    this.earlier = earlier;
    this.later = later;
  }
}

/** A log that has been read completely, and its end. */
export interface FollowedLog {
  readonly walk: LogWalk;
  readonly files: LogFiles;
  readonly checkpoint: LogCheckpoint;
  readonly note: string;
}

export class MirrorLog {
  #state: MirrorLogState;
  #read: { readonly walk: LogWalk; readonly found: Findings } | null = null;
  #reader: PublicReader = async () => Promise.reject(new Error('no stage is open'));
  readonly #files = new LogFiles((url) => this.#reader(url));

  constructor(state: MirrorLogState) {
    this.#state = state;
  }

  get state(): MirrorLogState {
    return this.#state;
  }

  /** The number of verified entries. */
  get size(): number {
    return this.#checkpoint?.size ?? 0;
  }

  /** Whether the entry is the last one about the market in the verified log. */
  isLast(slug: string, index: number | undefined): boolean {
    return this.#read?.walk.fold.lastIndexOf(slug) === index;
  }

  get #checkpoint(): LogCheckpoint | null {
    const { checkpoint, vkeys } = this.#state;
    return checkpoint === null ? null : openCheckpoint(checkpoint, vkeys.map(verifierKey));
  }

  /**
   * Reads the log up to the newest checkpoint of the service, and keeps its files. An earlier checkpoint of the same log
   * changes nothing, because a cache may have it.
   *
   * @throws UpstreamForked if the service has signed another past; UpstreamInvalid for every other fault
   */
  async follow(stage: Stage, generation: number): Promise<FollowedLog> {
    this.#reader = stage.reader;
    // Only tiles whose hashes this walk compares with the root may be kept.
    await stage.forget((name) => 'tile' in name);
    const before = this.#checkpoint;
    let note = '';
    try {
      note = await this.#files.checkpointNote();
      const now = openSigned(note, this.#state.vkeys.map(verifierKey));
      this.#read ??= openWalk(this.#files);
      const { walk, found } = this.#read;
      // A new process reads the earlier entries from its copy.
      if (before !== null && walk.size < before.size) await walk.to(before, null);
      if (before !== null && now.size <= before.size) {
        const root = now.size === before.size ? before.root : await walk.rootAt(now.size);
        if (!root.equals(now.root)) throw this.#forked(`two logs of ${now.size} entries have different roots`, note);
      } else {
        await walk.to(now, null);
        const hidden = new Findings();
        checkTakedowns({ walk }, hidden);
        this.#assertSound(hidden);
        this.#assertSound(found);
        const vkeys = [...new Set([...this.#state.vkeys, ...walk.fold.vkeys])];
        this.#state = { vkeys, checkpoint: note };
      }
      this.#assertSound(found);
      await stage.put((name) => 'tile' in name, generation);
      const { checkpoint = note } = this.#state as { checkpoint: string };
      return { walk, files: this.#files, checkpoint: this.#checkpoint ?? now, note: checkpoint };
    } catch (error) {
      // The next round starts from the verified checkpoint.
      this.#read = null;
      if (!(error instanceof LogFileError)) throw error;
      if (before !== null && note !== '' && (await this.#isFork(stage, before, note))) {
        throw this.#forked(`the log does not begin with the ${before.size} entries of the earlier checkpoint`, note);
      }
      throw new UpstreamInvalid(`GET ${error.url}: ${error.message}`, { cause: error });
    }
  }

  /** Findings for keys that the service names, although no entry of the log has announced them. */
  async unknownKeys(): Promise<readonly Finding[]> {
    const named = await this.#files.vkeys().catch(() => []);
    const unknown = named.filter((vkey) => !this.#state.vkeys.includes(vkey));
    return unknown.map((vkey) => ({
      url: VKEY_URL,
      rule: 'signature',
      detail: `names ${vkey}, which no entry announces`,
    }));
  }

  /** Wrong files prove no fork, so the whole log is read again: only two signed roots that contradict each other prove one. */
  async #isFork(stage: Stage, before: LogCheckpoint, note: string): Promise<boolean> {
    try {
      const now = openSigned(note, this.#state.vkeys.map(verifierKey));
      if (now.size <= before.size) return false;
      await new LogWalk(new LogFiles(stage.direct), new Findings()).to(now, before);
      return false;
    } catch (error) {
      if (!(error instanceof LogFileError)) throw error;
      return error.rule === 'fork';
    }
  }

  #forked(why: string, note: string): UpstreamForked {
    return new UpstreamForked(why, this.#state.checkpoint ?? '', note);
  }

  #assertSound({ all: [first] }: Findings): void {
    if (first !== undefined) throw new LogFileError(first.url, first.rule, first.detail);
  }
}

function openWalk(files: LogFiles) {
  const found = new Findings();
  return { walk: new LogWalk(files, found), found };
}
