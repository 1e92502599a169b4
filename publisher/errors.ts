/** Errors of publishing, named by what the caller must do. */
import { StorageCorrupt } from '../storage/ports/errors.ts';

/** The advice for a loss that can be repaired from the ledger. */
export const HOW_TO_REBUILD =
  'The embedded server publishes everything again by itself. On AWS: docs/deploy.md, "Rebuild what is published".';

/** Another publisher was faster: it has moved HEAD, or does the same work. Stop quietly. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** An immutable object has other bytes or metadata than it must have. Page a human: nothing may be overwritten. */
export class ImmutableMismatch extends Error {
  override readonly name = 'ImmutableMismatch';
}

/**
 * The logs of store and ledger contradict each other, so the log cannot continue. Page a human: a second version of the log
 * would look like fraud to its followers.
 */
export class LogForked extends Error {
  override readonly name = 'LogForked';
}

/** A file or a record is larger than storage accepts. It must not be committed. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
}

/** A committed generation cannot be applied, because its redo bundle is missing or damaged. {@link HOW_TO_REBUILD} */
export class BundleLost extends Error {
  override readonly name = 'BundleLost';
}

/**
 * The store is later than the ledger: an older copy of the ledger was restored, or the store belongs to another ledger.
 */
export class LedgerBehind extends StorageCorrupt {
  override readonly name = 'LedgerBehind';
}

/**
 * For an object of a later generation than the ledger knows. No object is put before HEAD has reached its generation. So if
 * HEAD has not moved in the meantime, the object is not from another publisher; `supersededIfMoved` checks this.
 */
export function ledgerBehind(key: string, found: number, known: number): LedgerBehind {
  return new LedgerBehind(
    `${key} is of generation ${found}, but ${known ? `the ledger's newest one is ${known}` : 'the ledger has none yet'}: the object was published ` +
      'from another ledger, or from this ledger before an older copy of it was restored. Nothing was overwritten. Put the right ' +
      'ledger back. If this copy is the right one, restore in place: docs/operations.md, "Restore the ledger".',
  );
}
