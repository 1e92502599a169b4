/**
 * The format of all other records: the meaning of keys and values.
 *
 * | partition | sort     | holds                                                          |
 * |-----------|----------|----------------------------------------------------------------|
 * | `format`  | `ledger` | {@link FormatValue}; absent in an empty ledger                  |
 */
import type { ItemKey } from '../ports/ledger.ts';

/** The format that this version of the code reads and writes. */
export const LEDGER_FORMAT = 4;

/** The earliest format that this version can migrate. */
export const OLDEST_FORMAT = 3;

/** Revision: the format. */
export type FormatValue = { format: number };

export const FORMAT_KEY: ItemKey<FormatValue> = { partition: 'format', sort: 'ledger' };
