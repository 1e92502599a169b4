/** The write API's property test, which delays calls and answers in any order, on tables of an engine. */
import { vi } from 'vitest';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { engineEndpoint } from './engine-endpoint.ts';

vi.mock('../write-api/engines.ts', async () => {
  const { openEngineTable } = await import('./dynamodb-table.ts');
  const open = async () => {
    const { ledgers, close } = await openEngineTable(endpoint);
    const inTurn = turns();
    return { ledgers: ledgers.map((ledger) => takingTurns(ledger, inTurn)), close };
  };
  return { ENGINES: [['dynoxide', open]] };
});

const endpoint = engineEndpoint('dynoxide');

vi.setConfig({ testTimeout: 120_000 });

await import('../write-api/idempotency-properties.test.ts');

type InTurn = <Result>(call: () => Promise<Result>) => Promise<Result>;

/**
 * One call at a time reaches the engine, so that commits are answered in their order, which is how the test knows it.
 * The other suites test overlapping calls on the engine itself.
 */
function takingTurns(ledger: Ledger, inTurn: InTurn): Ledger {
  return {
    transact: (changes, options) => inTurn(() => ledger.transact(changes, options)),
    get: (key) => inTurn(() => ledger.get(key)),
    getMany: (keys) => inTurn(() => ledger.getMany(keys)),
    query: (partition, options) => inTurn(() => ledger.query(partition, options)),
  };
}

function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const result = last.then(call);
    last = result.catch(() => {});
    return result;
  };
}
