/**
 * A restore to an earlier moment: the engine has no point-in-time recovery, so the earlier items are put back. Meanwhile readers
 * continue.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  ScanCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL, WAITLIST_URL } from '../../contract/files/routes.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../../storage/aws/names.ts';
import { inBatches } from '../../storage/ports/paging.ts';
import { marketPartition, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';

type Row = Record<string, AttributeValue>;

/** Rows by their keys. */
export type Rows = ReadonlyMap<string, Row>;

/** The earlier items. One market lacks its newest observation; another one has an item of a later transaction. */
export function torn(before: Rows, now: Rows, missing: string, added: string): Rows {
  const observationsIn = (rows: Rows, slug: string) =>
    [...rows].filter(([, row]) => row[TABLE_PARTITION_KEY]?.S === marketPartition(slug) && isObservation(row));
  const rows = new Map(before);
  const names = observationsIn(before, missing).map(([name]) => name);
  rows.delete(names.sort().at(-1) ?? '');
  for (const [name, row] of observationsIn(now, added)) if (!before.has(name)) rows.set(name, row);
  return rows;
}

const isObservation = (row: Row) => row[TABLE_SORT_KEY]?.S?.startsWith(OBSERVATION_PREFIX) === true;

/** The payloads for the repair in a section of the runbook. */
export function payloadIn(section: string): unknown {
  const runbook = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [, text = ''] = runbook.split(`## ${section}\n`);
  const [, payload = ''] = /--function-name tidemark-repair[^']*--payload '([^']+)'/.exec(text) ?? [];
  return JSON.parse(payload);
}

/** Everything in the table. */
export async function readRows(client: DynamoDBClient, tableName: string): Promise<Rows> {
  const rows = new Map<string, Row>();
  for (let start: Row | undefined; ; ) {
    const page = await client.send(
      new ScanCommand({ TableName: tableName, ExclusiveStartKey: start, ConsistentRead: true }),
    );
    for (const row of page.Items ?? []) {
      rows.set(`${row[TABLE_PARTITION_KEY]?.S} ${row[TABLE_SORT_KEY]?.S}`, row);
    }
    start = page.LastEvaluatedKey;
    if (start === undefined) return rows;
  }
}

/** Has the table hold these rows and no others. A row is as it was where the same transaction has written it. */
export async function putBack(client: DynamoDBClient, tableName: string, rows: Rows): Promise<void> {
  const now = await readRows(client, tableName);
  const requests: WriteRequest[] = [];
  for (const [name, { [TABLE_PARTITION_KEY]: pk, [TABLE_SORT_KEY]: sk }] of now) {
    if (!rows.has(name)) requests.push({ DeleteRequest: { Key: { pk, sk } as Row } });
  }
  for (const [name, row] of rows) {
    if (now.get(name)?.attemptId?.S !== row.attemptId?.S) requests.push({ PutRequest: { Item: row } });
  }
  for (const some of inBatches(requests, 25)) {
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: [...some] } }));
  }
}

/** All URLs that a reader finds by following links. */
export async function everyUrl(reader: PublicReader): Promise<readonly string[]> {
  const urls = [SNAPSHOT_URL, WAITLIST_URL];
  const walk = async function* (first: string) {
    for (let url: string | null = first; url !== null; ) {
      urls.push(url);
      const { data, page } = JSON.parse(Buffer.from((await reader(url)).body).toString());
      yield data as readonly { readonly slug: string }[];
      url = page.nextCursor === null ? null : `${first}?cursor=${page.nextCursor}`;
    }
  };
  for await (const markets of walk(MARKETS_URL)) {
    for (const { slug } of markets) {
      urls.push(marketUrl(slug));
      for await (const _ of walk(historyUrl(slug)));
    }
  }
  return urls;
}

/** Reads all of them repeatedly until it is stopped. Returns the number of reads of each, and all answers but 200. */
export function keepReading(reader: PublicReader, urls: readonly string[], forgetReads: () => void) {
  let isStopped = false;
  const failures: string[] = [];
  const reading = (async () => {
    for (let rounds = 0; ; rounds++) {
      forgetReads();
      for (const url of urls) {
        const { status } = await reader(url);
        if (status !== 200) failures.push(`${status} ${url}`);
        if (isStopped && rounds > 0) return rounds;
      }
    }
  })();
  return {
    async stop(): Promise<{ readonly rounds: number; readonly failures: readonly string[] }> {
      isStopped = true;
      return { rounds: await reading, failures };
    },
  };
}
