/** Tables of counted operations. */
import type { OperationCounts } from './operations.ts';
import type { Section } from './section.ts';
import { bytes, number } from './table.ts';

const COLUMNS: readonly [keyof OperationCounts, string][] = [
  ['ledgerReads', 'ledger reads'],
  ['itemsRead', 'items'],
  ['readUnits', 'read units'],
  ['transactions', 'transactions'],
  ['itemsChanged', 'changes'],
  ['writeUnits', 'write units'],
  ['objectReads', 'GETs'],
  ['objectStats', 'HEADs'],
  ['objectPuts', 'PUTs'],
  ['objectDeletes', 'DELETEs'],
  ['bytesRead', 'read'],
  ['bytesPut', 'put'],
];

export function printOperations(
  section: Section,
  title: string,
  rows: readonly (readonly [string, OperationCounts])[],
): void {
  section.table(
    [title, ...COLUMNS.map(([, column]) => column)],
    rows.map(([name, counts]) => [
      name,
      ...COLUMNS.map(([column]) => (column.startsWith('bytes') ? bytes : number)(counts[column])),
    ]),
  );
}
