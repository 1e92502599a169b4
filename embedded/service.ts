/** Everything of Tidemark in one process: ledger, objects, ingest of the sample, publisher, edge. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';
import { StorageUnavailable } from '../storage/ledger.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { HEAD_KEY, type HeadValue } from '../storage/records.ts';
import { type EmbeddedConfig, StartError } from './config.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { createEdgeServer } from './edge/server.ts';
import { type IngestFile, ingestFile } from './ingest-file.ts';
import { startPublishLoop } from './publish-loop.ts';

/** What the service says while it starts. */
export interface StartProgress {
  ingesting(records: number): void;
  /** `fresh` is false when the sample was in already. */
  ingested(fresh: boolean): void;
  publishing(): void;
}

export interface Service {
  /** Where it answers, e.g. `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** What is published. */
  readonly head: HeadValue;
  /** Ends open connections, lets a publication under way finish, and closes the data folder. */
  stop(): Promise<void>;
}

/**
 * Starts the service. The port is bound first, so that a port in use is known at once; until the first generation is
 * published, reads are answered 503.
 *
 * @throws StartError for whatever the person who started it can mend.
 */
export async function startService(config: EmbeddedConfig, progress: StartProgress, report: Report): Promise<Service> {
  const data = await openDataFolder(config.dataFolder);
  const dependencies: PublisherDependencies = {
    ledger: data.ledger,
    objects: data.objects,
    nowMs: Date.now,
    newAttemptId: randomUUID,
    pageSizes: DEFAULT_PAGE_SIZES,
  };
  let ready = false;
  const server = createEdgeServer({
    objects: whenReady(data.objects, () => ready),
    nowMs: Date.now,
    health: async () => healthOf(await data.ledger.get(HEAD_KEY).then((item) => item?.value as HeadValue | undefined)),
    report: (what, cause) => ready && report(what, cause),
  });
  try {
    const baseUrl = await listen(server, config);
    const ingested = await ingestFile(dependencies, await readSample(), progress.ingesting);
    progress.ingested(ingested !== null);
    progress.publishing();
    await publish(dependencies);
    ready = true;
    const loop = startPublishLoop(dependencies, report);
    const stop = async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      await loop.stop();
      data.close();
    };
    const head = (await data.ledger.get(HEAD_KEY))?.value as HeadValue;
    return { baseUrl, head, stop };
  } catch (error) {
    closeAll(server, data);
    throw error;
  }
}

/** Tells an operator what went wrong in the background. */
export type Report = (what: string, cause: unknown) => void;

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
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

function listenFault({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop what uses it, or choose another, e.g. PORT=0 for any free one.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user: choose one above 1023, e.g. PORT=8787.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST is ${host}, which is not an address of this machine: try HOST=127.0.0.1.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${message}`;
  }
}

async function readSample(): Promise<IngestFile> {
  const read = (name: string) => readFile(new URL(`../sample/${name}`, import.meta.url), 'utf8');
  return { name: 'sample/currency-api.csv', csv: await read('currency-api.csv'), mapping: await read('mapping.json') };
}

/** Before the first generation "not found" would be untrue, and would be cached. */
function whenReady(objects: ObjectStore, isReady: () => boolean): Pick<ObjectStore, 'get'> {
  return {
    get: async (key, options) => {
      if (!isReady()) throw new StorageUnavailable('the first generation is not published yet');
      return await objects.get(key, options);
    },
  };
}

function healthOf(head: HeadValue | undefined) {
  if (head === undefined) return { healthy: false, body: { status: 'starting' } };
  const { generation, publishedAt } = head;
  return { healthy: true, body: { status: 'ok', generation, publishedAt } };
}
