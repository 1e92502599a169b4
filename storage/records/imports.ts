/**
 * The import of another ledger, in the ledger that it filled.
 *
 * | partition | sort     | holds                                                     |
 * |-----------|----------|-----------------------------------------------------------|
 * | `import`  | `ledger` | {@link ImportValue}; absent in a ledger that began empty   |
 */
import type { ItemKey } from '../ports/ledger.ts';

/** Revision: 1 while items are copied, then 2. */
export type ImportValue = {
  /** The SHA-256 of the imported file, in hex. */
  source: string;
};

export const IMPORT_KEY: ItemKey<ImportValue> = { partition: 'import', sort: 'ledger' };
