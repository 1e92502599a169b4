/** Every engine on which the write API is proven. Two processes work on one ledger, each through a port of its own. */
import { join } from 'node:path';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

export interface Engine {
  /** The same ledger, as each of the processes sees it. */
  readonly ledgers: readonly [Ledger, Ledger];
  close(): Promise<void>;
}

export const ENGINES: readonly (readonly [name: string, open: () => Promise<Engine>])[] = [
  ['the fake', async () => shared(openMemoryLedger())],
  [
    'SQLite in memory',
    async () => {
      const ledger = openSqliteLedger(':memory:');
      return { ...shared(ledger), close: async () => ledger.close() };
    },
  ],
  [
    'a SQLite file that two processes share',
    async () => {
      const { folder, remove } = await makeTemporaryFolder();
      const path = join(folder, 'ledger.sqlite');
      const ledgers = [openSqliteLedger(path), openSqliteLedger(path)] as const;
      const close = async () => {
        for (const ledger of ledgers) ledger.close();
        await remove();
      };
      return { ledgers, close };
    },
  ],
];

function shared(ledger: Ledger): Engine {
  return { ledgers: [ledger, ledger], close: async () => {} };
}
