/** The client's timeouts and attempts, and what the SDK's own retries do to a transaction. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createDynamoDbClient } from '../../storage/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb-ledger.ts';
import { StorageUnavailable } from '../../storage/ledger.ts';

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

type Answer = (response: ServerResponse) => void;

const done: Answer = (response) => response.end('{}');
const lost: Answer = (response) => response.destroy();
const failed =
  (name: string, status = 400): Answer =>
  (response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no' }));
  };

/** A ledger whose requests are answered as told, in order, and the bodies of those requests. */
async function answering(...answers: readonly Answer[]) {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    answers[bodies.length - 1]?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createDynamoDbClient({ endpoint, region: 'eu-central-1', credentials: CREDENTIALS });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const ledger = openDynamoDbLedger({ client, tableName: 'ledger' });
  const count = () =>
    ledger.transact([{ kind: 'count', key: { partition: 'p', sort: 's' }, by: 1, atLeast: 0, atMost: 9 }], {
      attemptId: 'attempt',
    });
  return { bodies, count };
}

it('waits for a connection and for an answer as long as it is told, and tries so often', async () => {
  const client = createDynamoDbClient({ region: 'eu-central-1' });
  onTestFinished(() => client.destroy());
  expect(await client.config.maxAttempts()).toBe(3);
  // The handler reads its settings when it is first used.
  const config = await (client.config.requestHandler as unknown as { configProvider: Promise<object> }).configProvider;
  expect(config).toMatchObject({ connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true });
  expect(config).toMatchObject({ httpsAgent: { keepAlive: true, maxSockets: 256 } });
});

it.each<[string, Answer]>([
  ['an answer is lost', lost],
  ['DynamoDB throttles', failed('ThrottlingException')],
  ['its partition has too much traffic', failed('ProvisionedThroughputExceededException')],
  ['the transaction is still under way', failed('TransactionInProgressException')],
  ['DynamoDB fails', failed('InternalServerError', 500)],
])('repeats a transaction under the same token when %s', async (_what, answer) => {
  const { bodies, count } = await answering(answer, done);
  expect(await count()).toEqual({ committed: true });
  expect(bodies).toHaveLength(2);
  expect(bodies[0]?.ClientRequestToken).toEqual(expect.any(String));
  expect(bodies[1]).toEqual(bodies[0]);
});

it('gives every call a token of its own', async () => {
  const { bodies, count } = await answering(done, done);
  await count();
  await count();
  expect(bodies[1]?.ClientRequestToken).not.toBe(bodies[0]?.ClientRequestToken);
});

it('gives up after so many tries', async () => {
  const { bodies, count } = await answering(lost, lost, lost, done);
  await expect(count()).rejects.toBeInstanceOf(StorageUnavailable);
  expect(bodies).toHaveLength(3);
});
