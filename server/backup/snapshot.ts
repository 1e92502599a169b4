/** A copy of the ledger as of one moment: made by the process that has it open, or by this process if no server runs. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFormat } from '../../storage/ports/format.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import type { CopyProgress } from '../../storage/sqlite/sqlite-copy.ts';
import { openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { openDataFolder } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { askForSnapshot, type LedgerSnapshot, makeSnapshot, newSnapshotName, removeSnapshots } from './control.ts';

/** @throws StartError if the folder is in use by a process that does not answer, or the copy fails */
export async function takeSnapshot(dataFolder: string, progress: CopyProgress): Promise<LedgerSnapshot> {
  const asked = await askForSnapshot(dataFolder, progress);
  if (asked !== null) return asked;
  const data = await openDataFolder(dataFolder);
  removeSnapshots(dataFolder);
  const name = newSnapshotName();
  const path = join(dataFolder, name);
  const release = async () => {
    await rm(path, { force: true });
    data.close();
  };
  try {
    await makeSnapshot({ folder: dataFolder, name, copyLedger: data.copyLedger }, progress);
    return { path, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The ledger's part of the manifest. @throws StartError if the copy is damaged: then the ledger is, too */
export async function checkLedgerCopy(
  path: string,
): Promise<{ readonly ledgerFormat: number | null; readonly generation: number | null }> {
  const copy = openLedgerCopy(path);
  try {
    const damage = copy.findDamage();
    if (damage.length > 0) {
      throw new StartError(
        `The ledger is damaged (${damage[0]}). Keep your earlier backups, and restore the newest: docs/operations.md.`,
      );
    }
    const head = await copy.get(HEAD_KEY);
    return { ledgerFormat: await readFormat(copy), generation: head?.value.generation ?? null };
  } finally {
    copy.close();
  }
}
