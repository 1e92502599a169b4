/** All of Tidemark in one process: ledger, objects, ingest of the sample, write API, worker, publisher, edge. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Json } from '../contract/canonical-json.ts';
import type { Expectations } from '../contract/late-sources.ts';
import { waitlistBody } from '../contract/waitlist.ts';
import { createRefusalLog } from '../lambdas/http/refusal-log.ts';
import { queueUpload } from '../lambdas/ingest/queue-upload.ts';
import { mayReceive } from '../lambdas/ingest/upload-sender.ts';
import { createAuditSealer } from '../lambdas/review/seal-audit.ts';
import { assertSameOrigin } from '../publisher/commit/same-origin.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../publisher/dependencies.ts';
import { ImmutableMismatch } from '../publisher/errors.ts';
import { staticBodies } from '../publisher/plan/static-bodies.ts';
import { httpReader } from '../publisher/verify/reader.ts';
import type { AskSource } from '../sources/dependencies.ts';
import { fetchSource } from '../sources/fetch/fetch-source.ts';
import { openDirectoryArchive } from '../storage/directory-archive.ts';
import { StorageCorrupt, StorageUnavailable } from '../storage/errors.ts';
import type { HeadValue } from '../storage/records/publication.ts';
import { systemRuntime } from '../storage/runtime.ts';
import { newUlid } from '../storage/ulid.ts';
import { openControl } from './backup/control.ts';
import type { EmbeddedConfig } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import type { Divert } from './edge/divert.ts';
import { ReadCounts } from './edge/read-counts.ts';
import { createEdgeServer } from './edge/server.ts';
import { startExpectationsLoop } from './expectations.ts';
import { startExpiryLoop } from './expiry-loop.ts';
import { createHealth } from './health.ts';
import { type IngestFile, ingestFile } from './ingest-file.ts';
import type { Log } from './log.ts';
import { LOOK_INTERVAL_MS, publishIfNothingIsShown, watchLostObjects } from './lost-objects.ts';
import { type MetricsServer, startMetricsServer } from './metrics/metrics-server.ts';
import { WriteCounts } from './metrics/write-counts.ts';
import { removeOldUploads } from './old-uploads.ts';
import { listEverySeconds } from './pace.ts';
import { startPublishLoop } from './publish-loop.ts';
import { createSenders } from './sender.ts';
import { readSourceHealth } from './source-health.ts';
import { startSourceLoop } from './source-loop.ts';
import { StartError, unusable } from './start-error.ts';
import { createUploadServer } from './upload-server.ts';
import { type LastVerify, startVerifyLoop } from './verify-loop.ts';
import { startWakeLoop } from './wake-loop.ts';
import { startWorkLoop } from './work-loop.ts';
import { type OperatorKeyFile, openWriteApi } from './write-api.ts';
import { createWriteServer } from './write-server.ts';
import { createTurns, yieldingLedger } from './yielding-ledger.ts';

/** Receives the progress of the start. */
export interface StartProgress {
  /** A data folder of an earlier version is being migrated. */
  migrating(markets: number): void;
  migrated(): void;
  ingesting(records: number): void;
  /** The number of records in the sample; null if it was taken in before. Not called without the sample. */
  ingested(records: number | null): void;
  /** Not called if an earlier process has published everything. */
  publishing(): void;
}

export interface Service {
  /** The base URL, e.g. `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** Where its metrics are; null: nowhere. */
  readonly metricsUrl: string | null;
  /** The newest published generation. */
  readonly head: HeadValue;
  readonly operatorKey: OperatorKeyFile;
  /** Closes open connections, lets a running publication finish, and closes the data folder. */
  stop(): Promise<void>;
}

/**
 * Starts the service. The port is bound first, so that a port in use is reported at once. Until it is ready, every
 * request is answered 503.
 *
 * @param ask how sources are asked; tests have sources of their own
 * @throws StartError for a fault that the person who started the service can correct
 */
export async function startService(
  config: EmbeddedConfig,
  progress: StartProgress,
  log: Log,
  ask: AskSource = fetchSource,
): Promise<Service> {
  const { fault: report, info } = log;
  const { nowMs } = systemRuntime;
  const data = await openDataFolder(config.dataFolder);
  const senders = createSenders(config.proxies);
  let divert: Divert | null = null;
  let publishLagMs = (): number => 0;
  let expectations = (): Expectations | null => null;
  let lastVerify = (): LastVerify | null => null;
  let metrics: MetricsServer | null = null;
  const [reads, writes] = [new ReadCounts(), new WriteCounts()];
  // Before the first generation "not found" would be wrong, and would be cached.
  const isReady = () => divert !== null;
  const health = createHealth({
    ledger: data.ledger,
    checkWritable: data.checkWritable,
    objects: data.objects,
    nowMs,
    isReady,
    publishLagMs: () => publishLagMs(),
    expectations: () => expectations(),
    lastVerify: () => lastVerify(),
    report,
  });
  const edge = createEdgeServer({
    objects: data.objects,
    nowMs,
    isReady,
    divert: (request) => divert?.(request) ?? null,
    wantsNewest: senders.wantsNewest,
    health,
    counts: reads,
    report,
  });
  const { server } = edge;
  const dependencies: PublisherDependencies = {
    ledger: data.ledger,
    objects: data.objects,
    ...systemRuntime,
    pageSizes: DEFAULT_PAGE_SIZES,
    staticBodies: staticBodies({
      waitlist: waitlistBody({ email: config.waitlistEmail }),
      openapi: await readOpenApi(),
    }),
    caches: { purge: async (targets) => edge.purge(targets) },
    listEverySeconds,
  };
  try {
    const baseUrl = await listen(server, config);
    if (config.metrics !== null) {
      const { dataFolder } = config;
      const current = () => expectations();
      metrics = await startMetricsServer({
        ...config.metrics,
        dataFolder,
        health,
        reads,
        writes,
        // Of a ledger that cannot be read, the health check tells.
        sources: () => readSourceHealth(data.ledger, nowMs()).catch(() => []),
        expectations: current,
        report,
      });
    }
    if ((await data.migrate(progress.migrating)) === 'migrated') progress.migrated();
    await assertSameOrigin(dependencies);
    const logRefused = createRefusalLog(dependencies, ({ requestId, operation, fault, repeated }) => {
      const before = repeated === 0 ? '' : `, after ${repeated} of its kind`;
      if (fault !== null) report(`${operation ?? 'a request'} failed (${requestId}${before})`, fault);
    });
    const writeApi = await openWriteApi(data.ledger, config, (request) => {
      writes.add(request);
      logRefused(request);
    });
    await writeApi.uploads.removePartial();
    if (config.isSampleWanted) {
      const ingested = await ingestFile(dependencies, await readSample(), progress.ingesting);
      progress.ingested(ingested && ingested.accepted + ingested.unchanged);
    }
    const head = await publishIfNothingIsShown(dependencies, progress.publishing);

    // From here on there are readers, so background work must let requests run in between.
    const turns = createTurns();
    const background = { ...dependencies, ledger: yieldingLedger(data.ledger, turns) };
    const lost = watchLostObjects(background, report);
    const publishing = startPublishLoop(background, { report, info, onRefreshAsked: () => working.wake(), lost });
    publishLagMs = publishing.lagMs;
    const breathe = async () => (turns.isDue() ? await turns.next() : undefined);
    const expecting = startExpectationsLoop({ objects: data.objects, breathe, report });
    expectations = expecting.current;
    const { verifyEveryHours } = config;
    const verifying =
      verifyEveryHours === null
        ? null
        : startVerifyLoop({ ...systemRuntime, reader: httpReader(baseUrl), everyHours: verifyEveryHours, log });
    lastVerify = () => verifying?.last() ?? null;
    const working = startWorkLoop(
      {
        ...systemRuntime,
        ledger: background.ledger,
        uploads: writeApi.uploads,
        breathe,
      },
      { publishing, onErased: () => data.emptyLog(), report, info },
    );
    let isStopping = false;
    const fetching = startSourceLoop({
      ...systemRuntime,
      ledger: background.ledger,
      archive: openDirectoryArchive(join(config.dataFolder, 'archive'), randomUUID),
      uploads: writeApi.uploads,
      ask: (request) => ask(request),
      breathe: async () => (turns.isDue() ? await turns.next() : undefined),
      onRound: () => working.wake(),
      report: (what, cause) => isStopping || report(what, cause),
      info,
    });
    const expiring = startExpiryLoop({
      removeExpired: data.removeExpired,
      removeFiles: () =>
        removeOldUploads({ ...background, uploads: writeApi.uploads, keptDays: config.uploadsKeptDays }),
      sealAudit: createAuditSealer(background),
      nowMs,
      report,
    });
    const takeUpload = createUploadServer({
      uploads: writeApi.uploads,
      mayReceive: (id) => mayReceive(dependencies, id),
      onStored: async (id) => {
        const { isUnwanted } = await queueUpload({ ...dependencies, uploads: writeApi.uploads }, id);
        if (isUnwanted) await writeApi.uploads.remove(id);
        working.wake();
      },
      nowMs,
      report,
    });
    const answerWrite = createWriteServer({
      handle: writeApi.handle,
      onCommitted: () => {
        working.wake();
        publishing.wake();
        fetching.wake();
      },
      nowMs,
      addressOf: senders.addressOf,
      newRequestId: () => newUlid(nowMs(), systemRuntime.randomBytes),
    });
    divert = (request) => takeUpload(request) ?? answerWrite(request);
    // Work that an earlier process has left.
    working.wake();
    publishing.wake();
    fetching.wake();
    const looking = startWakeLoop({
      round: async () => {
        if (await lost.look()) publishing.wake();
      },
      intervalMs: LOOK_INTERVAL_MS,
      onError: (cause) => isStopping || report('looking for lost objects failed', cause),
    });
    looking.wake();
    const control = await openControl({ folder: config.dataFolder, copyLedger: data.copyLedger, report });
    const stop = async (): Promise<void> => {
      isStopping = true;
      const closing = control.stop();
      // A look may take seconds, and may be cut short.
      void looking.stop();
      void expecting.stop();
      void verifying?.stop();
      metrics?.stop();
      // A run that is cut short is continued by the next start.
      void fetching.stop();
      server.close();
      server.closeAllConnections();
      await expiring.stop();
      await working.stop();
      await publishing.stop();
      await closing;
      data.close();
    };
    return { baseUrl, metricsUrl: metrics?.url ?? null, head, operatorKey: writeApi.operatorKey, stop };
  } catch (error) {
    metrics?.stop();
    closeAll(server, data);
    if (!DAMAGES.some((damage) => error instanceof damage)) throw error;
    throw unusable(config.dataFolder, error as Error);
  }
}

/** Damage of the store that a rebuild does not repair: reported to the person who started the service. */
const DAMAGES = [StorageCorrupt, StorageUnavailable, ImmutableMismatch];

function closeAll(server: Server, data: DataFolder): void {
  server.close();
  server.closeAllConnections();
  data.close();
}

async function listen(server: Server, { host, port }: EmbeddedConfig): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StartError(listenFault(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
  const { address, family, port: openPort } = server.address() as AddressInfo;
  // The server listens on a wildcard address, but answers on a real one.
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${openPort}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${openPort}`;
}

function listenFault({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop the process that uses it, or choose another port, e.g. PORT=0 for any free one.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user: choose one above 1023, e.g. PORT=8787.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST is ${host}, which is not an address of this machine: try HOST=127.0.0.1.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${message}`;
  }
}

/** Built by `npm run build:openapi`: to build it here would take longer than the rest of a start. */
async function readOpenApi(): Promise<Json> {
  return JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as Json;
}

async function readSample(): Promise<IngestFile> {
  const read = (name: string) => readFile(new URL(`../sample/${name}`, import.meta.url), 'utf8');
  return { name: 'sample/currency-api.csv', csv: await read('currency-api.csv'), mapping: await read('mapping.json') };
}
