/** The port's suite again, on an engine that loses answers and cancels transactions because of conflicts. */
import { type DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { ledgerContract } from '../storage/ledger-contract.ts';
import { openEngineTable } from './dynamodb-table.ts';
import { engineEndpoint } from './engine-endpoint.ts';

const endpoint = engineEndpoint('dynoxide');

/** Every so many requests. They have no factor in common, so that they fall together too. */
const CONFLICT_EVERY = 7;
const LOST_ANSWER_EVERY = 23;

ledgerContract('the DynamoDB ledger on a dynoxide with conflicts and lost answers', async () => {
  const { ledgers, close } = await openEngineTable(endpoint, (client) => {
    conflict(client, every(CONFLICT_EVERY));
    loseAnswers(client, every(LOST_ANSWER_EVERY));
  });
  return { ledger: ledgers[0], reopen: async () => ledgers[1], close };
});

test('counts once when the answer is lost, because the SDK asks again under the same token', async () => {
  let requests = 0;
  const { ledgers, close } = await openEngineTable(endpoint, (client) => loseAnswers(client, () => ++requests === 1));
  onTestFinished(close);
  const key = { partition: 'shelf', sort: 'count' };
  // Nothing but the token guards it.
  await ledgers[0].transact([{ kind: 'count', key, by: 1, atLeast: 0, atMost: 9 }], { attemptId: 'attempt' });
  expect(requests).toBe(2);
  expect(await ledgers[0].get(key)).toMatchObject({ value: 1 });
});

function every(requests: number): () => boolean {
  let count = 0;
  return () => ++count % requests === 0;
}

/** Cancels some transactions as DynamoDB does when another one holds an item. */
function conflict(client: DynamoDBClient, isDue: () => boolean): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { TransactItems } = args.input as { TransactItems?: unknown[] };
      if (TransactItems === undefined || !isDue()) return next(args);
      const CancellationReasons = TransactItems.map((_item, index) => ({
        Code: index === 0 ? 'TransactionConflict' : 'None',
      }));
      throw new TransactionCanceledException({ message: 'cancelled', $metadata: {}, CancellationReasons });
    },
    { step: 'initialize' },
  );
}

/** Loses some answers on their way, below the SDK's retries. */
function loseAnswers(client: DynamoDBClient, isDue: () => boolean): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      if (isDue()) throw Object.assign(new Error('the answer was lost'), { name: 'TimeoutError' });
      return answer;
    },
    { step: 'deserialize', priority: 'low' },
  );
}
