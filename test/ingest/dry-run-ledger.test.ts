import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DryRunLedger } from '../../lambdas/markets/dry-run-ledger.ts';
import type { QueryOptions } from '../../storage/ports/ledger.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';

const sorts = fc.uniqueArray(fc.constantFrom('a', 'b', 'b/1', 'b/2', 'b/3', 'b/4', 'b0', 'c', '~'));
const options: fc.Arbitrary<Omit<QueryOptions, 'limit'>> = fc.record(
  {
    prefix: fc.constantFrom('b/', 'b', 'z', 'b/2'),
    after: fc.constantFrom('a', 'b/2', 'b/25', 'b0', '~', '0'),
    descending: fc.boolean(),
  },
  { requiredKeys: [] },
);

test('the ledger of a dry run answers each query as a ledger with all effects does', async () => {
  await fc.assert(
    fc.asyncProperty(sorts, sorts, sorts, options, fc.integer({ min: 1, max: 4 }), async (...given) => {
      const [stored, first, second, asked, limit] = given;
      const [ledger, whole] = [openMemoryLedger(), openMemoryLedger()];
      const key = (sort: string) => ({ partition: 'market/gold', sort });
      for (const sort of stored) for (const each of [ledger, whole]) await putItem(each, key(sort), 'stored');
      const dryRun = new DryRunLedger(ledger);
      const seen = async (reader: Pick<DryRunLedger, 'query'>) => {
        const found: unknown[] = [];
        for (let { after } = asked; ; ) {
          const { items, next } = await reader.query('market/gold', { ...asked, ...(after && { after }), limit });
          expect(items.length).toBeLessThanOrEqual(limit);
          found.push(...items.map(({ sort, value }) => [sort, value]));
          if (next === null) return found;
          after = next;
        }
      };
      for (const effects of [first, second]) {
        const changes = effects.map((sort) => ({ kind: 'put', key: key(sort), revision: 1, value: 'effect' }));
        dryRun.add([{ parts: [{ changes }] }] as never);
        for (const sort of effects) await putItem(whole, key(sort), 'effect');
        expect(await seen(dryRun)).toEqual(await seen(whole));
      }
    }),
    { numRuns: 500 },
  );
});
