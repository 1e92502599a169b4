/** Checks the log with WebCrypto only. Without the DOM. */
import { toBase64 } from '../../../typescript/hashes.ts';
import { importLogKey, LogVerificationError, namedKeys, SignedLog } from '../../../typescript/signed-log.ts';

/** GETs a file below the root of the log. Rejects if it does not exist. */
type LogReader = (path: string) => Promise<Uint8Array<ArrayBuffer>>;

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
}

/**
 * Reads the checkpoint and checks its signature, its root, and its newest entry.
 *
 * @throws LogVerificationError if a check fails; and the errors of `read`
 */
export async function checkLog(read: LogReader): Promise<CheckedLog> {
  const vkeys = await namedKeys(read);
  const log = await SignedLog.open(read, await Promise.all(vkeys.map(importLogKey)));
  const { origin, size, root } = log.checkpoint;
  const newest = size === 0 ? null : await log.entryAt(size - 1);
  const signers = [...log.note.matchAll(/^— (\S+) \S+$/gm)].map(([, name]) => name as string);
  return { origin, size, root: toBase64(root), vkeys, signers, newest };
}

/** The fault of a check, in words. `isFound`: the service's files are wrong. */
export function logFault(error: unknown): { readonly isFound: boolean; readonly text: string } {
  if (error instanceof LogVerificationError) return { isFound: true, text: error.message };
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'NotSupportedError') return { isFound: false, text: 'this browser cannot check signatures of Ed25519' };
  return { isFound: false, text: message };
}
