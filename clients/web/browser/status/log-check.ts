/** Checks the log with WebCrypto only, and compares it with the state that this browser saw before. Without the DOM. */
import { fromBase64, isSameHash, toBase64 } from '../../../typescript/hashes.ts';
import { importLogKey, LogVerificationError, namedKeys, SignedLog } from '../../../typescript/signed-log.ts';

/** GETs a file below the root of the log. Rejects if it does not exist. */
type LogReader = (path: string) => Promise<Uint8Array<ArrayBuffer>>;

/** A checkpoint that this browser has checked. */
export interface SeenCheckpoint {
  readonly origin: string;
  readonly size: number;
  /** In base64. */
  readonly root: string;
  /** The keys that the service showed. */
  readonly vkeys: readonly string[];
  /** RFC 3339 in UTC. */
  readonly seenAt: string;
}

/** The past of the log, compared with the newest checkpoint that this browser has seen. */
export type LogPast =
  | { readonly kind: 'first' }
  /** The log begins with everything that it had then. */
  | { readonly kind: 'same'; readonly before: SeenCheckpoint }
  /** A cache or a mirror may be behind. A service that has lost entries looks the same. */
  | { readonly kind: 'shorter'; readonly before: SeenCheckpoint }
  /** Both checkpoints are signed, and contradict each other. */
  | { readonly kind: 'forked'; readonly before: SeenCheckpoint }
  | { readonly kind: 'other-key'; readonly before: SeenCheckpoint };

export interface CheckedLog {
  readonly origin: string;
  readonly size: number;
  /** In base64. */
  readonly root: string;
  readonly vkeys: readonly string[];
  /** The names in the lines of signatures: the log's own, and those of witnesses. */
  readonly signers: readonly string[];
  /** The last entry, whose hash was proven to be in the tree. Null: the log is empty, or the text of the entry was taken down. */
  readonly newest: { readonly index: number; readonly entry: Readonly<Record<string, unknown>> } | null;
  readonly past: LogPast;
}

/**
 * Reads the checkpoint and checks its signature, its root, its newest entry, and that the past of the log is unchanged.
 *
 * @param before the state of this host's log that this browser has seen. Null: none
 * @throws LogVerificationError if a check fails; and the errors of `read`
 */
export async function checkLog(read: LogReader, before: SeenCheckpoint | null): Promise<CheckedLog> {
  const vkeys = await namedKeys(read);
  const log = await SignedLog.open(read, await Promise.all(vkeys.map(importLogKey)));
  const { origin, size, root } = log.checkpoint;
  const newest = size === 0 ? null : await log.entryAt(size - 1);
  const signers = [...log.note.matchAll(/^— (\S+) \S+$/gm)].map(([, name]) => name as string);
  return { origin, size, root: toBase64(root), vkeys, signers, newest, past: await pastOf(log, vkeys, before) };
}

async function pastOf(log: SignedLog, vkeys: readonly string[], before: SeenCheckpoint | null): Promise<LogPast> {
  if (before === null) return { kind: 'first' };
  const isKnownKey = before.origin === log.checkpoint.origin && vkeys.some((vkey) => before.vkeys.includes(vkey));
  if (!isKnownKey) return { kind: 'other-key', before };
  if (before.size > log.checkpoint.size) return { kind: 'shorter', before };
  const root = fromBase64(before.root);
  const isSame = root !== null && isSameHash(await log.rootAt(before.size), root);
  return { kind: isSame ? 'same' : 'forked', before };
}

/** Whether to replace the stored checkpoint. False if that one is evidence. */
export function isToRemember({ past }: CheckedLog): boolean {
  return past.kind === 'first' || past.kind === 'same';
}

/** Reads the text of {@link seenText}. Null for any other text. */
export function parseSeen(text: string | null): SeenCheckpoint | null {
  try {
    const seen = JSON.parse(text ?? 'null') as SeenCheckpoint | null;
    const isSeen =
      Number.isSafeInteger(seen?.size) &&
      Array.isArray(seen?.vkeys) &&
      [seen?.origin, seen?.root, seen?.seenAt].every((member) => typeof member === 'string') &&
      !Number.isNaN(Date.parse(seen?.seenAt as string));
    return isSeen ? seen : null;
  } catch {
    return null;
  }
}

export function seenText({ origin, size, root, vkeys }: CheckedLog, seenAt: string): string {
  return JSON.stringify({ origin, size, root, vkeys, seenAt } satisfies SeenCheckpoint);
}

/** The fault of a check, in words. `isFound`: the service's files are wrong. */
export function logFault(error: unknown): { readonly isFound: boolean; readonly text: string } {
  if (error instanceof LogVerificationError) return { isFound: true, text: error.message };
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'NotSupportedError') return { isFound: false, text: 'this browser cannot check signatures of Ed25519' };
  return { isFound: false, text: message };
}
