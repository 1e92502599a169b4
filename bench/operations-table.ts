/** Tables of counted operations. */
import type { OperationCounts } from './operations.ts';
import { bytes, number, printTable } from './table.ts';

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

export function printOperations(title: string, rows: readonly (readonly [string, OperationCounts])[]): void {
  printTable(
    [title, ...COLUMNS.map(([, column]) => column)],
    rows.map(([name, counts]) => [
      name,
      ...COLUMNS.map(([column]) => (column.startsWith('bytes') ? bytes : number)(counts[column])),
    ]),
  );
}
