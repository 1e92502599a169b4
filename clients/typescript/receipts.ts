/** Receipts: an entry of the log with its proof up to a signed checkpoint, for use without a network (C2SP tlog-proof@v1). */
import { HASH_LENGTH } from '../../contract/log/ranges.ts';
import { type Bytes, encodedText, fromBase64, leafHashOf, toBase64 } from './hashes.ts';
import { isIncluded } from './inclusion.ts';
import {
  importLogKey,
  LogVerificationError,
  type ProvenEntry,
  readSignedCheckpoint,
  type SignedCheckpoint,
  type SignedLog,
} from './signed-log.ts';

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';

/** A valid receipt. */
export interface OpenedReceipt extends ProvenEntry {
  readonly checkpoint: Pick<SignedCheckpoint, 'origin' | 'size' | 'vkey'>;
}

export async function receiptOf(log: SignedLog, { index, text }: ProvenEntry): Promise<string> {
  const path = await log.pathOf(index);
  const lines = [FIRST_LINE, `extra ${toBase64(encodedText(text))}`, `index ${index}`, ...path.map(toBase64)];
  return `${lines.join('\n')}\n\n${log.note}`;
}

/**
 * Opens a receipt. It proves that the log had the entry, not that no later entry replaces it.
 *
 * @param vkeys the keys of the log, from its operator
 * @throws LogVerificationError unless one of the keys has signed a log with this entry at this place
 */
export async function openReceipt(receipt: string, vkeys: readonly string[]): Promise<OpenedReceipt> {
  const split = receipt.indexOf('\n\n');
  const [first, extra = '', place = '', ...hashes] = receipt.slice(0, split).split('\n');
  const entry = extra.startsWith('extra ') ? fromBase64(extra.slice('extra '.length)) : null;
  const index = /^index (0|[1-9]\d{0,14})$/.exec(place)?.[1];
  const path = hashes.map(fromBase64);
  if (split < 0 || first !== FIRST_LINE || entry === null || index === undefined || !path.every(isHash)) {
    throw new LogVerificationError('not a receipt of an entry');
  }
  const { origin, size, root, vkey } = await readSignedCheckpoint(
    receipt.slice(split + 2),
    await Promise.all(vkeys.map(importLogKey)),
  );
  if (!(await isIncluded({ size, root }, Number(index), await leafHashOf(entry), path))) {
    throw new LogVerificationError('the entry is not the one that the checkpoint has at this place');
  }
  const text = new TextDecoder().decode(entry);
  const checkpoint = { origin, size, vkey };
  return { entry: JSON.parse(text) as ProvenEntry['entry'], index: Number(index), text, checkpoint };
}

function isHash(bytes: Bytes | null): bytes is Bytes {
  return bytes?.length === HASH_LENGTH;
}
