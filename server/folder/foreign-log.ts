/**
 * Refuses to publish where another data folder, or a later copy of this one, has published. Otherwise the published log would
 * be replaced, or would have two versions. Examples of such a copy: a CI job with an old cache, and a fresh checkout.
 */
import { publicPath } from '../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { type NoteSigner, parseNote, verifierKey } from '../../contract/log/notes.ts';
import { LogTree } from '../../contract/log/tree.ts';
import { ledgerTiles, NO_LOG } from '../../publisher/core/log/log-edge.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { HEAD_KEY, type LogState } from '../../storage/records/publication.ts';
import { StartError } from '../service/start-error.ts';
import type { PublicTarget } from '../target/target.ts';

/**
 * Reads the file directly, because the store would take it for a damaged one.
 *
 * @param signers the available keys, of any log; empty if no log will be written
 * @param of the name of the ledger, for messages
 * @throws StartError if the published log (with any signature) is not the beginning of the ledger's log
 */
export async function checkIsOwnLog(
  target: Pick<PublicTarget, 'name' | 'read'>,
  ledger: LedgerReader,
  signers: readonly NoteSigner[],
  of = 'this data folder',
): Promise<void> {
  const path = publicPath({ kind: 'log-checkpoint' }).slice(1);
  const note = await target.read(path);
  const shown = note === null ? null : shownLog(Buffer.from(note).toString('utf8'), signers);
  if (shown === null) return;
  const log = (await ledger.get(HEAD_KEY))?.value.log ?? NO_LOG;
  // After a restore, the next generation compares the logs and takes over the longer one.
  if (log.isDoubtful || (await isBeginningOf(ledger, log, shown))) return;
  throw new StartError(
    `${path} of ${target.name} shows ${shown.size} entries of the log ${shown.origin}, and ${of} has not written all of them. Nothing was published. Use the data folder that has written them, or another target. If that folder is lost, move ${of} away, and continue the log with its key: \`tidemark run --from-log\`.`,
  );
}

async function isBeginningOf(ledger: LedgerReader, log: LogState, { size, root }: LogCheckpoint): Promise<boolean> {
  // The ledger gets the newest hashes only after the store.
  if (size === log.size) return root.toString('base64') === log.root;
  return size < log.size && (await LogTree.at(size, ledgerTiles(ledger))).root().equals(root);
}

/** Null: it is damaged, and will be published again. Signatures of other keys cannot be checked here. */
function shownLog(note: string, signers: readonly NoteSigner[]): LogCheckpoint | null {
  try {
    const { text, signatures } = parseNote(note);
    const keys = signers.map(({ vkey }) => verifierKey(vkey));
    const isOurs = signatures.some(({ name, keyId }) => keys.some((key) => key.name === name && key.keyId === keyId));
    return isOurs ? openCheckpoint(note, keys) : parseCheckpoint(text);
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}
