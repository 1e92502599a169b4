/** The client's timeouts and attempts, and the effect of the SDK's retries on a transaction. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SECRETS_CLIENT } from '../../lambdas/entry/deployment-secret.ts';
import { LAST_BEGIN_MS } from '../../lambdas/pipeline/commit.ts';
import {
  ANSWER_TIMEOUTS,
  BACKGROUND_TIMEOUTS,
  BULK_TIMEOUTS,
  createDynamoDbClient,
  MAX_ATTEMPTS,
} from '../../storage/dynamodb/dynamodb-client.ts';
import { MAX_RETRYING_MS } from '../../storage/dynamodb/dynamodb-failures.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { type ApiWorld, openApiWorld } from '../write-api/world.ts';
import { openMemoryLedger } from './memory-ledger.ts';

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

const { callTimeoutMs: CALL_TIMEOUT_MS } = ANSWER_TIMEOUTS;

type Answer = (response: ServerResponse) => void;

const done: Answer = (response) => response.end('{}');
const lost: Answer = (response) => response.destroy();
const failed =
  (name: string, status = 400): Answer =>
  (response) => {
    response.statusCode = status;
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no' }));
  };

/** A ledger with these answers, in order, and the bodies of its requests. */
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

it.each([
  ['at work', BACKGROUND_TIMEOUTS, { connectionTimeout: 2_000, requestTimeout: 5_000 }],
  ['in bulk', BULK_TIMEOUTS, { connectionTimeout: 10_000, requestTimeout: 60_000 }],
  ['for an answer', ANSWER_TIMEOUTS, { connectionTimeout: 1_000, requestTimeout: 1_500 }],
])('uses the configured timeouts and number of tries, %s', async (_what, patience, timeouts) => {
  const client = createDynamoDbClient({ region: 'eu-central-1' }, patience);
  onTestFinished(() => client.destroy());
  expect(await client.config.maxAttempts()).toBe(3);
  // The handler reads its settings when it is first used.
  const config = await (client.config.requestHandler as unknown as { configProvider: Promise<object> }).configProvider;
  expect(config).toMatchObject({ ...timeouts, throwOnRequestTimeout: true });
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

it('gives up a call if its tries take too long, for any reason', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const client = createDynamoDbClient({ region: 'eu-central-1', credentials: CREDENTIALS }, ANSWER_TIMEOUTS);
  const handle = vi.fn(() => new Promise<never>(() => {}));
  client.config.requestHandler = { ...client.config.requestHandler, handle };
  const ledger = openDynamoDbLedger({ client, tableName: 'ledger' });
  let failure: unknown = null;
  const ended = ledger.get({ partition: 'p', sort: 's' }).catch((error: unknown) => {
    failure = error;
  });
  await expect.poll(() => handle).toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(CALL_TIMEOUT_MS / 2);
  expect(failure).toBeNull();
  await vi.advanceTimersByTimeAsync(CALL_TIMEOUT_MS / 2);
  await ended;
  expect(failure).toBeInstanceOf(StorageUnavailable);
  expect(vi.getTimerCount()).toBe(0);
});

it('leaves a call the time for tries that are never answered', () => {
  for (const { requestTimeoutMs, callTimeoutMs } of [BACKGROUND_TIMEOUTS, BULK_TIMEOUTS]) {
    expect(MAX_ATTEMPTS * requestTimeoutMs).toBeLessThan(callTimeoutMs);
  }
  expect(2 * ANSWER_TIMEOUTS.requestTimeoutMs).toBeLessThan(ANSWER_TIMEOUTS.callTimeoutMs);
});

/** After this long an HTTP API answers in place of its function, and no problem document. */
const HTTP_API_TIMEOUT_MS = 29_000;

it('has a request of the write API answered in time, though each of its calls takes as long as it may', () => {
  const { maxAttempts, requestHandler } = SECRETS_CLIENT as { maxAttempts: number; requestHandler: object };
  const { requestTimeout } = requestHandler as { requestTimeout: number };
  const startMs = maxAttempts * requestTimeout;
  // The key, and once more where its secret is another: see principal.ts.
  const credentialMs = 2 * CALL_TIMEOUT_MS;
  // At most three reads of a handler (test/write-api/cost.test.ts), and the reads after a refusal.
  const readsMs = 4 * CALL_TIMEOUT_MS;
  const transactMs = MAX_RETRYING_MS + CALL_TIMEOUT_MS;
  const writeMs = LAST_BEGIN_MS + Math.max(readsMs, transactMs);
  expect(startMs + credentialMs + writeMs).toBeLessThan(HTTP_API_TIMEOUT_MS);
});

/** A write over a ledger with slow transactions and these outcomes. Returns the result and the number of transactions. */
async function writeOver(transactMs: number, transact: Ledger['transact']) {
  let transactions = 0;
  const ledger: Ledger = {
    ...openMemoryLedger(),
    transact: async (...args) => {
      transactions++;
      world.nowMs += transactMs;
      return await transact(...args);
    },
  };
  const world: ApiWorld = openApiWorld({ ledger });
  const startMs = world.nowMs;
  const { status } = await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'x', markets: [] } });
  return { status, transactions, lastBeginMs: world.nowMs - startMs - transactMs };
}

const silent: Ledger['transact'] = async () => {
  throw new StorageUnavailable('silent');
};
const contended: Ledger['transact'] = async () => ({ committed: false, refusals: [] });

it.each<[string, number, Ledger['transact'], number, number]>([
  ['is silent', CALL_TIMEOUT_MS, silent, 503, 1],
  ['fails at once', 0, silent, 503, 3],
  ['is slow and contended', 700, contended, 409, 3],
  ['is quick and contended', 10, contended, 409, 8],
])(
  'a write to a table that %s begins its last attempt in time',
  async (_what, tookMs, transact, status, transactions) => {
    const outcome = await writeOver(tookMs, transact);
    expect(outcome).toMatchObject({ status, transactions });
    expect(outcome.lastBeginMs).toBeLessThanOrEqual(LAST_BEGIN_MS);
  },
);
