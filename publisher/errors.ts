/** What can go wrong while publishing, named by what the caller must do about it. */
import { StorageCorrupt } from '../storage/errors.ts';

/** Another publisher was quicker: it has moved HEAD, or does the same. Stop quietly: the work is being done. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** An immutable object is not what it must be: other bytes, or other metadata. Page a human: nothing may be overwritten. */
export class ImmutableMismatch extends Error {
  override readonly name = 'ImmutableMismatch';
}

/** A committed generation cannot be applied because its redo bundle is gone or damaged. Run a rebuild. */
export class BundleLost extends Error {
  override readonly name = 'BundleLost';
}

/** The store is later than the ledger: an older copy of the ledger was restored, or this is another ledger's store. */
export class LedgerBehind extends StorageCorrupt {
  override readonly name = 'LedgerBehind';
}

/**
 * An object of a later generation than the ledger knows of. No object is put before HEAD has come to its generation, so
 * where HEAD has not moved meanwhile this is no rival's: only `supersededIfMoved` can tell.
 */
export function ledgerBehind(key: string, found: number, known: number): LedgerBehind {
  return new LedgerBehind(
    `${key} is of generation ${found}, but the ledger knows of ${known || 'none'}: this was published from another ` +
      'ledger, or from this one before an older copy of it was restored. Nothing was overwritten. Put the right ledger ' +
      'back; or, if this is the copy to go on with, restore in place: docs/operations.md, "Restore the ledger".',
  );
}
