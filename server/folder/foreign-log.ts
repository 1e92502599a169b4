/**
 * Refuses to publish where another copy of this data folder has published since: the log would have two versions. A CI job that
 * gets an old cache, and a fresh checkout, is such a copy.
 */
import { publicPath } from '../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { LogTree } from '../../contract/log/tree.ts';
import { ledgerTiles, NO_LOG } from '../../publisher/core/log/log-edge.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { HEAD_KEY, type LogState } from '../../storage/records/publication.ts';
import { StartError } from '../service/start-error.ts';
import type { LogKeys } from '../settings/log-key.ts';
import type { PublicTarget } from '../target/target.ts';

/**
 * Reads the file itself: to the store, it would be one that was damaged.
 *
 * @param of the ledger, for messages
 * @throws StartError if the published log is no beginning of the ledger's log
 */
export async function checkIsOwnLog(
  target: Pick<PublicTarget, 'name' | 'read'>,
  ledger: LedgerReader,
  signers: LogKeys['signers'],
  of = 'this data folder',
): Promise<void> {
  const path = publicPath({ kind: 'log-checkpoint' }).slice(1);
  const note = await target.read(path);
  const shown = note === null ? null : signedBy(Buffer.from(note).toString('utf8'), signers);
  if (shown === null) return;
  const log = (await ledger.get(HEAD_KEY))?.value.log ?? NO_LOG;
  // After a restore, the next generation compares the logs, and takes over the longer one.
  if (log.isDoubtful || (await isBeginningOf(ledger, log, shown))) return;
  throw new StartError(
    `${path} of ${target.name} shows ${shown.size} entries of the log ${shown.origin} that ${of} has not written, or not all of them: another copy of it has published there since. Put that copy back. If it is lost, move ${of} away, and begin from the log: --from-log.`,
  );
}

async function isBeginningOf(ledger: LedgerReader, log: LogState, { size, root }: LogCheckpoint): Promise<boolean> {
  // The ledger gets the newest hashes after the store.
  if (size === log.size) return root.toString('base64') === log.root;
  return size < log.size && (await LogTree.at(size, ledgerTiles(ledger))).root().equals(root);
}

/** Null: our keys have not signed it, so it is damaged. It is published again. */
function signedBy(note: string, signers: LogKeys['signers']): LogCheckpoint | null {
  try {
    return openCheckpoint(
      note,
      signers.map(({ vkey }) => verifierKey(vkey)),
    );
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}
