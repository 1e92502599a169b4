/** Everything that the embedded server does besides answering requests. Requests run in between. */
import type { LastVerify } from '../../contract/bodies/health.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { Expectations } from '../../contract/freshness/late-sources.ts';
import type { Market } from '../../contract/values/market.ts';
import { createAuditSealer } from '../../lambdas/review/seal-audit.ts';
import type { AskSource } from '../../lambdas/sources/run/dependencies.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { DirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';
import type { Damage } from '../folder/damaged-objects.ts';
import type { DataFolder } from '../folder/data-folder.ts';
import { LOOK_INTERVAL_MS, watchLostObjects } from '../folder/lost-objects.ts';
import { type DailyLoop, startDailyLoop } from '../loops/daily-loop.ts';
import { removeOldUploads, startExpiryLoop } from '../loops/expiry-loop.ts';
import { startPublishLoop } from '../loops/publish-loop.ts';
import { startSourceLoop } from '../loops/source-loop.ts';
import { startVerifyLoop } from '../loops/verify-loop.ts';
import { startWakeLoop, type WakeLoop } from '../loops/wake-loop.ts';
import { openWitness } from '../loops/witness-client.ts';
import { startWitnessLoop } from '../loops/witness-loop.ts';
import { startWorkLoop } from '../loops/work-loop.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import type { Filling } from './filling.ts';
import type { Log } from './log.ts';
import { createTurns, yieldingLedger } from './yielding-ledger.ts';

export interface BackgroundOptions {
  readonly dependencies: PublisherDependencies;
  /** The damaged objects of these dependencies. */
  readonly damage: Pick<Damage, 'onFound' | 'search' | 'takeUntried'>;
  readonly data: Pick<DataFolder, 'removeExpired' | 'emptyLog' | 'target'>;
  readonly filling: Filling;
  readonly uploads: DirectoryUploads;
  readonly config: Pick<EmbeddedConfig, 'dataFolder' | 'uploadsKeptDays' | 'verifyEveryHours' | 'witnesses'>;
  readonly baseUrl: string;
  readonly ask: AskSource;
  readonly log: Log;
}

export interface Background {
  /** How long the oldest unpublished change has waited. */
  publishLagMs(): number;
  /** How long it has waited without any successful publication. */
  publishStalledMs(): number;
  /** The error of the last publication; null if it succeeded. */
  publishFailure(): unknown;
  /** The expectations of the published list; null until it was read. */
  expectations(): Expectations | null;
  /** Null until a run has ended. */
  lastVerify(): LastVerify | null;
  /** Null: this service makes no daily files. */
  daily: Pick<DailyLoop, 'make' | 'keep'>;
  /** Reports that an upload is waiting. */
  wakeWorker(): void;
  /** Reports that a change was committed, or that an earlier process may have left work. */
  wakeAll(): void;
  /** Lets the current step of work and the current publication finish. All other work may be interrupted. */
  stop(): Promise<void>;
}

export function startBackground(options: BackgroundOptions): Background {
  const { data, uploads, config, baseUrl, ask, log } = options;
  const { fault: report, info } = log;
  const { nowMs } = systemRuntime;
  const turns = createTurns();
  const yieldToEventLoop = async () => (turns.isDue() ? await turns.next() : undefined);
  const dependencies = { ...options.dependencies, ledger: yieldingLedger(options.dependencies.ledger, turns) };
  const { ledger, objects } = dependencies;
  let isStopping = false;
  /** Reports no faults during the stop: interrupted work fails as expected. */
  const reportUnlessStopping = (what: string, cause: unknown) => isStopping || report(what, cause);

  const lost = watchLostObjects(dependencies, report, options.damage);
  options.damage.onFound(() => publishing.wake());
  const witnesses = dependencies.log === undefined ? [] : config.witnesses.map(openWitness);
  const cosigning =
    witnesses.length === 0
      ? null
      : startWitnessLoop({ storage: dependencies, witnesses, report: reportUnlessStopping, info });
  const publishing = startPublishLoop(dependencies, {
    report,
    info,
    onRefreshAsked: () => working.wake(),
    onPublished: () => cosigning?.wake(),
    lost,
    filling: options.filling,
  });
  const working = startWorkLoop(
    { ...systemRuntime, ledger, uploads, yieldToEventLoop },
    { publishing, onErased: () => data.emptyLog(), report, info },
  );
  const fetching = startSourceLoop({
    ...systemRuntime,
    ...{ ledger, uploads, ask, yieldToEventLoop, info, dataFolder: config.dataFolder },
    onRound: () => working.wake(),
    report: reportUnlessStopping,
  });
  const expiring = startExpiryLoop({
    removeExpired: data.removeExpired,
    removeFiles: () => removeOldUploads({ ...dependencies, uploads, keptDays: config.uploadsKeptDays }),
    sealAudit: createAuditSealer(dependencies),
    nowMs,
    report,
  });
  const looking = startWakeLoop({
    round: async () => {
      if (await lost.look()) publishing.wake();
    },
    intervalMs: LOOK_INTERVAL_MS,
    onError: (cause) => reportUnlessStopping('looking for lost objects failed', cause),
  });
  looking.wake();
  const daily = startDailyLoop({ storage: dependencies, yieldToEventLoop, report: reportUnlessStopping, info });
  const expecting = startExpectationsLoop({ objects, yieldToEventLoop, report });
  const { verifyEveryHours: everyHours } = config;
  const verifying =
    everyHours === null ? null : startVerifyLoop({ ...systemRuntime, reader: httpReader(baseUrl), everyHours, log });

  return {
    publishLagMs: publishing.lagMs,
    publishStalledMs: publishing.stalledMs,
    publishFailure: publishing.failure,
    expectations: expecting.current,
    lastVerify: () => verifying?.last() ?? null,
    daily,
    wakeWorker: () => working.wake(),
    wakeAll: () => {
      working.wake();
      publishing.wake();
      fetching.wake();
    },
    stop: async () => {
      isStopping = true;
      // These may take seconds. The next start continues an interrupted run.
      for (const loop of [cosigning, looking, expecting, daily, verifying, fetching]) void loop?.stop();
      await expiring.stop();
      await working.stop();
      await publishing.stop();
    },
  };
}

const INTERVAL_MS = 60_000;

interface ExpectationsOptions {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** Awaited after each page, so that requests can run. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly report: (what: string, cause: unknown) => unknown;
}

interface ExpectationsLoop extends WakeLoop {
  /** The expectations of the published list, at most about a minute old. Null until it was first read. */
  current(): Expectations | null;
}

/** Reads the list at once, and then once a minute if it has changed. */
export function startExpectationsLoop({ objects, yieldToEventLoop, report }: ExpectationsOptions): ExpectationsLoop {
  let current: Expectations | null = null;
  let seen: ETag | null = null;

  async function round(stopping: AbortSignal): Promise<void> {
    const expectations = new Expectations();
    let etag: ETag | null = null;
    for (let cursor: string | null = null; ; ) {
      const key = publicKey(cursor === null ? { kind: 'market-list' } : { kind: 'market-list-page', cursor });
      const found = await objects.get(key, cursor === null && seen !== null ? { ifNoneMatch: seen } : {});
      // Not published yet, unchanged, or swept meanwhile: the next round reads again.
      if (found.kind !== 'found' || stopping.aborted) return;
      etag ??= found.etag;
      const { data, page } = JSON.parse(Buffer.from(found.body).toString('utf8')) as {
        readonly data: readonly Pick<Market, 'sources'>[];
        readonly page: { readonly nextCursor: string | null };
      };
      for (const market of data) expectations.add(market);
      cursor = page.nextCursor;
      if (cursor === null) break;
      await yieldToEventLoop();
    }
    [current, seen] = [expectations, etag];
  }

  const loop = startWakeLoop({
    round,
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('reading the list for late sources failed', cause),
  });
  loop.wake();
  return { ...loop, current: () => current };
}
