/** Calls one operation of the write API, and prints its answer. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { OperationDefinition } from '../../contract/operations/operation.ts';
import { operationOf } from '../../contract/operations/operations.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { CommandError } from '../program/exit-codes.ts';
import { type Cell, note, printFields, printItems, printJson, Table } from '../program/output.ts';
import { walkList } from '../reads/walk.ts';
import { columnsOfItems } from './fields.ts';

export interface OperationCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Null: the operation has no body. */
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
  /** The greatest number of list items. */
  readonly limit: number;
}

export function isList(operation: OperationDefinition): boolean {
  return operation.method === 'GET' && columnsOfItems(operation).length > 0;
}

export async function runOperation(
  client: Client,
  operation: OperationDefinition,
  call: OperationCall,
  asJson: boolean,
): Promise<void> {
  if (isList(operation)) return await printList(client, operation, call, asJson);
  const answer = await client.call({
    method: operation.method,
    path: pathOf(operation, call),
    headers: call.headers,
    body: call.body === null ? undefined : JSON.stringify(call.body),
    idempotencyKey: call.idempotencyKey,
  });
  if (answer.status === 204) return note(operation.success.description);
  const resource = jsonOf(answer);
  if (asJson) return await printJson(resource);
  if (operation === operationOf('getEntitlements')) {
    // The only list without pages.
    const columns = columnsOfItems(operation, 'entitlements');
    const table = new Table(columns.map((name) => name.toUpperCase()));
    const { entitlements } = resource as { readonly entitlements: readonly Row[] };
    for (const item of entitlements) await table.add(columns.map((name) => cellOf(item[name])));
    return await table.end();
  }
  await printFields(Object.entries(resource as object).map(([name, value]) => [name, cellOf(value)] as const));
}

async function printList(
  client: Client,
  operation: OperationDefinition,
  call: OperationCall,
  asJson: boolean,
): Promise<void> {
  const columns = columnsOfItems(operation);
  const titles = columns.map((name) => name.toUpperCase());
  const items = walkList<Row>(client, pathOf(operation, call), call.limit);
  const count = await printItems(items, asJson, titles, (item) => columns.map((name) => cellOf(item[name])));
  if (count === 0) note(operation === operationOf('listAuditRecords') ? NO_AUDIT : 'No results.');
}

type Row = Readonly<Record<string, unknown>>;

const NO_AUDIT =
  'No record was found. Without --day, --actor or --target, the search is in the writes of today (UTC). A target is ' +
  'written as in market/gold-usd or watchlist/<id>, and an actor as in user:alice or key:<key id>.';

function pathOf({ path }: OperationDefinition, { params, query }: Pick<OperationCall, 'params' | 'query'>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
  );
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/** Shows values other than texts and numbers as JSON. */
function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * The body: `--body`, whose members the options replace.
 *
 * @param whole JSON, `@FILE`, or `-` for standard input
 * @throws CommandError unless it is a JSON object
 */
export async function bodyOfOptions(
  whole: string | undefined,
  fields: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (whole === undefined) return fields;
  try {
    const source =
      whole === '-' ? await text(process.stdin) : whole.startsWith('@') ? readFileSync(whole.slice(1), 'utf8') : whole;
    const body: unknown = JSON.parse(source);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body, ...fields };
  } catch (cause) {
    throw new CommandError('usage', `--body cannot be used: ${(cause as Error).message}`, null, { cause });
  }
  throw new CommandError('usage', '--body is not a JSON object.');
}
