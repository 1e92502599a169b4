/**
 * Attack: code of ours, by mistake or because somebody has it do so, changes, removes or replaces an audit record. The ledgers
 * that keep data refuse it before storage sees it. test/infra/audit-policy.test.ts shows what IAM refuses beside that.
 */
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import type { Change, Condition, Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { auditKeys, auditOfDay } from '../../storage/records/audit.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

const AUDIT = {
  ...{
    id: 'aud_01KAH4Q2Z3N5R7T9V1X3Z5B7D9',
    at: '2026-11-20T12:00:00Z',
    actor: 'user:alice',
    action: 'createWatchlist',
  },
  ...{ target: 'watchlist/w1', requestId: 'r1', fingerprint: '' },
};
const KEYS = auditKeys(AUDIT);
const [KEY] = KEYS as [(typeof KEYS)[number]];
const OTHER = { partition: 'shelf', sort: 'item' };

const put = (condition: Condition, more = {}): Change =>
  ({ kind: 'put', key: KEY, revision: 0, value: { ...AUDIT, actor: 'user:bob' }, if: condition, ...more }) as Change;

const CHANGES: readonly [string, Change][] = [
  ['replaces it', put({ kind: 'any' })],
  ['replaces it if it is there', put({ kind: 'present' })],
  ['replaces this revision', put({ kind: 'revision-is', revision: 0 })],
  ['replaces that of an attempt', put({ kind: 'written-by', attemptId: 'first' })],
  ['replaces it once it has expired', put({ kind: 'absent-or-expired', atMs: 0 })],
  ['creates one that expires', put({ kind: 'absent' }, { expiresAtMs: 1 })],
  ['removes it', { kind: 'delete', key: KEY, if: { kind: 'any' } }],
  ['counts with it', { kind: 'count', key: KEY, by: 1, atLeast: 0, atMost: 9, expiresAtMs: 1 }],
];

describe.each<[string, () => Ledger]>([
  ['SQLite', () => openSqliteLedger(':memory:')],
  [
    'DynamoDB',
    () => {
      const client = createDynamoDbClient({ region: 'eu-central-1' });
      // Without a reply for any command, so that a request would fail in another way.
      mockClient(client).rejects(new Error('a request was sent'));
      return openDynamoDbLedger({ client, tableName: 'ledger' });
    },
  ],
])('the ledger in %s', (_, open) => {
  test.each(CHANGES)('refuses a transaction that %s, with all that is in it', async (_what, change) => {
    const harmless: Change = { kind: 'put', key: OTHER, revision: 0, value: null, if: { kind: 'any' } };
    await expect(open().transact([harmless, change], { attemptId: 'second' })).rejects.toThrow(/only be created/);
  });
});

test('each copy of an audit record is created, read and checked as ever', async () => {
  const ledger = openSqliteLedger(':memory:');
  const creations = KEYS.map((key): Change => {
    return { kind: 'put', key, revision: 0, value: AUDIT, if: { kind: 'absent' } };
  });
  expect(await ledger.transact(creations, { attemptId: 'first' })).toEqual({ committed: true });
  expect(await ledger.transact(creations, { attemptId: 'second' })).toMatchObject({ committed: false });
  const check: Change = { kind: 'check', key: KEY, if: { kind: 'present' } };
  expect(await ledger.transact([check], { attemptId: 'third' })).toEqual({ committed: true });
  const items = await readAll(ledger, auditOfDay('2026-11-20'));
  expect(items.map(({ value }) => value)).toEqual([AUDIT]);
});
