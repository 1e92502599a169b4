/**
 * The second oracle: everything public follows from the signed log, and everything in the log is public. Reads by GET
 * alone; trusts only the keys, and the checkpoint that was seen before. docs/log.md says what this proves.
 */
import pMap from 'p-map';
import { EXPORT_PART_ENTRIES } from '../../contract/files/export-tables.ts';
import { PROBLEMS_PATH } from '../../contract/files/object-paths.ts';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import {
  EXPORT_ROOT,
  MARKETS_URL,
  marketUrl,
  OPENAPI_URL,
  SNAPSHOT_URL,
  WAITLIST_URL,
} from '../../contract/files/routes.ts';
import type { LogCheckpoint } from '../../contract/log/checkpoint.ts';
import type { ServiceEntry } from '../../contract/log/entries.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { openNote, type VerifierKey } from '../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../dependencies.ts';
import { checkExportRows } from '../projections/exports/check-export-rows.ts';
import { checkBody, checkEntityTag, Findings } from './check-body.ts';
import { checkFolded, type FoldedCounts, foldedMarket } from './check-folded.ts';
import { LaterFiles } from './check-later.ts';
import { CHECKPOINT_URL, keysOf, LogFileError, LogFiles, openSigned, seenCheckpoint, VKEY_URL } from './log-files.ts';
import { LogWalk } from './log-walk.ts';
import type { PublicReader } from './reader.ts';
import type { Finding } from './report.ts';
import { ListWalk } from './walk-pages.ts';

export interface VerifyLogOptions {
  /** The verifier keys of the log. Empty: the log's own word is taken, as on first use. */
  readonly vkeys: readonly string[];
  /** The signed checkpoint that was seen last. Null: none was. */
  readonly seen: string | null;
  readonly pageSizes?: PageSizes;
  /** Entries of the log in a part of an export. Default: {@link EXPORT_PART_ENTRIES}. */
  readonly partEntries?: number;
  /** The time, in milliseconds since the epoch. Absent: nothing is found to be late. */
  readonly nowMs?: number;
  /**
   * Gets what disagrees, and waits for longer than a cache keeps a body. Then everything that disagreed is looked at again, with the log as it is
   * then. False, or absent: there is no time for that.
   */
  readonly pause?: (found: readonly Finding[]) => Promise<boolean>;
}

export interface VerifyLogReport {
  readonly findings: readonly Finding[];
  /** The checkpoint to remember, byte for byte. Null if the log cannot be used: then what was remembered stays. */
  readonly checkpoint: string | null;
  /** The keys to remember: those that were given or found, and those that entries have announced. */
  readonly vkeys: readonly string[];
  readonly size: number;
  readonly takenDown: number;
  /** What the service publishes, as the log says it. Null: it does not say so. */
  readonly service: ServiceEntry | null;
}

/** As `confirmFindings` looks twice. A market that changes all the time gets one more chance. */
const LOOKS_MAX = 3;
const MARKETS_AT_ONCE = 8;

/** Rejects only if the reader does. Every fault of an answer is a finding. */
export async function verifyLog(reader: PublicReader, options: VerifyLogOptions): Promise<VerifyLogReport> {
  const findings = new Findings();
  const files = new LogFiles(reader);
  const vkeys = new Set(options.vkeys);
  const walk = new LogWalk(files, findings);
  let checkpoint: string | null = null;
  let rest: readonly Finding[] = [];
  try {
    if (vkeys.size === 0) for (const vkey of await files.vkeys()) vkeys.add(vkey);
    const keys = keysOf([...vkeys], VKEY_URL);
    const seen = options.seen === null ? null : seenCheckpoint(options.seen);
    const look = new VerifyPass(reader, files, walk, keys, options);
    const note = await look.readOn(seen);
    // Nothing is remembered of a log whose own files disagree.
    if (findings.all.length === 0) checkpoint = note;
    if (await isSwitchedOff(reader)) throw switchedOff(walk.size);
    rest = await look.all();
    for (let looks = 1; rest.length > 0 && looks < LOOKS_MAX && (await options.pause?.(rest)) === true; looks++) {
      await look.readOn(seen);
      rest = await look.all(rest);
    }
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
    const isMissing = error.rule === 'status' && (await isSwitchedOff(reader));
    const fault = isMissing ? switchedOff(0) : error;
    findings.add(fault.url, fault.rule, fault.message);
  }
  for (const vkey of walk.fold.vkeys) vkeys.add(vkey);
  return {
    findings: [...findings.all, ...rest],
    checkpoint: findings.all.length === 0 ? checkpoint : null,
    vkeys: [...vkeys],
    size: walk.size,
    takenDown: walk.fold.takenDown,
    service: walk.fold.service,
  };
}

/** Whether the snapshot says that no log is written. What is left of the log is true, and not complete. */
async function isSwitchedOff(reader: PublicReader): Promise<boolean> {
  const snapshot = await checkBody(reader, new Findings(), SNAPSHOT_URL, snapshotSchema);
  if (snapshot === null) return false;
  const { log, projections = [] } = snapshot.value;
  return log === undefined && !projections.includes('log');
}

function switchedOff(size: number): LogFileError {
  const end = size === 0 ? 'no log' : `its log no more: it ended with ${size} entries, and has no later change`;
  return new LogFileError(SNAPSHOT_URL, 'log', `says that this service publishes ${end}`);
}

/** Compares everything public with the log as far as it was read. */
class VerifyPass {
  readonly #reader: PublicReader;
  readonly #files: LogFiles;
  readonly #walk: LogWalk;
  readonly #keys: readonly VerifierKey[];
  readonly #pageSizes: PageSizes;
  readonly #partEntries: number;
  readonly #pause: VerifyLogOptions['pause'];
  readonly #nowMs: number | null;
  #note = '';
  #checkpoint: LogCheckpoint | null = null;

  constructor(
    reader: PublicReader,
    files: LogFiles,
    walk: LogWalk,
    keys: readonly VerifierKey[],
    { pageSizes = DEFAULT_PAGE_SIZES, partEntries = EXPORT_PART_ENTRIES, pause, nowMs }: VerifyLogOptions,
  ) {
    this.#reader = reader;
    this.#files = files;
    this.#walk = walk;
    this.#keys = keys;
    this.#pageSizes = pageSizes;
    this.#partEntries = partEntries;
    this.#pause = pause;
    this.#nowMs = nowMs ?? null;
  }

  /**
   * Reads the log up to its checkpoint. Returns the checkpoint as it is signed. Of several caches on the way, one may be older than
   * the one that was asked before: a smaller checkpoint is looked at again, and one of the same log changes nothing.
   */
  async readOn(seen: LogCheckpoint | null): Promise<string> {
    let { note, checkpoint } = await this.#newest();
    const isOfThisLog = async () => (await this.#walk.rootAt(checkpoint.size)).equals(checkpoint.root);
    if (checkpoint.size < this.#walk.size && (await isOfThisLog())) return this.#note;
    const isShorter = () => seen !== null && checkpoint.size < seen.size;
    const shorter = () => `the log has ${checkpoint.size} entries, and had ${seen?.size}`;
    if (isShorter() && (await this.#pause?.([{ url: CHECKPOINT_URL, rule: 'fork', detail: shorter() }])) === true) {
      ({ note, checkpoint } = await this.#newest());
    }
    if (seen !== null && checkpoint.origin !== seen.origin) {
      throw new LogFileError(CHECKPOINT_URL, 'fork', `the log is ${checkpoint.origin}, and was ${seen.origin}`);
    }
    if (isShorter()) throw new LogFileError(CHECKPOINT_URL, 'fork', shorter());
    await this.#walk.to(checkpoint, seen);
    this.#note = note;
    this.#checkpoint = checkpoint;
    return note;
  }

  async #newest(): Promise<{ note: string; checkpoint: LogCheckpoint }> {
    const note = await this.#files.checkpointNote();
    return { note, checkpoint: openSigned(note, this.#keys) };
  }

  /**
   * @param again looks only at the markets of these findings, and at everything that is about all markets
   * @returns what disagrees
   */
  async all(again?: readonly Finding[]): Promise<readonly Finding[]> {
    const findings = new Findings();
    const { fold } = this.#walk;
    const wanted = again && new Set(again.map(({ url }) => slugOf(url)));
    // Next to the checkpoint: the longer after it they are read, the more often they are of a later generation.
    const snapshot = await checkBody(this.#reader, findings, SNAPSHOT_URL, snapshotSchema);
    const list = new ListWalk(this.#reader, findings, this.#pageSizes.markets);
    const later = await LaterFiles.read(this.#reader, findings, this.#walk, list, {
      nowMs: this.#nowMs,
    });
    const { listed } = later;
    const counts: FoldedCounts = { markets: 0, observations: 0, unknownValues: 0 };
    const shown = new Set<string>();
    await pMap(
      fold.slugs(),
      async (slug) => {
        const folded = foldedMarket(fold, slug, findings);
        if (folded?.kind === 'shown') {
          shown.add(slug);
          counts.markets++;
          counts.observations += folded.observations.length;
          counts.unknownValues += folded.record(null).unknownValues;
        }
        if (folded === null) return;
        await later.market(slug, folded);
        if (wanted?.has(slug) === false) return;
        await checkFolded(this.#reader, findings, slug, folded, this.#pageSizes.observations);
      },
      { concurrency: MARKETS_AT_ONCE },
    );
    await later.end();
    this.#checkTakedowns(findings);
    await this.#checkKeys(findings);
    await this.#checkDocuments(findings);
    for (const slug of listed.keys()) {
      if (!shown.has(slug)) findings.add(marketUrl(slug), 'not-in-log', 'is in the list, and not in the log');
    }
    if (snapshot !== null) this.#checkSnapshot(findings, snapshot.value, { list, listed, shown, counts });
    const isExportDue = wanted === undefined || again?.some(({ url }) => url.startsWith(EXPORT_ROOT));
    const limits = { partEntries: this.#partEntries, nowMs: this.#nowMs };
    if (isExportDue) await checkExportRows(this.#reader, findings, this.#walk, limits);
    return findings.all;
  }

  /** A tombstone is no signed word: whoever serves the files can put one. One finding for each file. */
  #checkTakedowns(findings: Findings): void {
    const { fold, size } = this.#walk;
    const first = new Map<number, number>();
    for (const index of fold.unannounced()) {
      const n = Math.floor(index / TILE_WIDTH);
      if (!first.has(n)) first.set(n, index);
    }
    for (const [n, index] of first) {
      const url = `${LOG_ROOT}/${ndjsonPath(n, widthOfTile(0, n, size))}`;
      findings.add(url, 'not-in-log', `hides entry ${index}, and no takedown in the log names it`);
    }
  }

  /** Each key that the log names must have signed the checkpoint: else its readers would trust the wrong ones. */
  async #checkKeys(findings: Findings): Promise<void> {
    try {
      const named = keysOf(await this.#files.vkeys(), VKEY_URL);
      const { signedBy } = openNote(this.#note, named);
      const missing = named.find((key) => !signedBy.includes(key));
      if (missing) findings.add(VKEY_URL, 'signature', `names ${missing.vkey}, which has not signed the checkpoint`);
    } catch (error) {
      if (!(error instanceof LogFileError || error instanceof LogFaultError)) throw error;
      findings.add(VKEY_URL, 'signature', error.message);
    }
  }

  /** They explain the use of the API, and are in no log. Their own entity tags say whether they are whole. */
  async #checkDocuments(findings: Findings): Promise<void> {
    for (const url of [WAITLIST_URL, OPENAPI_URL, PROBLEMS_PATH]) {
      const answer = await this.#reader(url);
      if (answer.status === 200) checkEntityTag(findings, url, answer);
    }
  }

  #checkSnapshot(findings: Findings, value: Snapshot, { list, listed, shown, counts }: Compared): void {
    if (this.#checkpoint === null) return;
    const { size, root } = this.#checkpoint;
    const log = { size, root: root.toString('base64') };
    const differ = (one: Json, other: Json) => canonicalJson(one) !== canonicalJson(other);
    if (differ(value.log ?? null, log)) {
      findings.add(SNAPSHOT_URL, 'not-in-log', 'names another log than the checkpoint');
    }
    if (list.head !== null && list.head.digest !== value.listDigest) {
      findings.add(MARKETS_URL, 'digest', 'is not the list that the snapshot names');
    }
    if (differ(value.counts, { ...counts })) {
      findings.add(
        SNAPSHOT_URL,
        'count',
        `counts ${canonicalJson(value.counts)}, by the log ${canonicalJson({ ...counts })}`,
      );
    }
    // The list has a cadence.
    if (value.listGeneration !== value.generation) return;
    for (const slug of shown) {
      if (!listed.has(slug)) findings.add(marketUrl(slug), 'not-in-log', 'is in the log, and not in the list');
    }
  }
}

/** The list as it was read, and the markets by the log. */
interface Compared {
  readonly list: ListWalk;
  readonly listed: LaterFiles['listed'];
  readonly shown: ReadonlySet<string>;
  readonly counts: FoldedCounts;
}

/** The market that a URL is about; the URL itself for any other. */
function slugOf(url: string): string {
  return /^\/api\/v1\/markets\/([^/?]+)/.exec(url)?.[1] ?? url;
}
