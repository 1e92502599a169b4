/**
 * The record of a ledger whose copies are kept in a target (docs/decisions/091-state-in-the-target.md).
 *
 * | partition | sort    | holds              |
 * |-----------|---------|--------------------|
 * | `state`   | `saved` | {@link SavedValue} |
 */
import type { ItemKey } from '../ports/ledger.ts';

/** The copies that were made of this ledger. They show which of two ledgers is the later one. Revision: 0. */
export type SavedValue = {
  /** The ids of copies that the target has had, oldest first. Old ones may be missing. */
  saved: string[];
  /** The id of a copy that is being made; in the copy itself, its own id. Null: no copy is being made. */
  pending: string | null;
  /** The version of the file with the newest of `saved`, as the store of the state names it. Null: unknown. */
  version: string | null;
  /** The generation of HEAD in the newest of `saved`. Absent: unknown. */
  generation?: number;
};

export const SAVED_KEY: ItemKey<SavedValue> = { partition: 'state', sort: 'saved' };
