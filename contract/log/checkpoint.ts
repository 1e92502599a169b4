/** The checkpoint: size and root of the log, as the text of a signed note (C2SP tlog-checkpoint v1.0.0). */
import { strictBase64 } from './base64.ts';
import { LogFaultError } from './log-fault-error.ts';
import { HASH_BYTES } from './merkle.ts';
import { openNote, type VerifierKey } from './notes.ts';

export interface LogCheckpoint {
  /** The name of the log, and of the keys that sign it. */
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** The text to sign: three lines. */
export function checkpointText({ origin, size, root }: LogCheckpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/**
 * Reads the text of an opened note. Further lines are allowed, and ignored.
 *
 * @throws LogFaultError for any other text
 */
export function parseCheckpoint(text: string): LogCheckpoint {
  const lines = text.split('\n');
  const [origin = '', size = '', encoded = ''] = lines;
  const root = strictBase64(encoded);
  const isWhole = lines.length > 3 && lines.at(-1) === '' && !lines.slice(0, -1).includes('');
  if (!isWhole || !/^(0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) {
    throw new LogFaultError('not a checkpoint: it must begin with an origin, a size and a root hash');
  }
  if (root?.length !== HASH_BYTES) throw new LogFaultError('the root hash of the checkpoint has not 32 bytes');
  return { origin, size: Number(size), root };
}

/**
 * Opens a signed checkpoint.
 *
 * @param keys the keys of the log. A key counts only if its name is the checkpoint's origin.
 * @throws LogFaultError unless one of the keys has signed it, and its origin is the name of that key
 */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): LogCheckpoint {
  const { text, signedBy } = openNote(note, keys);
  const checkpoint = parseCheckpoint(text);
  if (!signedBy.some(({ name }) => name === checkpoint.origin)) {
    throw new LogFaultError(`the checkpoint is of ${checkpoint.origin}, and the key of another log has signed it`);
  }
  return checkpoint;
}
