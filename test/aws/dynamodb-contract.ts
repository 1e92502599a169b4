/** The promises of the ledger on an engine: the port's whole suite, and tests that need a server and its limits. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { MAX_ITEM_BYTES, MAX_TRANSACT_BYTES } from '../../storage/ports/ledger-rules.ts';
import { ledgerContract } from '../storage/ledger-contract.ts';
import { engineClient, openEngineTable } from './dynamodb-table.ts';

const put = (sort: string, value: string): Change => {
  return { kind: 'put', key: { partition: 'shelf', sort }, revision: 1, value, if: { kind: 'absent' } };
};
const count = (by: number): Change => {
  return { kind: 'count', key: { partition: 'shelf', sort: 'count' }, by, atLeast: 0, atMost: 7 };
};
const sorts = (length: number) => Array.from({ length }, (_, index) => String(index).padStart(3, '0'));

/** The bytes that the ledger's rules count for the names of attributes and for numbers. */
const ITEM_OVERHEAD_BYTES = 128;

/** `deviations`: the tests that the engine cannot pass though AWS would, by name, each with the reason. */
export function dynamoDbContract(
  engine: string,
  endpoint: string,
  deviations: Readonly<Record<string, string>> = {},
): void {
  beforeEach((context) => {
    const reason = deviations[context.task.name];
    if (reason !== undefined) context.skip(reason);
  });

  ledgerContract(`the DynamoDB ledger on ${engine}`, async () => {
    const { ledgers, close } = await openEngineTable(endpoint);
    return { ledger: ledgers[0], reopen: async () => ledgers[1], close };
  });

  describe(`the DynamoDB ledger on ${engine}`, () => {
    const open = async (): Promise<readonly [Ledger, Ledger]> => {
      const { ledgers, close } = await openEngineTable(endpoint);
      onTestFinished(close);
      return ledgers;
    };

    test('tears no transaction apart, however many of two processes meet', async () => {
      const ledgers = await open();
      for (let round = 0; round < 10; round++) {
        const results = await Promise.all(
          sorts(20).map((sort, index) =>
            (ledgers[index % 2] as Ledger).transact([count(1), put(`${round}/${sort}`, 'x'.repeat(1000))], {
              attemptId: `${round}/${sort}`,
            }),
          ),
        );
        expect(results.filter(({ committed }) => committed)).toHaveLength(7);
        expect((await ledgers[0].query('shelf', { prefix: `${round}/`, limit: 100 })).items).toHaveLength(7);
        expect(await ledgers[0].transact([count(-7)], { attemptId: `${round}` })).toEqual({ committed: true });
      }
    });

    test('hands back each of a hundred items that refuse, in its place', async () => {
      const [ledger] = await open();
      const changes = sorts(100).map((sort) => put(sort, sort));
      await ledger.transact(changes, { attemptId: 'first' });
      const again = await ledger.transact(changes.toReversed(), { attemptId: 'second' });
      const found = again.committed ? [] : again.refusals.map((refusal) => [refusal.index, refusal.found?.value]);
      expect(found).toEqual(
        sorts(100)
          .toReversed()
          .map((sort, index) => [index, sort]),
      );
    });

    test('reads more at once than DynamoDB hands over in one answer', async () => {
      const [ledger] = await open();
      const all = sorts(60);
      // 18 MB, where an answer holds 16; a transaction holds 4.
      for (let from = 0; from < all.length; from += 10) {
        const changes = all.slice(from, from + 10).map((sort) => put(sort, 'x'.repeat(300_000)));
        await ledger.transact(changes, { attemptId: `from ${from}` });
      }
      const items = await ledger.getMany(all.map((sort) => ({ partition: 'shelf', sort })));
      expect(items.map((item) => item?.sort)).toEqual(all);
    });

    test('takes the largest items and the largest transaction that the port admits', async () => {
      const [ledger] = await open();
      const key = (sort: string) => ({ partition: 'shelf', sort });
      const item = (sort: string, bytes: number): Change => {
        const overhead = ITEM_OVERHEAD_BYTES + 'shelf'.length + sort.length + 'attempt'.length + '""'.length;
        const value = 'x'.repeat(bytes - overhead);
        return { kind: 'put', key: key(sort), revision: 1, value, expiresAtMs: 1_800_000_000_000, if: { kind: 'any' } };
      };
      const largest = sorts(10).map((sort) => item(sort, MAX_ITEM_BYTES));
      const rest = item('rest', MAX_TRANSACT_BYTES - 10 * MAX_ITEM_BYTES);
      const transact = (...changes: Change[]) => ledger.transact(changes, { attemptId: 'attempt' });
      expect(await transact(...largest, rest)).toEqual({ committed: true });
      // They are the largest.
      await expect(transact(item('000', MAX_ITEM_BYTES + 1))).rejects.toBeInstanceOf(RangeError);
      await expect(transact(...largest, rest, item('more', 500))).rejects.toBeInstanceOf(RangeError);
    });

    test('is unavailable where there is no table', async () => {
      const client = engineClient(endpoint);
      onTestFinished(() => client.destroy());
      const ledger = openDynamoDbLedger({ client, tableName: 'missing' });
      const key = { partition: 'shelf', sort: 'item' };
      const calls = [
        ledger.transact([put('item', '')], { attemptId: 'a' }),
        ledger.get(key),
        ledger.getMany([key]),
        ledger.query('shelf', { limit: 1 }),
      ];
      for (const result of await Promise.allSettled(calls)) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
      }
    });
  });
}
