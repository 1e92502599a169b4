/**
 * Migrates a ledger to the format of this version, in place. Every step may be repeated and recognises the results of
 * an earlier try, so an interrupted migration continues when it is called again. The format is written last; from
 * format 1, in one transaction with HEAD. Until then every version of the code refuses the ledger, or migrates it.
 *
 * Nothing else may write to the ledger in the meantime.
 */
import { assertFormat, claimFormat, formatPut, readFormat } from '../format.ts';
import { LEDGER_FORMAT } from '../records/formats.ts';
import { migrateMarkets } from './markets.ts';
import { commit, type Migration } from './migration.ts';
import { endPublicationTo2, migratePublication } from './publication-to-2.ts';
import { migrateWork } from './work-to-2.ts';

/**
 * - `current`: there was nothing to do. An empty ledger now has this format.
 * - `migrated`: the ledger now has this format. Every market is rendered again: from format 1 it has its mark already;
 *   otherwise the next publication sees that HEAD names another renderer, and asks for it.
 * - `unfinished`: there was not enough time. Call it again.
 */
export type MigrationOutcome = 'current' | 'migrated' | 'unfinished';

/** @throws FormatTooNew, and StorageUnavailable: call it again */
export async function migrateLedger(migration: Migration): Promise<MigrationOutcome> {
  const format = await readFormat(migration.ledger);
  if (format === null || format === LEDGER_FORMAT) {
    await claimFormat(migration);
    return 'current';
  }
  if (format > LEDGER_FORMAT) assertFormat('ledger', format);
  if (!(await migrateMarkets(migration))) return 'unfinished';
  if (format === 1) {
    await migrateWork(migration);
    await migratePublication(migration);
    await endPublicationTo2(migration);
  } else {
    await commit(migration, [formatPut(format)]);
  }
  return 'migrated';
}
