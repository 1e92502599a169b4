import { ledgerContract } from './ledger-contract.ts';
import { openMemoryLedger } from './memory-ledger.ts';

ledgerContract('the ledger in memory', async () => {
  const ledger = openMemoryLedger();
  return { ledger, reopen: async () => ledger, close: async () => {} };
});
