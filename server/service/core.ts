/** The publishing core: the keys of the log, and the dependencies of the publisher. A server opens it, and so does a run. */
import { readFile } from 'node:fs/promises';
import { parseVkey } from '../../contract/log/notes.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../../publisher/dependencies.ts';
import { ImmutableMismatch, LogForked } from '../../publisher/errors.ts';
import { assertSameOrigin } from '../../publisher/kernel/text/same-origin.ts';
import { type Site, withBasePath, withHosts, withOperator, withoutWrites } from '../../publisher/site.ts';
import { staticBodies, withoutCredentials } from '../../publisher/static-bodies.ts';
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

/**
 * @param hasWriteApi false: pages and documents describe a service without one
 * @throws StartError as `keepLogKeys` does; LedgerBehind if the store is newer than the ledger
 */
export async function openCore(
  { target, ...storage }: CoreStorage,
  config: CoreConfig,
  { hasWriteApi }: { readonly hasWriteApi: boolean },
): Promise<Core> {
  const { dataFolder, logKey, projections } = config;
  const checkLog = () => checkIsOwnLog(target, storage.ledger, signingKeys(dataFolder, logKey) ?? []);
  // Checked before a key is made.
  await checkLog();
  const logKeys = projections.has('log') ? await openLogKeys(storage.objects, config) : null;
  const site = await siteAt(config);
  const dependencies: PublisherDependencies = {
    ...storage,
    ...systemRuntime,
    pageSizes: DEFAULT_PAGE_SIZES,
    projections,
    ...(config.readBaseUrl !== null && { readBaseUrl: config.readBaseUrl }),
    staticBodies: staticBodies({
      waitlist: waitlistBody({ email: config.waitlistEmail }),
      openapi: hasWriteApi ? await readOpenApi() : withoutCredentials(await readOpenApi()),
    }),
    site: withOperator(hasWriteApi ? site : withoutWrites(site), config.operator),
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

/** The pages of a service whose readers and writers use the same address. */
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

/** @throws StartError for a key of another log, because it could never sign this log */
function announcedKeys({ origin }: LogKeys, { nextLogKey }: CoreConfig): readonly string[] {
  if (nextLogKey === null) return [];
  if (parseVkey(nextLogKey).name === origin) return [nextLogKey];
  throw new StartError(
    `TIDEMARK_LOG_NEXT_KEY belongs to another log than ${origin}. Start the next server with the log name ${origin}, and use its key.`,
  );
}

/** Damage of the store that publishing again cannot repair. The message goes to the person who started the service. */
const DAMAGES = [StorageCorrupt, StorageUnavailable, ImmutableMismatch, LogForked];

/** The error to show to that person. */
export function refusedStart(folder: string, error: unknown): unknown {
  return DAMAGES.some((damage) => error instanceof damage) ? unusable(folder, error as Error) : error;
}

/** Read from the file of `npm run build:openapi`: building it here would take longer than the rest of a start. */
async function readOpenApi(): Promise<Json> {
  return JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Json;
}
