/**
 * Metrics for monitoring, on a port of their own, so that the public port never shows them, with or without a proxy. Off unless
 * `TIDEMARK_METRICS_PORT` is set.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { HealthDocument } from '../../contract/bodies/health.ts';
import type { Expectations } from '../../contract/freshness/late-sources.ts';
import { readLastBackup } from '../backup/last-backup.ts';
import type { HealthReport } from '../edge/answer.ts';
import type { EdgeMeasured } from '../edge-host/calls.ts';
import { listen } from '../http/listen.ts';
import type { SourceHealth } from '../loops/source-health.ts';
import type { Log } from '../service/log.ts';
import { DELAY_RESOLUTION_MS, loopDelays } from '../service/loop-delays.ts';
import { StartError } from '../service/start-error.ts';
import { familiesOf } from './families.ts';
import { OPEN_METRICS_TYPE, openMetricsText } from './open-metrics.ts';
import { freeBytes, measureStorage, type StorageSizes } from './storage-sizes.ts';
import type { WriteCounts } from './write-counts.ts';

/**
 * The pause after measuring, as a multiple of the measured time: at most a hundredth of the time is spent on it. A folder may
 * have a million files.
 */
const MEASURED_AFTER_DURATIONS = 100;
const MEASURED_AFTER_MS = 60_000;
/** Enough for scrapers and an operator. */
const MAX_CONNECTIONS = 32;

export interface MetricsOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly dataFolder: string;
  readonly health: () => Promise<HealthReport>;
  readonly measureEdge: () => Promise<EdgeMeasured>;
  readonly writes: WriteCounts;
  readonly sources: () => Promise<readonly SourceHealth[]>;
  readonly expectations: () => Expectations | null;
  readonly report: Log['fault'];
}

export interface MetricsServer {
  /** E.g. `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  stop(): void;
}

/** @throws StartError if the port cannot be opened */
export async function startMetricsServer(options: MetricsOptions): Promise<MetricsServer> {
  const { host, port, dataFolder, report } = options;
  let [storage, measureAtMs]: [Promise<StorageSizes | null> | null, number] = [null, 0];
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });

  /** The sizes; from an earlier scrape if that is recent; null if the folder cannot be read. */
  function storageSizes(): Promise<StorageSizes | null> {
    const startedAtMs = performance.now();
    if (storage !== null && startedAtMs < measureAtMs) return storage;
    measureAtMs = Number.POSITIVE_INFINITY;
    storage = measureStorage(dataFolder)
      .catch((cause) => {
        report('measuring the data folder failed', cause);
        return null;
      })
      .finally(() => {
        const durationMs = performance.now() - startedAtMs;
        measureAtMs = performance.now() + Math.max(MEASURED_AFTER_MS, MEASURED_AFTER_DURATIONS * durationMs);
      });
    return storage;
  }

  async function text(): Promise<string> {
    const { health, measureEdge, writes, sources, expectations } = options;
    const oldest = expectations()?.oldest ?? null;
    const { delays: readers, reads } = await measureEdge();
    const core = loopDelays(delays);
    delays.reset();
    return openMetricsText(
      familiesOf({
        health: (await health()).body as HealthDocument,
        reads,
        writes,
        sources: await sources(),
        storage: await storageSizes(),
        freeBytes: await freeBytes(dataFolder),
        oldestExpectedMs: oldest === null ? null : Date.parse(oldest),
        lastBackupMs: lastBackupMs(dataFolder),
        loopDelays: [
          ['readers', readers],
          ['core', core],
        ],
      }),
    );
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?', 1)[0] !== '/metrics')
      return send(response, 404, 'text/plain', 'See /metrics.\n');
    try {
      send(response, 200, OPEN_METRICS_TYPE, await text());
    } catch (error) {
      report('the metrics could not be read', error);
      send(response, 500, 'text/plain', 'The metrics could not be read: see the log.\n');
    }
  }

  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    void answer(request, response);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const address = await listen(server, { host, port }).catch(({ cause }: Error) => {
    const settings = 'TIDEMARK_METRICS_HOST, TIDEMARK_METRICS_PORT';
    throw new StartError(`The port of metrics cannot be opened (${settings}): ${(cause as Error).message}`, { cause });
  });
  delays.enable();
  return {
    url: `${address}/metrics`,
    stop() {
      delays.disable();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** node:http leaves the body out for HEAD. */
function send(response: ServerResponse, status: number, type: string, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': type, 'content-length': length, 'cache-control': 'no-store' }).end(body);
}

/** Null: no backup is known, or its file cannot be read: `tidemark doctor` explains why. */
function lastBackupMs(dataFolder: string): number | null {
  try {
    const last = readLastBackup(dataFolder);
    return last === null ? null : Date.parse(last.at);
  } catch {
    return null;
  }
}
