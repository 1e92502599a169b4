/** Tables on an engine, with the keys of storage/aws/names.ts, and ledgers in them. */
import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../../storage/aws/names.ts';
import { BULK_TIMEOUTS, createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';

export interface EngineTable {
  readonly tableName: string;
  /** The same table through two clients, as two processes have them. */
  readonly ledgers: readonly [Ledger, Ledger];
  close(): Promise<void>;
}

/** An engine believes any credentials. */
export function engineConfig(endpoint: string): DynamoDBClientConfig {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'engine', secretAccessKey: 'engine-secret' } };
}

/** Patient: an engine shares the machine with other tests. */
export function engineClient(endpoint: string): DynamoDBClient {
  return createDynamoDbClient(engineConfig(endpoint), BULK_TIMEOUTS);
}

/** Makes an empty table, which goes when it is closed. `prepare` is handed each client of the ledgers. */
export async function openEngineTable(
  endpoint: string,
  prepare: (client: DynamoDBClient) => void = () => {},
): Promise<EngineTable> {
  const client = engineClient(endpoint);
  const tableName = `ledger-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: TABLE_PARTITION_KEY, AttributeType: 'S' },
        { AttributeName: TABLE_SORT_KEY, AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: TABLE_PARTITION_KEY, KeyType: 'HASH' },
        { AttributeName: TABLE_SORT_KEY, KeyType: 'RANGE' },
      ],
    }),
  );
  const clients = [engineClient(endpoint), engineClient(endpoint)];
  const [one, other] = clients.map((each) => {
    prepare(each);
    return openDynamoDbLedger({ client: each, tableName });
  }) as [Ledger, Ledger];
  return {
    tableName,
    ledgers: [one, other],
    async close() {
      await client.send(new DeleteTableCommand({ TableName: tableName }));
      for (const each of [client, ...clients]) each.destroy();
    },
  };
}
