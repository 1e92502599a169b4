/**
 * The record of a ledger whose copies are kept in a target (docs/decisions/091-state-in-the-target.md).
 *
 * | partition | sort    | holds              |
 * |-----------|---------|--------------------|
 * | `state`   | `saved` | {@link SavedValue} |
 */
import type { ItemKey } from '../ports/ledger.ts';

/** Which copies were made of this ledger: so of two ledgers it is known which one is later. Revision: 0. */
export type SavedValue = {
  /** The ids of the copies that the target has had, oldest first, and not all of them. */
  saved: string[];
  /** The id of a copy that is being made: in the copy, its own. Null: none is. */
  pending: string | null;
  /** The version of the file with the newest of `saved`, as the store of the state names it. Null: not known. */
  version: string | null;
  /** The generation of HEAD in the newest of `saved`. Absent: not known. */
  generation?: number;
};

export const SAVED_KEY: ItemKey<SavedValue> = { partition: 'state', sort: 'saved' };
