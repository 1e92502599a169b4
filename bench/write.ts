/** The cost of a write of the API, against the bare ledger with the same calls, equally durable. */
import { join } from 'node:path';
import type { HttpEvent } from '../lambdas/http/event.ts';
import type { Ledger } from '../storage/ledger.ts';
import { type MarketRecordValue, marketKey } from '../storage/records/markets.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import { type Api, openApi } from './api.ts';
import type { BenchOptions } from './benchmark.ts';
import { cpuMs, elapsedMs, interleave, ratios } from './rounds.ts';
import { number, withSpread } from './table.ts';

const MARKETS = ['gold-usd', 'silver-usd'];
/** Watchlists ask only whether it is there. */
const NO_MARKET = {} as MarketRecordValue;
const WATCHLISTS = '/api/v1/watchlists';

/** The calls to one ledger, to be repeated on another one in the same state. */
type Asked<Answer = unknown> = (ledger: Ledger) => Promise<Answer>;

export async function benchWrite({ quick, rounds, workspace, section }: BenchOptions): Promise<void> {
  const writes = quick ? 20 : 1_000;
  const folder = workspace.folder('write');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const bare = openSqliteLedger(join(folder, 'bare.sqlite'), { exclusive: true });
  const asked: Asked[] = [];
  const api = openApi(recordCalls(ledger, asked));
  const markets = MARKETS.map(
    (slug) => ({ kind: 'put', key: marketKey(slug), revision: 1, value: NO_MARKET, if: { kind: 'any' } }) as const,
  );
  for (const each of [ledger, bare]) await each.transact([...api.seeds, ...markets], { attemptId: 'seeds' });
  section.say(
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
    // Earlier writes were made on only one of the ledgers.
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
  section.table(['write', 'CPU, µs', 'floor, µs', 'times the floor', 'in wall time'], table);
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
        many(writes, (index) => {
          const revision = round * writes + index + 1;
          // A write that changes nothing would leave the revision.
          return api.eventOf('PUT', path, { ...list, name: `Metals ${revision}` }, { 'if-match': `"${revision}"` });
        }),
    ],
    ['replay of a creation', (_, writes) => many(writes, () => created)],
    [
      'accept a batch of one record',
      (_, writes) => many(writes, () => api.eventOf('POST', '/api/v1/ingest/batches', { records: [observation] })),
    ],
  ];
}
