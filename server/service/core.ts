/** What publishes: the keys of the log, and the dependencies of the publisher. A server and a run both open it. */
import { readFile } from 'node:fs/promises';
import { parseVkey } from '../../contract/log/notes.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../../publisher/dependencies.ts';
import { ImmutableMismatch, LogForked } from '../../publisher/errors.ts';
import { assertSameOrigin } from '../../publisher/kernel/text/same-origin.ts';
import { type Site, withBasePath, withHosts, withOperator, withoutKeys } from '../../publisher/site.ts';
import { staticBodies } from '../../publisher/static-bodies.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkIsOwnLog } from '../folder/foreign-log.ts';
import { readSite } from '../folder/site-folder.ts';
import { HISTORY_FILE_BYTES, listEverySeconds } from '../loops/publish-loop.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { keepLogKeys, type LogKeys, readLogCheckpoint, signingKeys } from '../settings/log-key.ts';
import type { PublicTarget } from '../target/target.ts';
import { StartError, unusable } from './start-error.ts';

export interface Core {
  /** Null if no log is written. */
  readonly logKeys: LogKeys | null;
  readonly dependencies: PublisherDependencies;
}

interface CoreStorage extends Pick<PublisherDependencies, 'ledger' | 'objects' | 'caches'> {
  readonly target: PublicTarget;
}

type CoreConfig = Pick<
  EmbeddedConfig,
  'dataFolder' | 'projections' | 'readBaseUrl' | 'waitlistEmail' | 'operator' | 'logKey' | 'logOrigin' | 'nextLogKey'
>;

/** @throws StartError as `keepLogKeys` does; LedgerBehind if the store is later than the ledger */
export async function openCore({ target, ...storage }: CoreStorage, config: CoreConfig): Promise<Core> {
  const { dataFolder, logKey, projections } = config;
  const checkLog = () => checkIsOwnLog(target, storage.ledger, signingKeys(dataFolder, logKey) ?? []);
  // Before a key is made.
  await checkLog();
  const logKeys = projections.has('log') ? await openLogKeys(storage.objects, config) : null;
  const dependencies: PublisherDependencies = {
    ...storage,
    ...systemRuntime,
    pageSizes: DEFAULT_PAGE_SIZES,
    projections,
    ...(config.readBaseUrl !== null && { readBaseUrl: config.readBaseUrl }),
    staticBodies: staticBodies({
      waitlist: waitlistBody({ email: config.waitlistEmail }),
      openapi: await readOpenApi(),
    }),
    site: withOperator(
      config.waitlistEmail === null ? withoutKeys(await siteAt(config)) : await siteAt(config),
      config.operator,
    ),
    listEverySeconds,
    historyFileBytes: HISTORY_FILE_BYTES,
    ...(logKeys === null ? {} : { log: { ...logKeys, announced: announcedKeys(logKeys, config) } }),
  };
  await assertSameOrigin(dependencies);
  target.onTaken(async () => {
    await checkLog();
    await assertSameOrigin(dependencies);
  });
  return { logKeys, dependencies };
}

/** One address for readers and writers. */
async function siteAt({ readBaseUrl }: CoreConfig): Promise<Site> {
  return withHosts(withBasePath(await readSite(), readBaseUrl), readBaseUrl, readBaseUrl);
}

/** @throws StartError as `keepLogKeys` does */
async function openLogKeys(
  objects: PublisherDependencies['objects'],
  { dataFolder: folder, logOrigin: origin, logKey: given }: CoreConfig,
): Promise<LogKeys> {
  const { randomBytes } = systemRuntime;
  return keepLogKeys({ folder, given, origin, checkpoint: await readLogCheckpoint(objects), randomBytes });
}

/** @throws StartError for a key of another log: it could never sign this one */
function announcedKeys({ origin }: LogKeys, { nextLogKey }: CoreConfig): readonly string[] {
  if (nextLogKey === null) return [];
  if (parseVkey(nextLogKey).name === origin) return [nextLogKey];
  throw new StartError(
    `TIDEMARK_LOG_NEXT_KEY belongs to another log than ${origin}. Start the next server with the log name ${origin}, and use its key.`,
  );
}

/** Damage of the store that a rebuild does not repair: reported to the person who started the service. */
const DAMAGES = [StorageCorrupt, StorageUnavailable, ImmutableMismatch, LogForked];

/** The error for that person. */
export function refusedStart(folder: string, error: unknown): unknown {
  return DAMAGES.some((damage) => error instanceof damage) ? unusable(folder, error as Error) : error;
}

/** Built by `npm run build:openapi`: to build it here would take longer than the rest of a start. */
async function readOpenApi(): Promise<Json> {
  return JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Json;
}
