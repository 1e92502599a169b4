/**
 * As much of AWS as a function needs to start and to find nothing to do: a secret, a key that signs, an empty table that
 * takes every transaction, and a bucket. What the adapters promise is proven elsewhere, on engines.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../../storage/aws/names.ts';
import { KMS_ANSWERS } from './kms-answers.ts';
import { SECRET_TEXT } from './recorded-events.ts';

export interface AwsStub {
  readonly url: string;
  /** The requests, e.g. `DynamoDB_20120810.GetItem` or `PUT /bucket/key`. */
  readonly requests: string[];
  close(): void;
}

interface StoredObject {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** An item in DynamoDB's terms. */
export type StubItem = Readonly<Record<string, { readonly S: string } | { readonly N: string }>>;

interface Input {
  readonly TransactItems?: readonly { readonly Put?: { readonly Item: StubItem } }[];
  readonly Key?: StubItem;
  readonly RequestItems?: { readonly [table: string]: { readonly Keys: readonly StubItem[] } };
  readonly ExpressionAttributeValues?: { readonly [name: string]: { readonly S: string } };
  readonly ExclusiveStartKey?: StubItem;
  readonly Limit?: number;
  readonly Message?: string;
}

const ANSWERS: { readonly [operation: string]: (input: Input, items: readonly StubItem[]) => object } = {
  GetSecretValue: () => ({ SecretString: SECRET_TEXT }),
  ...KMS_ANSWERS,
  GetItem: ({ Key = {} }, items) => ({ Item: items.find((item) => keyOf(item) === keyOf(Key)) }),
  Query: ({ ExpressionAttributeValues: values = {}, ExclusiveStartKey: start, Limit }, items) => {
    const first = `${values[':pk']?.S} ${values[':prefix']?.S ?? ''}`;
    const found = items.filter((item) => keyOf(item).startsWith(first) && keyOf(item) > (start ? keyOf(start) : ''));
    return { Items: found.slice(0, Limit) };
  },
  BatchGetItem: ({ RequestItems = {} }, items) => {
    const found = ({ Keys }: { readonly Keys: readonly StubItem[] }) => {
      return items.filter((item) => Keys.some((key) => keyOf(key) === keyOf(item)));
    };
    const Responses = Object.entries(RequestItems).map(([table, asked]) => [table, found(asked)]);
    return { Responses: Object.fromEntries(Responses), UnprocessedKeys: {} };
  },
  TransactGetItems: ({ TransactItems = [] }) => ({ Responses: TransactItems.map(() => ({})) }),
  TransactWriteItems: () => ({}),
};

function withPuts(items: readonly StubItem[], changes: NonNullable<Input['TransactItems']>): readonly StubItem[] {
  const put = changes.flatMap(({ Put }) => (Put === undefined ? [] : [Put.Item]));
  const all = new Map([...items, ...put].map((item) => [keyOf(item), item]));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

function keyOf(item: StubItem): string {
  return [TABLE_PARTITION_KEY, TABLE_SORT_KEY].map((name) => (item[name] as { S: string }).S).join(' ');
}

export interface StubSettings {
  /** The initial items of the table. */
  readonly items?: readonly StubItem[];
  /** Whether the table returns items that were put. Deletes have no effect. */
  readonly keepsPuts?: true;
  /** With which the first change of every transaction is refused, as a rival would have left it; others are taken. */
  readonly rival?: StubItem;
}

export async function startAwsStub({ keepsPuts, rival, ...given }: StubSettings = {}): Promise<AwsStub> {
  const requests: string[] = [];
  let items: readonly StubItem[] = given.items ?? [];
  const objects = new Map<string, StoredObject>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const target = request.headers['x-amz-target'];
    if (typeof target !== 'string') return answerS3(request, body, response);
    requests.push(target);
    const operation = ANSWERS[target.slice(target.indexOf('.') + 1)];
    if (operation === undefined) throw new RangeError(`the stub knows no ${target}`);
    const refuse = (refusal: object) => {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ message: 'refused', ...refusal }));
    };
    const input = JSON.parse(body.toString()) as Input;
    const { TransactItems = [] } = input;
    if (rival !== undefined && target.endsWith('.TransactWriteItems')) {
      const refused = { Code: 'ConditionalCheckFailed', Item: rival };
      const CancellationReasons = TransactItems.map((_, index) => (index === 0 ? refused : { Code: 'None' }));
      return refuse({ __type: 'TransactionCanceledException', CancellationReasons });
    }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(operation(input, items)));
    if (keepsPuts) items = withPuts(items, TransactItems);
  }

  function answerS3({ method, url = '/', headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const [key = '', query = ''] = url.split('?');
    requests.push(`${method} ${key}`);
    const present = objects.get(key);
    if (method === 'PUT') {
      objects.set(key, { body, headers });
      response.writeHead(200, { etag: etagOf(body) }).end();
    } else if (query.includes('list-type=2')) {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(EMPTY_LIST);
    } else if (present === undefined) {
      response.writeHead(404, { 'content-type': 'application/xml' });
      response.end(method === 'HEAD' ? undefined : '<Error><Code>NoSuchKey</Code></Error>');
    } else {
      const kept = Object.entries(present.headers).filter(([name]) =>
        /^(x-amz-meta-|content-type|cache-control)/.test(name),
      );
      const { length } = present.body;
      response.writeHead(200, { ...Object.fromEntries(kept), 'content-length': length, etag: etagOf(present.body) });
      response.end(method === 'HEAD' ? undefined : present.body);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const EMPTY_LIST = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}
