/** The write API with a market to make claims about: alice and bob file them, rita reviews them. */
import { expect } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { claimSchema } from '../../contract/operations/accounts/claims.ts';
import type { Scope } from '../../contract/operations/scopes.ts';
import type { Observation } from '../../contract/values/metric.ts';
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import {
  type MarketRecordValue,
  marketKey,
  marketPartition,
  OBSERVATION_PREFIX,
} from '../../storage/records/markets.ts';
import { FRESH_MARKS } from '../../storage/records/publication.ts';
import { ingest as takeIn } from '../ingest/ingest.ts';
import { deleteItem } from '../storage/put-item.ts';
import { type Answer, type ApiWorld, type ApiWorldOptions, openApiWorld, START_MS } from './world.ts';

export const CLAIMS = '/api/v1/claims';

const CLAIMANT: readonly Scope[] = ['claims:read', 'claims:write'];

/** An API key of an account, and that account. */
export const KEY = 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A/k1';
export const KEY_SUBJECT = 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const SCOPES = { alice: CLAIMANT, bob: CLAIMANT, [KEY]: CLAIMANT, rita: ['claims:review'] } as const;

export const DESK = { label: 'Bullion desk', url: 'https://bullion.example/gold' };
export const EXCHANGE = { label: 'Exchange', url: 'https://exchange.example/' };
const UNKNOWN = { publisher: null, licence: null, attribution: null };

/** The identity of the price of a day of November 2026. */
export function priceOn(day: number) {
  return {
    metric: 'price',
    observedAt: `2026-11-${day}T00:00:00Z`,
    sourceUrl: `https://bullion.example/gold/${day}.json`,
  } as const;
}

const VOLUME = { metric: 'volume', observedAt: '2026-11-18T00:00:00Z', sourceUrl: EXCHANGE.url } as const;
const LAST = { confidence: 'high', status: 'final' } as const;

export function priceRecord(day: number, amountMinor: number): IngestRecordInput {
  const fields = { amountMinor, currency: 'USD', sourceLabel: DESK.label, ...LAST };
  return { type: 'observation', market: 'gold-usd', ...priceOn(day), ...fields };
}

/** gold-usd: prices of three days from one source, the newest is 412910; a volume from another; and an empty market. */
export const RECORDS: readonly IngestRecordInput[] = [
  ...['gold-usd', 'tin-usd'].map(
    (slug): IngestRecordInput => ({
      type: 'market',
      slug,
      name: slug,
      kind: 'metal',
      nativeCurrency: 'USD',
      unit: { quantity: 1, of: 'troy ounce' },
      sources: [DESK, EXCHANGE].map((source) => ({ ...source, ...UNKNOWN })),
    }),
  ),
  priceRecord(16, 410000),
  priceRecord(17, 411000),
  priceRecord(18, 412910),
  {
    type: 'observation',
    market: 'gold-usd',
    ...VOLUME,
    value: '120.5',
    unit: 'tonnes',
    sourceLabel: EXCHANGE.label,
    ...LAST,
  },
];

let batches = 0;

export async function ingest(ledger: Ledger, records: readonly IngestRecordInput[]): Promise<void> {
  const newAttemptId = () => `batch-${++batches}`;
  const report = await takeIn({ ledger, newAttemptId, nowMs: () => START_MS }, records, { mode: 'correct' });
  expect(report.faults).toEqual([]);
}

export async function openClaimWorld(options: ApiWorldOptions = {}): Promise<ApiWorld> {
  const world = openApiWorld({ scopes: SCOPES, ...options });
  await ingest(world.ledger, RECORDS);
  for (const { partition, sort } of await dirtyMarks(world.ledger)) await deleteItem(world.ledger, { partition, sort });
  return world;
}

const REASON = 'the desk has withdrawn the number: secret-reason';

export const ASSERTIONS = {
  correction: {
    type: 'correction',
    market: 'gold-usd',
    ...priceOn(18),
    corrected: { amountMinor: 419210, currency: 'USD', sourceValue: '4192.10', ...LAST },
    reason: REASON,
  },
  retraction: { type: 'retraction', market: 'gold-usd', ...priceOn(18), reason: REASON },
  dispute: { type: 'dispute', market: 'gold-usd', metric: 'price', reason: REASON },
  representation: { type: 'representation', market: 'gold-usd', name: 'Bullion Desk Ltd', reason: REASON },
} as const;
export type ClaimType = keyof typeof ASSERTIONS;
export const CLAIM_TYPES = Object.keys(ASSERTIONS) as readonly ClaimType[];

/** Calls, and holds every claim that is answered to the schema of the operation. */
async function claimCall(world: ApiWorld, call: Parameters<ApiWorld['call']>[0]): Promise<Answer> {
  const answer = await world.call({ method: 'POST', ...call });
  if (answer.status < 300) {
    expect(claimSchema.parse(answer.json)).toEqual(answer.json);
    expect(answer.headers.etag).toBe(`"${answer.json.revision}"`);
  }
  return answer;
}

export function file(world: ApiWorld, assertion: object = ASSERTIONS.dispute, as = 'alice', evidence: object[] = []) {
  return claimCall(world, { path: CLAIMS, as, body: { assertion, evidence } });
}

export async function filed(world: ApiWorld, assertion?: object, as?: string): Promise<string> {
  const { status, json } = await file(world, assertion, as);
  expect(status).toBe(201);
  return json.id;
}

/** The HTTP request of each action on a claim. */
export const REQUESTS = {
  'add-evidence': { as: 'alice', part: 'evidence', body: { url: 'https://evidence.example/1', note: 'secret-note' } },
  withdraw: { as: 'alice', part: 'withdrawal', body: undefined },
  start: { as: 'rita', part: 'review', body: { action: 'start' } },
  'request-evidence': { as: 'rita', part: 'review', body: { action: 'request-evidence', note: 'secret-request' } },
  resume: { as: 'rita', part: 'review', body: { action: 'resume' } },
  accept: { as: 'rita', part: 'decision', body: { outcome: 'accepted', note: 'secret-decision' } },
  reject: { as: 'rita', part: 'decision', body: { outcome: 'rejected', note: 'secret-decision' } },
} as const;
export type Action = keyof typeof REQUESTS;
export const ACTIONS = Object.keys(REQUESTS) as readonly Action[];

export interface ActOptions {
  readonly as?: string;
  readonly ifMatch?: string | undefined;
  readonly body?: unknown;
  readonly key?: string;
}

/** Sends the request, by default as its usual actor, with any version. */
export function act(world: ApiWorld, id: string, action: Action, options: ActOptions = {}): Promise<Answer> {
  const { as, part, body } = REQUESTS[action];
  return claimCall(world, {
    path: `${CLAIMS}/${id}/${part}`,
    as: options.as ?? as,
    body: 'body' in options ? options.body : body,
    headers: { 'if-match': 'ifMatch' in options ? options.ifMatch : '*' },
    ...(options.key === undefined ? {} : { key: options.key }),
  });
}

/** How a claim gets into each state. */
export const WAYS = {
  submitted: [],
  'under-review': ['start'],
  'needs-evidence': ['start', 'request-evidence'],
  accepted: ['start', 'accept'],
  rejected: ['start', 'reject'],
  withdrawn: ['withdraw'],
} as const satisfies Record<string, readonly Action[]>;
export type State = keyof typeof WAYS;
export const STATES = Object.keys(WAYS) as readonly State[];

export async function filedIn(world: ApiWorld, state: State, assertion?: object): Promise<string> {
  const id = await filed(world, assertion);
  for (const action of WAYS[state]) expect((await act(world, id, action)).status).toBe(200);
  return id;
}

export async function goldRecord(ledger: Ledger): Promise<{ revision: number; value: MarketRecordValue }> {
  const { revision, value } = (await ledger.get(marketKey('gold-usd'))) as Item;
  return { revision, value: value as MarketRecordValue };
}

export async function dirtyMarks(ledger: Ledger): Promise<readonly Item[]> {
  return await readAll(ledger, { shards: FRESH_MARKS.shards });
}

/** The history of gold-usd, oldest first. */
export async function goldHistory(ledger: Ledger): Promise<readonly Observation[]> {
  const { items } = await ledger.query(marketPartition('gold-usd'), { prefix: OBSERVATION_PREFIX, limit: 100 });
  return items.map(({ value }) => value as Observation);
}

/** Whether a partition lists the claim. */
export async function lists(ledger: Ledger, partition: string, id: string): Promise<boolean> {
  return (await ledger.get({ partition, sort: id })) !== null;
}

/** Runs a rival between the reads of a handler and its commit, this many times. */
export function interfere({ ledger }: ApiWorld, what: (turn: number) => Promise<unknown>, times = 1): void {
  const { transact } = ledger;
  let turn = 0;
  let isRival = false;
  ledger.transact = async (changes, options) => {
    if (!isRival && turn < times) {
      isRival = true;
      await what(turn++);
      isRival = false;
    }
    return await transact.call(ledger, changes, options);
  };
}
