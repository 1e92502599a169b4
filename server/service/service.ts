/**
 * All of Tidemark on one machine. This module joins the core: ledger, objects, the sample, write API, worker, publisher. The
 * edge has a thread of its own (edge-host/), so that no reader waits for the core.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRefusalLog } from '../../lambdas/http/refusal-log.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { mayReceive } from '../../lambdas/ingest/upload-sender.ts';
import type { AskSource } from '../../lambdas/sources/run/dependencies.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import type { HeadValue } from '../../storage/records/publication.ts';
import { openControl } from '../backup/control.ts';
import { ingestSample, type SampleProgress } from '../commands/sample.ts';
import { type EdgeThread, startEdge } from '../edge-host/edge-thread.ts';
import { announceChanges, watchDamage } from '../folder/damaged-objects.ts';
import { type DataFolder, LEDGER_FILE, openDataFolder } from '../folder/data-folder.ts';
import { publishIfNothingIsShown } from '../folder/lost-objects.ts';
import { checkPort } from '../http/listen.ts';
import { type OperatorKeyFile, openWriteApi, uploadsFolder } from '../http/write-api.ts';
import { answerWrites } from '../http/write-server.ts';
import { readSourceHealth } from '../loops/source-health.ts';
import { sourceAsker } from '../loops/source-loop.ts';
import { type MetricsServer, startMetricsServer } from '../metrics/metrics-server.ts';
import { WriteCounts } from '../metrics/write-counts.ts';
import type { EmbeddedConfig, SampleName } from '../settings/config.ts';
import type { LogKeys } from '../settings/log-key.ts';
import { openTarget } from '../target/open-target.ts';
import { type Background, startBackground } from './background.ts';
import { openCore, refusedStart } from './core.ts';
import { openFilling } from './filling.ts';
import { createHealth } from './health.ts';
import type { Log } from './log.ts';

/** The published address for requests for API keys, if the operator has set none. */
const UNSET_EMAIL = 'waitlist@tidemark.example';

/** Receives the progress of the start. */
export interface StartProgress extends SampleProgress {
  /** Called when the start publishes. Not called if an earlier process has published everything. */
  publishing(): void;
}

export interface Service {
  /** The base URL, e.g. `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** The URL of the metrics; null: they are off. */
  readonly metricsUrl: string | null;
  /** The newest published generation. */
  readonly head: HeadValue;
  readonly operatorKey: OperatorKeyFile;
  /** The sample in the ledger, ingested by this start or an earlier one. Null: none. */
  readonly sample: SampleName | null;
  /** Null if no log is written. */
  readonly logKeys: LogKeys | null;
  /** Closes open connections, lets a running publication finish, and closes the data folder. */
  stop(): Promise<void>;
}

/**
 * Starts the service. The port is bound first, so that a port in use is reported at once. Until the service is ready, every
 * request is answered 503.
 *
 * @param ask fetches from sources; tests pass their own
 * @param edge a thread that has just been started
 * @throws StartError for a fault that the person who started the service can correct
 */
export async function startService(
  config: EmbeddedConfig,
  progress: StartProgress,
  log: Log,
  ask: AskSource = sourceAsker(config),
  edge: EdgeThread = startEdge(log),
): Promise<Service> {
  let unlock = () => {};
  try {
    // A start that fails must not leave a new data folder behind.
    if (!existsSync(join(config.dataFolder, LEDGER_FILE))) await checkPort(config);
    unlock = await (await openTarget(config.dataFolder, config.target)).lock();
    const data = await openDataFolder(config.dataFolder, config);
    const service = await startOn(edge, data, config, progress, log, ask);
    const stop = async (): Promise<void> => {
      await service.stop();
      unlock();
    };
    return { ...service, stop };
  } catch (error) {
    unlock();
    await edge.stop();
    throw refusedStart(config.dataFolder, error);
  }
}

async function startOn(
  edge: EdgeThread,
  data: DataFolder,
  config: EmbeddedConfig,
  progress: StartProgress,
  log: Log,
  ask: AskSource,
): Promise<Service> {
  const { fault: report } = log;
  const { nowMs } = systemRuntime;
  const damage = watchDamage(data.objects, data.target.isRemote ? null : config.dataFolder);
  const countMarkets = async () => (await readAll(data.ledger, MARKET_INDEX)).length;
  const filling = openFilling(config.dataFolder, countMarkets, log, nowMs);
  const objects = announceChanges(damage.objects, edge.invalidate);
  let background: Background | null = null;
  let metrics: MetricsServer | null = null;
  const writes = new WriteCounts();
  const health = createHealth({
    ...data,
    nowMs,
    isReady: () => background !== null && !filling.isUnderWay(),
    background: () => background,
    report,
  });
  try {
    const baseUrl = await edge.open(
      {
        host: config.host,
        port: config.port,
        proxies: config.proxies,
        dataFolder: config.dataFolder,
        uploadsFolder: uploadsFolder(config.dataFolder),
        isMeasured: config.metrics !== null,
      },
      { health, damaged: damage.note },
    );
    if (config.metrics !== null) {
      metrics = await startMetricsServer({
        ...config.metrics,
        dataFolder: config.dataFolder,
        health,
        measureEdge: edge.measure,
        writes,
        // A ledger that cannot be read is reported by the health check, not here.
        sources: () => readSourceHealth(data.ledger, nowMs()).catch(() => []),
        expectations: () => background?.expectations() ?? null,
        report,
      });
    }
    const { logKeys, dependencies } = await openCore(
      { ledger: data.ledger, objects, target: data.target, caches: { purge: edge.purge } },
      { ...config, waitlistEmail: config.waitlistEmail ?? UNSET_EMAIL },
      { hasWriteApi: true },
    );
    const logRefused = createRefusalLog(dependencies, ({ requestId, operation, fault, repeated }) => {
      const before = repeated === 0 ? '' : `, after ${repeated} of its kind`;
      if (fault !== null) report(`${operation ?? 'a request'} failed (${requestId}${before})`, fault);
    });
    const writeApi = await openWriteApi(data.ledger, config, (request) => {
      writes.add(request);
      logRefused(request);
    });
    await writeApi.uploads.removePartial();
    const sample = await ingestSample(dependencies, config, progress);
    const head = await publishIfNothingIsShown(dependencies, filling, progress.publishing);

    // Readers are served from here on.
    const { uploads, operatorKey } = writeApi;
    const work = startBackground({ dependencies, damage, filling, data, uploads, config, baseUrl, ask, log });
    background = work;
    await edge.ready(writeApi.uploadKey, {
      answerWrite: answerWrites(writeApi.handle),
      onCommitted: work.wakeAll,
      mayReceive: (id) => mayReceive(dependencies, id),
      onStored: async (id) => {
        const { isUnwanted } = await queueUpload({ ...dependencies, uploads }, id);
        if (isUnwanted) await uploads.remove(id);
        work.wakeWorker();
      },
    });
    work.wakeAll();
    const { daily } = work;
    const { copyLedger } = data;
    const control = await openControl({ folder: config.dataFolder, baseUrl, copyLedger, daily, report });
    const stop = async (): Promise<void> => {
      const closing = control.stop();
      metrics?.stop();
      await edge.stop();
      await work.stop();
      await closing;
      await data.target.release();
      data.close();
    };
    return { baseUrl, metricsUrl: metrics?.url ?? null, head, operatorKey, sample, logKeys, stop };
  } catch (error) {
    metrics?.stop();
    data.close();
    throw error;
  }
}
