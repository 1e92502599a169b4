/** What a write of the API costs, against the bare ledger doing what it did to the ledger, equally durable. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ALL_SCOPES } from '../contract/scopes.ts';
import { formatApiKey, hashSecret, newApiKey } from '../lambdas/credentials/api-key-format.ts';
import { createAuthenticator } from '../lambdas/credentials/principal.ts';
import { createCursors } from '../lambdas/http/cursor.ts';
import type { HttpEvent } from '../lambdas/http/event.ts';
import { createRateLimiter } from '../lambdas/http/rate-limit.ts';
import { createWriteApi, type Handled } from '../lambdas/pipeline/handle.ts';
import { createSecrets, MASTER_SECRET_BYTES } from '../lambdas/pipeline/secrets.ts';
import type { Change, Ledger } from '../storage/ledger.ts';
import { type ApiKeyValue, apiKeyKey, type EntitlementsValue, entitlementsKey } from '../storage/records/accounts.ts';
import { marketKey } from '../storage/records/markets.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { cpuMs, elapsedMs, interleave, ratios } from './rounds.ts';
import { number, printHeading, printTable, withSpread } from './table.ts';

const SUBJECT = 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const MARKETS = ['gold-usd', 'silver-usd'];
const WATCHLISTS = '/api/v1/watchlists';
const NO_END = 1_000_000_000;

/** What was asked of a ledger, to be asked of another one in the same state. */
type Asked<Answer = unknown> = (ledger: Ledger) => Promise<Answer>;

/** See the head of this file. */
export async function benchWrite({ quick, rounds, workspace }: BenchOptions): Promise<void> {
  const writes = quick ? 20 : 1_000;
  const folder = workspace.folder('write');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const bare = openSqliteLedger(join(folder, 'bare.sqlite'), { exclusive: true });
  const asked: Asked[] = [];
  const api = openApi(recordCalls(ledger, asked));
  for (const each of [ledger, bare]) await each.transact(api.seeds, { attemptId: 'seeds' });
  printHeading(
    'write',
    `${number(writes)} writes a round with an API key, one after the other, through the whole pipeline into a SQLite ledger,`,
    'against the same calls to another SQLite ledger without it: reads, conditions and records are the same. Both sync',
    'each commit, which takes most of the time and little of the CPU.',
  );
  const table: string[][] = [];
  for (const [name, makeEvents] of await writeKinds(api)) {
    const cpu = { tidemark: [] as number[], floor: [] as number[] };
    const measured = async (samples: number[], work: () => Promise<void>): Promise<number> => {
      let wallMs = 0;
      const usedMs = await cpuMs(async () => {
        wallMs = await elapsedMs(work);
      });
      samples.push((usedMs * 1000) / writes);
      return (wallMs * 1000) / writes;
    };
    // What came before this kind of write was done to one ledger alone.
    await repeat(asked.splice(0), bare);
    const wall = await interleave(rounds, {
      tidemark: async (round) => {
        const events = makeEvents(round, writes);
        return await measured(cpu.tidemark, async () => {
          for (const event of events) await api.send(event);
        });
      },
      floor: async () => {
        const calls = asked.splice(0);
        return await measured(cpu.floor, () => repeat(calls, bare));
      },
    });
    table.push([
      name,
      withSpread(cpu.tidemark, 0),
      withSpread(cpu.floor, 0),
      withSpread(ratios(cpu.tidemark, cpu.floor), 2),
      withSpread(ratios(wall.tidemark, wall.floor), 2),
    ]);
  }
  printTable(['write', 'CPU, µs', 'floor, µs', 'times the floor', 'in wall time'], table);
  ledger.close();
  bare.close();
}

async function repeat(calls: readonly Asked[], ledger: Ledger): Promise<void> {
  for (const call of calls) await call(ledger);
}

function recordCalls(ledger: Ledger, asked: Asked[]): Ledger {
  const noted = <Answer>(call: Asked<Answer>): Promise<Answer> => {
    asked.push(call);
    return call(ledger);
  };
  return {
    transact: (changes, options) => noted((on) => on.transact(changes, options)),
    get: (key) => noted((on) => on.get(key)),
    getMany: (keys) => noted((on) => on.getMany(keys)),
    query: (partition, options) => noted((on) => on.query(partition, options)),
  };
}

interface Api {
  /** Rejects when the request is refused: then something else would be measured. */
  send(event: HttpEvent): Promise<Handled>;
  eventOf(method: string, path: string, body: unknown, headers?: Readonly<Record<string, string>>): HttpEvent;
  /** What must be in the ledger before. */
  readonly seeds: readonly Change[];
}

function openApi(ledger: Ledger): Api {
  const secrets = createSecrets(new Uint8Array(randomBytes(MASTER_SECRET_BYTES)));
  const key = newApiKey('dev', randomBytes);
  const handle = createWriteApi({
    ledger,
    secrets,
    randomBytes,
    environment: 'dev',
    newAttemptId: randomUUID,
    authenticator: createAuthenticator({ ledger, nowMs: Date.now, env: 'dev', tokenIssuer: null }),
    rateLimiter: createRateLimiter({
      nowMs: Date.now,
      policy: { name: 'default', limit: NO_END, windowSeconds: 1 },
      maxCredentials: 10,
    }),
    cursors: createCursors(secrets.cursorKey),
    nowMs: Date.now,
    log: () => {},
  });
  return {
    async send(event) {
      const handled = await handle(event);
      const { statusCode, body } = handled.result;
      if (statusCode >= 300) throw new Error(`a write of the benchmark was refused: ${statusCode} ${body}`);
      return handled;
    },
    eventOf: (method, path, body, headers = {}) => ({
      version: '2.0',
      rawPath: path,
      rawQueryString: '',
      headers: {
        authorization: `Bearer ${formatApiKey(key)}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        ...headers,
      },
      requestContext: {
        http: { method, path, sourceIp: '127.0.0.1' },
        requestId: randomUUID(),
        timeEpoch: Date.now(),
      },
      body: JSON.stringify(body),
      isBase64Encoded: false,
    }),
    seeds: seedsOf({
      id: key.keyId,
      subject: SUBJECT,
      label: 'Benchmark',
      scopes: [...ALL_SCOPES],
      secretHash: hashSecret(key.secret),
      previousSecret: null,
      createdAt: new Date().toISOString(),
      expiresAt: null,
      revokedAt: null,
    }),
  };
}

function seedsOf(key: ApiKeyValue): readonly Change[] {
  const grant = { limit: NO_END, revision: 1, grantedAt: key.createdAt, expiresAt: null };
  const entitlements: EntitlementsValue = { features: { watchlists: grant, 'ingest-rows-per-day': grant } };
  const always = { kind: 'any' } as const;
  return [
    { kind: 'put', key: apiKeyKey(key.id), revision: 1, value: key, if: always },
    { kind: 'put', key: entitlementsKey(SUBJECT), revision: 1, value: entitlements, if: always },
    ...MARKETS.map((slug) => ({ kind: 'put', key: marketKey(slug), revision: 1, value: {}, if: always }) as const),
  ];
}

type MakeEvents = (round: number, writes: number) => readonly HttpEvent[];

/** The first of them has been sent: credential and entitlements are known from then on. */
async function writeKinds(api: Api): Promise<readonly (readonly [string, MakeEvents])[]> {
  const list = { name: 'Metals', markets: MARKETS };
  const created = api.eventOf('POST', WATCHLISTS, list);
  const { result } = await api.send(created);
  const path = result.headers.location as string;
  const many = (writes: number, make: (index: number) => HttpEvent) =>
    Array.from({ length: writes }, (_, at) => make(at));
  const observation = {
    type: 'observation',
    market: 'gold-usd',
    metric: 'price',
    amountMinor: 412345,
    currency: 'USD',
    sourceLabel: 'desk',
    sourceUrl: 'https://source.example/gold',
    observedAt: '2026-10-01T00:00:00Z',
    confidence: 'high',
    status: 'final',
  };
  return [
    ['create a watchlist of two markets', (_, writes) => many(writes, () => api.eventOf('POST', WATCHLISTS, list))],
    [
      'replace a watchlist',
      (round, writes) =>
        many(writes, (index) => api.eventOf('PUT', path, list, { 'if-match': `"${round * writes + index + 1}"` })),
    ],
    ['replay of a creation', (_, writes) => many(writes, () => created)],
    [
      'accept a batch of one record',
      (_, writes) => many(writes, () => api.eventOf('POST', '/api/v1/ingest/batches', { records: [observation] })),
    ],
  ];
}
