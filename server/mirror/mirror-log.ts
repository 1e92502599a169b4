/** The verified part of a mirror's log. No file of the log is kept before its root equals the signed root. */

import type { LogCheckpoint } from '../../contract/log/checkpoint.ts';
import { openCheckpoint } from '../../contract/log/checkpoint.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import { LogFileError, LogFiles, openSigned, VKEY_URL } from '../../publisher/verify/log/log-files.ts';
import { checkTakedowns, type ProvenLog } from '../../publisher/verify/log/log-pass.ts';
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

export function checkpointOf({ checkpoint, vkeys }: MirrorLogState): LogCheckpoint | null {
  return checkpoint === null ? null : openCheckpoint(checkpoint, vkeys.map(verifierKey));
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

export class MirrorLog {
  state: MirrorLogState;
  /** What is verified so far. Null after a fault: the next round starts from the verified checkpoint. */
  #read: { readonly walk: LogWalk; readonly found: Findings } | null = null;
  /** The service without the copy. */
  readonly #upstream: PublicReader;
  #reader: PublicReader = async () => Promise.reject(new Error('no stage is open'));
  readonly #files = new LogFiles((url) => this.#reader(url));

  constructor(state: MirrorLogState, upstream: PublicReader) {
    this.state = state;
    this.#upstream = upstream;
  }

  /**
   * Reads the log up to the newest checkpoint of the service, and keeps its files. An earlier checkpoint of the same log
   * changes nothing, because a cache may have it. Call it first on an empty stage: only tiles whose hashes this walk compares
   * with the root may be kept.
   *
   * @throws UpstreamForked if the service has signed another past; UpstreamInvalid for every other fault
   */
  async follow(stage: Stage): Promise<ProvenLog> {
    this.#reader = stage.reader;
    const before = checkpointOf(this.state);
    let note = '';
    try {
      note = await this.#files.checkpointNote();
      const now = openSigned(note, this.state.vkeys.map(verifierKey));
      const fresh = new Findings();
      this.#read ??= { walk: new LogWalk(this.#files, fresh), found: fresh };
      const { walk, found } = this.#read;
      // A new process reads the earlier entries from its copy.
      if (before !== null && walk.size < before.size) await walk.to(before, null);
      const hidden = new Findings();
      const newest = before === null || now.size > before.size ? now : before;
      if (newest === now) {
        await walk.to(now, null);
        checkTakedowns({ walk }, hidden);
      } else {
        const root = now.size === newest.size ? newest.root : await walk.rootAt(now.size);
        if (!root.equals(now.root)) throw this.#forked(`two logs of ${now.size} entries have different roots`, note);
      }
      const [fault] = [...hidden.all, ...found.all];
      if (fault !== undefined) throw new LogFileError(fault.url, fault.rule, fault.detail);
      if (newest === now)
        this.state = { vkeys: [...new Set([...this.state.vkeys, ...walk.fold.vkeys])], checkpoint: note };
      await stage.put((name) => 'tile' in name);
      return { walk, files: this.#files, checkpoint: newest, note: this.state.checkpoint ?? note };
    } catch (error) {
      this.#read = null;
      if (!(error instanceof LogFileError)) throw error;
      if (before !== null && note !== '' && (await this.#isFork(before, note))) {
        throw this.#forked(`the log does not begin with the ${before.size} entries of the earlier checkpoint`, note);
      }
      throw new UpstreamInvalid(`GET ${error.url}: ${error.message}`, { cause: error });
    }
  }

  /** Findings for keys that the service names, although no entry of the log has announced them. */
  async unknownKeys(): Promise<readonly Finding[]> {
    const named = await this.#files.vkeys().catch(() => []);
    const unknown = named.filter((vkey) => !this.state.vkeys.includes(vkey));
    return unknown.map((vkey) => ({
      url: VKEY_URL,
      rule: 'signature',
      detail: `names ${vkey}, which no entry announces`,
    }));
  }

  /** Wrong files prove no fork, so the whole log is read again: only two signed roots that contradict each other prove one. */
  async #isFork(before: LogCheckpoint, note: string): Promise<boolean> {
    try {
      const now = openSigned(note, this.state.vkeys.map(verifierKey));
      if (now.size > before.size) await new LogWalk(new LogFiles(this.#upstream), new Findings()).to(now, before);
      return false;
    } catch (error) {
      if (!(error instanceof LogFileError)) throw error;
      return error.rule === 'fork';
    }
  }

  #forked(why: string, note: string): UpstreamForked {
    return new UpstreamForked(why, this.state.checkpoint ?? '', note);
  }
}
