/** Begins the ledger of a data folder from a published log: `tidemark restore --from-log`, and a run without a ledger. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { publicKey } from '../../contract/files/public-objects.ts';
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { takeOverStore } from '../../publisher/repair/from-log/known-pages.ts';
import { type LedgerFromLog, LogUnusable, ledgerFromLog } from '../../publisher/repair/from-log/ledger-from-log.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { garbageCollector } from '../../storage/concurrency/garbage-collector.ts';
import { ignoreMissing, objectFile } from '../../storage/directory/object-places.ts';
import { claimFormat } from '../../storage/ports/format.ts';
import { readPage } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { isBackupName } from '../backup/manifest.ts';
import { finishRestore, replaceFiles } from '../backup/put-back.ts';
import { checkNotHalf, LEDGER_FILE, openDataFolder, RESTORING_FILE, withLedger } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { type LogKey, publishedLog } from '../settings/log-key.ts';

const GARBAGE_BYTES_MAX = 64 * 1024 * 1024;
/** The files with the keys that sign the continued log. */
const KEYS_OF_LOG = ['log-key', 'log-key-previous'];

export interface BeginFromLog {
  readonly dataFolder: string;
  /** Where the log is published: see `namedFilesReader`. */
  readonly reader: PublicReader;
  /** The URL or the folder, for messages. */
  readonly source: string;
  /** The keys with which this deployment signs, newest first: those that the log has now, or their successor. */
  readonly keys: readonly LogKey[];
  /** Another folder for the public files, as for `openDataFolder`. Default: they stay in their place. */
  readonly target?: string | null;
  /** Whether the log is the target's own. Then the next publication checks the other files of the target: see `takeOverStore`. */
  readonly isOfTarget?: boolean;
  /** The kinds of files that will be published. */
  readonly projections: PublisherStorage['projections'];
  /** The base URL for readers, from the settings of the server. */
  readonly readBaseUrl: string | null;
  /** Signed checkpoints that were seen before, of any log. */
  readonly seen?: readonly string[];
  /** Whether to continue if the source lacks names of representatives. Default: it is refused. */
  readonly forgetNames?: boolean;
  readonly nowMs: number;
  readonly progress: CopyStep;
}

export interface BegunFolder extends LedgerFromLog {
  /** The folder with the replaced files; null: there were none. */
  readonly replaced: string | null;
}

/**
 * Whether the folder has no ledger, or one that {@link beginFromLog} has begun and not finished.
 *
 * @throws StartError if the restore of a backup was interrupted: a backup has accounts, keys and waiting batches, and a log
 *   does not
 */
export function isLedgerMissing(dataFolder: string): boolean {
  const mark = join(dataFolder, RESTORING_FILE);
  if (!existsSync(mark)) return !existsSync(join(dataFolder, LEDGER_FILE));
  if (isBackupName(readFileSync(mark, 'utf8').trim())) checkNotHalf(dataFolder);
  return true;
}

/**
 * Whether the folder has no ledger, or one without any ingested data or publication, as a refused run leaves it.
 *
 * @throws StartError if another process has it open, and for a damaged one
 */
export async function isLedgerEmpty(dataFolder: string): Promise<boolean> {
  if (isLedgerMissing(dataFolder)) return true;
  return await withLedger(
    dataFolder,
    async (ledger) =>
      (await ledger.get(HEAD_KEY)) === null && (await readPage(ledger, MARKET_INDEX, { limit: 1 })).items.length === 0,
  );
}

/**
 * Verifies the log, and puts a ledger with its facts into the data folder. Existing files are moved aside, except the keys of
 * the log and the published objects, which stay in place. Every market gets a refresh mark, so the next generations publish
 * everything. They are later than every generation that the source or the store shows. They continue with the next entry of the
 * log, and keep the cursors of pages that the store has. Without other marks, they change only the snapshot of a complete
 * store.
 *
 * No other process may have the folder open, and it is closed on return. After a kill, call it again: it starts from the
 * beginning, and no server starts on a partial folder.
 *
 * @throws StartError if the folder is in use or cannot be written; if the source does not answer; if names are missing; or if
 *   its log is not proven: another key, a fork, fewer entries than were seen, files that are missing or wrong, entries that
 *   contradict each other. Then the folder is unchanged
 * @throws StorageUnavailable if the store does not answer: then call it again
 */
export async function beginFromLog(options: BeginFromLog): Promise<BegunFolder> {
  const { dataFolder, source, nowMs } = options;
  let outcome: LedgerFromLog | null = null;
  const stage = async (folder: string): Promise<void> => {
    outcome = await fillLedger(join(folder, LEDGER_FILE), options).catch((error: unknown) => {
      throw refusalOf(source, error);
    });
  };
  const replaced = await replaceFiles({ dataFolder, nowMs, name: source, stay: KEYS_OF_LOG, stage });
  if (!options.isOfTarget) await takeOver(options);
  await finishRestore(dataFolder);
  return { ...(outcome as LedgerFromLog | null as LedgerFromLog), replaced };
}

async function takeOver({ dataFolder, target = null, progress, ...options }: BeginFromLog): Promise<void> {
  progress('Comparing what is published', 0, 1);
  const { ledger, objects, close } = await openDataFolder(dataFolder, { isRestoring: true, target });
  try {
    const storage = { ...systemRuntime, ledger, objects, ...settingsOf(options) };
    await takeOverStore(storage);
  } finally {
    close();
  }
}

function settingsOf({ projections, readBaseUrl }: Pick<BeginFromLog, 'projections' | 'readBaseUrl'>) {
  return {
    pageSizes: DEFAULT_PAGE_SIZES,
    ...(projections && { projections }),
    ...(readBaseUrl !== null && { readBaseUrl }),
  };
}

/** Collects garbage between steps: V8 would let the garbage of a long log accumulate. */
function collecting(progress: CopyStep): CopyStep {
  const collect = garbageCollector();
  let after = bytesHeld();
  return (...step) => {
    if (bytesHeld() > after + GARBAGE_BYTES_MAX) {
      collect();
      after = bytesHeld();
    }
    progress(...step);
  };
}

/** Faster than `process.memoryUsage`, which also asks the system for the size of the process. */
function bytesHeld(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

async function fillLedger(path: string, { dataFolder, reader, keys, seen = [], ...more }: BeginFromLog) {
  const { forgetNames = false } = more;
  const ledger = openSqliteLedger(path, { exclusive: true, isBulk: true });
  try {
    await claimFormat({ ...systemRuntime, ledger });
    const progress = collecting(more.progress);
    const own = await publishedNote(dataFolder);
    const name = publishedLog(own)?.origin ?? null;
    if (name !== null && keys.some((key) => key.name !== name)) {
      throw new StartError(
        `${dataFolder} has published the log ${name}, and its log-key is of ${keys[0]?.name}: choose another folder by --data. ${NOTHING_CHANGED}`,
      );
    }
    return await ledgerFromLog({
      storage: { ...systemRuntime, ledger, ...settingsOf(more) },
      ...{ reader, keys, forgetNames, progress },
      seen: own === null ? seen : [...seen, own],
    });
  } finally {
    ledger.close();
  }
}

/** The checkpoint that this folder has published, even if its other files are lost. */
async function publishedNote(dataFolder: string): Promise<string | null> {
  const file = objectFile(dataFolder, publicKey({ kind: 'log-checkpoint' }), { contentType: 'text/plain' });
  return (await readFile(file, 'utf8').catch(ignoreMissing)) ?? null;
}

const NOTHING_CHANGED = 'Nothing was changed.';

function refusalOf(source: string, error: unknown): unknown {
  if (error instanceof LogUnusable) {
    return new StartError(
      `The log at ${source} cannot be used. ${error.message}. ${NOTHING_CHANGED} See docs/log.md, "A ledger from the log".`,
      { cause: error },
    );
  }
  if (error instanceof UpstreamUnavailable || error instanceof UpstreamInvalid) {
    return new StartError(`${error.message}. ${NOTHING_CHANGED} Check the address and the network, then try again.`, {
      cause: error,
    });
  }
  return error;
}
