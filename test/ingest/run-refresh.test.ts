/** Refresh work: all markets are marked; only then the publication that asked begins to wait. */
import { describe, expect, test } from 'vitest';
import { PUBLICATION_MARKETS_MAX } from '../../contract/operations/publications.ts';
import { type Ledger, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { type WorkValue, workKey } from '../../storage/records/batches.ts';
import { marketIndexKey } from '../../storage/records/markets.ts';
import { awaitingGenerationKey, REFRESH_MARKS } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import {
  diesAfter,
  type Fault,
  failsWithEffect,
  failsWithoutEffect,
  faultyStorage,
  ProcessDied,
} from '../publisher/faulty-storage.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { queuedWork } from './queued-batch.ts';
import { workOff } from './work-off.ts';

const ID = 'pub_1';
const SLUGS = Array.from({ length: 250 }, (_, index) => `market-${String(index).padStart(3, '0')}`);

let attempts = 0;

async function ledgerWith(work: Partial<WorkValue> = {}): Promise<Ledger> {
  const ledger = openSqliteLedger(':memory:');
  const put = (key: ReturnType<typeof workKey> | ReturnType<typeof marketIndexKey>, value: WorkValue | null) =>
    ledger.transact([{ kind: 'put', key, revision: 0, value, if: { kind: 'absent' } }], {
      attemptId: `setup-${++attempts}`,
    });
  for (const slug of SLUGS) await put(marketIndexKey(slug), null);
  const refresh = { kind: 'refresh', markets: null, after: '', publication: ID, lane: ID, lease: null } as const;
  await put(workKey(ID), { ...refresh, ...work } as WorkValue);
  return ledger;
}

async function marked(ledger: Ledger): Promise<readonly string[]> {
  return (await readAll(ledger, REFRESH_MARKS)).map(({ sort }) => sort.slice(REFRESH_MARKS.prefix.length));
}

const isWaiting = async (ledger: Ledger) => (await ledger.get(awaitingGenerationKey(`publication/${ID}`))) !== null;

describe('refresh work', () => {
  test('marks the markets that were asked for, in any order, also more than one transaction holds', async () => {
    const markets = SLUGS.slice(0, PUBLICATION_MARKETS_MAX).reverse();
    expect(markets.length).toBeGreaterThanOrEqual(MAX_TRANSACT_CHANGES);
    const ledger = await ledgerWith({ markets } as Partial<WorkValue>);
    await workOff({ ledger });
    expect(await marked(ledger)).toEqual(SLUGS.slice(0, PUBLICATION_MARKETS_MAX));
    expect(await isWaiting(ledger)).toBe(true);
  });

  test('without a publication writes no waiting item', async () => {
    const ledger = await ledgerWith({ publication: null } as Partial<WorkValue>);
    await workOff({ ledger });
    expect(await marked(ledger)).toEqual(SLUGS);
    expect(await isWaiting(ledger)).toBe(false);
  });

  test('never writes a waiting item in the transaction of a mark, because they may become visible in any order', async () => {
    const inner = await ledgerWith();
    const keys: string[][] = [];
    const ledger = wrappedLedger(inner, {
      transact: (changes, options) => {
        keys.push(changes.map(({ key }) => key.partition));
        return inner.transact(changes, options);
      },
    });
    await workOff({ ledger });
    const isOfMarks = (partition: string) => REFRESH_MARKS.shards.includes(partition);
    expect(keys.filter((partitions) => partitions.some(isOfMarks)).length).toBe(3);
    expect(keys.at(-1)).toEqual([workKey(ID).partition, awaitingGenerationKey(`publication/${ID}`).partition]);
  });

  test.each<[string, Fault]>([
    ['fails without effect', failsWithoutEffect],
    ['loses its answer', failsWithEffect],
    ['is the last one before the process dies', diesAfter],
  ])('whose operation %s is completed by the next worker', async (_, fault) => {
    for (let at = 0; ; at++) {
      const ledger = await ledgerWith();
      const faulty = faultyStorage(ledger, openMemoryObjects(), at, fault);
      await workOff({ ledger: faulty.ledger, owner: 'one' }).catch((error: unknown) => {
        if (!(error instanceof ProcessDied) && (error as Error).name !== 'StorageUnavailable') throw error;
      });
      if (await isWaiting(ledger)) expect(await marked(ledger)).toEqual(SLUGS);
      await workOff({ ledger, owner: 'one' });
      expect(await marked(ledger), `operation ${at}`).toEqual(SLUGS);
      expect([await isWaiting(ledger), await queuedWork(ledger)]).toEqual([true, []]);
      if (faulty.operations.length <= at) break;
    }
  });
});
