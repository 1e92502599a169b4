/**
 * The second oracle: everything public follows from the signed log, and everything in the log is public. It reads by GET
 * alone, and trusts only the keys and the checkpoint that was seen before. docs/log.md explains what it proves.
 */
import { EXPORT_PART_ENTRIES } from '../../../contract/bodies/export-tables.ts';
import { SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import type { LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import type { ServiceEntry } from '../../../contract/log/entries.ts';
import type { VerifierKey } from '../../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../../dependencies.ts';
import { PROJECTORS } from '../../projections.ts';
import { Findings, readSnapshot } from '../check-body.ts';
import type { PublicReader } from '../reading/reader.ts';
import type { Finding } from '../report.ts';
import { CHECKPOINT_URL, keysOf, LogFileError, LogFiles, openSigned, seenCheckpoint, VKEY_URL } from './log-files.ts';
import { type LogPass, passOver } from './log-pass.ts';
import { LogWalk } from './log-walk.ts';

export interface VerifyLogOptions {
  /** The verifier keys of the log. Empty: the keys that the log itself states are trusted, as on first use. */
  readonly vkeys: readonly string[];
  /** The last signed checkpoint that was seen. Null: this is the first check. */
  readonly seen: string | null;
  readonly pageSizes?: PageSizes;
  /** Entries of the log in a part of an export. Default: {@link EXPORT_PART_ENTRIES}. */
  readonly partEntries?: number;
  /** The time, in milliseconds since the epoch. Absent: nothing counts as late. */
  readonly nowMs?: number;
  /**
   * Receives the findings, and waits for longer than a cache keeps a body. Then everything with a finding is checked again,
   * with the log at that time. False, or absent: there is no time for that.
   */
  readonly pause?: (found: readonly Finding[]) => Promise<boolean>;
}

export interface VerifyLogReport {
  readonly findings: readonly Finding[];
  /** The checkpoint to store, byte for byte. Null if the log cannot be used: then keep the stored one. */
  readonly checkpoint: string | null;
  /** The keys to store: the given or found ones, and those that entries have announced. */
  readonly vkeys: readonly string[];
  readonly size: number;
  readonly takenDown: number;
  /** The newest service entry of the log, which names the published kinds. Null: the log has none. */
  readonly service: ServiceEntry | null;
}

/** The last checkpoint of the log that was read, and the signed note that holds it. */
type ReadCheckpoint = Pick<LogPass, 'checkpoint' | 'note'>;

/** The most passes. `confirmFindings` makes two; a market that changes all the time gets one more. */
const PASSES_MAX = 3;

/** Rejects only if the reader rejects. Every fault of an answer is a finding. */
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
    const { pageSizes = DEFAULT_PAGE_SIZES, partEntries = EXPORT_PART_ENTRIES, pause, nowMs = null } = options;
    const pass = { reader, files, walk, pageSizes, partEntries, nowMs, projectors: PROJECTORS };
    let read = await readOn(files, walk, keys, seen, null, pause);
    checkpoint = read.note;
    if (await isSwitchedOff(reader)) throw switchedOff(walk.size);
    rest = (await passOver({ ...pass, ...read })).findings;
    for (let passes = 1; rest.length > 0 && passes < PASSES_MAX && (await pause?.(rest)) === true; passes++) {
      read = await readOn(files, walk, keys, seen, read, pause);
      rest = (await passOver({ ...pass, ...read }, rest)).findings;
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
    // If the log's own files disagree, nothing of it is stored.
    checkpoint: findings.all.length === 0 ? checkpoint : null,
    vkeys: [...vkeys],
    size: walk.size,
    takenDown: walk.fold.takenDown,
    service: walk.fold.service,
  };
}

/** Whether the snapshot says that the log has ended. Then its entries are right, but some are missing. */
async function isSwitchedOff(reader: PublicReader): Promise<boolean> {
  const snapshot = await readSnapshot(reader);
  if (snapshot === null) return false;
  const { log, projections = [] } = snapshot.value;
  return log === undefined && !projections.includes('log');
}

function switchedOff(size: number): LogFileError {
  const end = size === 0 ? 'no log' : `no log any more: it ended at ${size} entries, and later changes are not proven`;
  return new LogFileError(SNAPSHOT_URL, 'log', `says that this service publishes ${end}`);
}

/**
 * Reads the log up to its checkpoint. Behind several caches, an answer may be older than the one before. So a smaller
 * checkpoint is read once more, and an earlier checkpoint of the same log changes nothing.
 */
async function readOn(
  files: LogFiles,
  walk: LogWalk,
  keys: readonly VerifierKey[],
  seen: LogCheckpoint | null,
  before: ReadCheckpoint | null,
  pause: VerifyLogOptions['pause'],
): Promise<ReadCheckpoint> {
  const newest = async (): Promise<ReadCheckpoint> => {
    const note = await files.checkpointNote();
    return { note, checkpoint: openSigned(note, keys) };
  };
  let read = await newest();
  const { size, root } = read.checkpoint;
  if (before !== null && size < walk.size && (await walk.rootAt(size)).equals(root)) return before;
  const isShorter = () => seen !== null && read.checkpoint.size < seen.size;
  const shorter = () => `the log has ${read.checkpoint.size} entries, and had ${seen?.size}`;
  if (isShorter() && (await pause?.([{ url: CHECKPOINT_URL, rule: 'fork', detail: shorter() }])) === true)
    read = await newest();
  const { origin } = read.checkpoint;
  if (seen !== null && origin !== seen.origin)
    throw new LogFileError(CHECKPOINT_URL, 'fork', `the log is ${origin}, and was ${seen.origin}`);
  if (isShorter()) throw new LogFileError(CHECKPOINT_URL, 'fork', shorter());
  await walk.to(read.checkpoint, seen);
  return read;
}
