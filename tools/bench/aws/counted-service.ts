/** The write API, the worker, the publisher and the sweep in memory, on one ledger and one store that count operations. */
import { FRONT_PAGE, ROWS_PLACE } from '../../../contract/bodies/front-page.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { runDueSources } from '../../../lambdas/sources/run/run-due.ts';
import { runWork } from '../../../lambdas/worker/run-work.ts';
import { createRunners } from '../../../lambdas/worker/runners.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { copyRound } from '../../../publisher/second-region/copy-round.ts';
import { siteOf } from '../../../publisher/site.ts';
import { systemRuntime } from '../../../storage/aws/runtime.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { openMemoryObjects } from '../../../test/storage/memory-objects.ts';
import { grant } from '../../../test/write-api/seeds.ts';
import { openApiWorld } from '../../../test/write-api/world.ts';
import { OperationCounter, type OperationCounts, sumOf } from '../operations.ts';
import { SettableClock } from '../publish-due.ts';
import { countLedger, countObjects, type ItemUnits } from './counting-storage.ts';
import { DEPLOYMENT, LOG } from './deployment.ts';

/** Each method runs a part of the service, and returns the storage operations that it needed. */
export interface CountedService {
  /** The writes since the last `clear()`. */
  readonly written: ItemUnits;
  accept(records: readonly unknown[]): Promise<OperationCounts>;
  /** One invocation of the worker. */
  work(): Promise<OperationCounts>;
  /** One generation, with the list unless it is not due. */
  publish(list?: 'with-it' | 'not-due'): Promise<OperationCounts>;
  sweep(): Promise<OperationCounts>;
  /** The export of the day. It sets the clock forward to that day. */
  export(): Promise<OperationCounts>;
  /** The files of the day for other programs. It sets the clock forward, too. */
  compat(): Promise<OperationCounts>;
  /** One round of the copy in a second region. Its puts go to that region. */
  copy(): Promise<OperationCounts>;
  /** One check of the sources, of which none is due. */
  lookAtSources(): Promise<OperationCounts>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The ports of a source's run. Without a run, they are never called. */
const NO_SOURCES = {
  archive: { put: never, get: never },
  uploads: { head: never, put: never },
  ask: never,
};

async function never(): Promise<never> {
  throw new Error('there is no source');
}

/** With a second region, and a site of one page. */
export async function openCountedService(projections: ReadonlySet<Projection>): Promise<CountedService> {
  const counter = new OperationCounter();
  const written: ItemUnits = new Map();
  const ledger = countLedger(openSqliteLedger(':memory:'), counter, written);
  const objects = countObjects(openMemoryObjects(), counter);
  const second = countObjects(openMemoryObjects(), counter);
  const clock = new SettableClock(Date.now);
  const runtime = { ...systemRuntime, nowMs: clock.nowMs };
  const api = openApiWorld({ ledger });
  await grant(ledger, 'account:bench', { 'ingest-rows-per-day': 1e9, 'ingest-batches-per-day': 1e9 });
  const counted = async (work: () => Promise<unknown>): Promise<OperationCounts> => {
    counter.take();
    await work();
    const { list, other } = counter.take();
    return sumOf(list, other);
  };
  const failed = (_: unknown, error: unknown) => {
    throw error;
  };
  const publisher = {
    ...{ ...runtime, ledger, objects, ...DEPLOYMENT },
    ...{ projections, site: siteOf(new Map([[FRONT_PAGE, ROWS_PLACE]])), keepsBundles: true },
    ...(projections.has('log') && { log: LOG }),
  };
  return {
    written,
    accept: (records) =>
      counted(async () => {
        api.nowMs = clock.nowMs();
        const asked = { method: 'POST', path: '/api/v1/ingest/batches', as: 'bench/key', body: { records } };
        const { status, text } = await api.call(asked);
        if (status !== 202) throw new Error(`a write of the benchmark was refused: ${status} ${text}`);
      }),
    work: () =>
      counted(async () => {
        await runWork({ ...runtime, ledger, owner: 'a', runners: createRunners({ ...runtime, ledger }), failed });
      }),
    publish: (list = 'with-it') =>
      counted(() => publish({ ...publisher, listEverySeconds: () => (list === 'with-it' ? 0 : 1_000_000) })),
    lookAtSources: () =>
      counted(() => runDueSources({ ...runtime, ledger, owner: 'a', failed, ended: () => {}, ...NO_SOURCES })),
    export: () => {
      clock.forwardTo(clock.nowMs() + DAY_MS);
      return counted(() => makeExport({ storage: publisher }));
    },
    compat: () => {
      clock.forwardTo(clock.nowMs() + DAY_MS);
      return counted(() => makeCompat({ storage: publisher }));
    },
    copy: () => {
      const concurrency = { objects: 16 };
      const { nowMs } = clock;
      return counted(() =>
        copyRound({ ledger, first: objects, second, nowMs, concurrency, hasTime: () => true }, DAY_MS),
      );
    },
    sweep: () => counted(() => collectGarbage(publisher, { dryRun: false })),
  };
}
