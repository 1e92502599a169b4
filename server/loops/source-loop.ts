/** Runs the sources that are due, in the background. */
import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchSource, INTERNET } from '../../lambdas/sources/fetch/fetch-source.ts';
import { askWithSecrets } from '../../lambdas/sources/fetch/secrets.ts';
import type { AskSource, RunUploads, SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { runDueSources } from '../../lambdas/sources/run/run-due.ts';
import { RunPool } from '../../lambdas/sources/run/run-pool.ts';
import { openDirectoryArchive } from '../../storage/directory/directory-archive.ts';
import type { DirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { RunValue } from '../../storage/records/sources.ts';
import type { Log, LogFields } from '../service/log.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** The interval of a check that finds new sources, lost wake-ups and changed clocks. */
const LOOK_AGAIN_MS = 60_000;

/** The longest time that a round waits for its runs. Then other sources start, while slow runs continue. */
const PATIENCE_MS = 2_000;

/** This process alone runs the sources of its ledger, so it may take over leases of an earlier process. */
const OWNER = 'embedded';

export interface SourceRunsOptions
  extends Omit<
    SourceDependencies,
    'owner' | 'uploads' | 'archive' | 'failed' | 'ended' | 'wants' | 'hasTime' | 'hasRoom'
  > {
  readonly dataFolder: string;
  readonly uploads: DirectoryUploads;
  readonly report: (what: string, cause: unknown) => unknown;
  readonly info: Log['info'];
}

export interface SourceLoopOptions extends SourceRunsOptions {
  /** Called after each round, because uploads may be waiting for the worker. */
  readonly onRound: () => void;
}

/** The way in which this process fetches from sources. */
export function sourceAsker({
  sourceHosts,
  sourceSecrets,
}: Pick<EmbeddedConfig, 'sourceHosts' | 'sourceSecrets'>): AskSource {
  const network = { ...INTERNET, internal: sourceHosts };
  return askWithSecrets(
    (request) => fetchSource(request, network),
    (name) => sourceSecrets.get(name),
  );
}

/** The dependencies of runs in this process. */
export function sourceRuns({
  uploads,
  report,
  info,
  dataFolder,
  ...dependencies
}: SourceRunsOptions): SourceDependencies {
  return {
    ...dependencies,
    owner: OWNER,
    uploads: runUploads(uploads),
    archive: openDirectoryArchive(join(dataFolder, 'archive'), randomUUID),
    hasRoom: (bytes) => hasRoom(dataFolder, bytes),
    failed: (run, error) => report(`the run ${run} failed`, error),
    ended: (source, id, run) => info('run', runFields(source, id, run)),
  };
}

/** Starts the loop. It wakes by itself when a run is due. */
export function startSourceLoop(options: SourceLoopOptions): WakeLoop {
  const { onRound, report, nowMs } = options;
  const pool = new RunPool();
  const runs = sourceRuns(options);
  const loop = startWakeLoop({
    round: async (stopping) => {
      const patience = () => sleep(PATIENCE_MS, undefined, { signal: stopping, ref: false }).catch(() => {});
      const { nextAtMs } = await runDueSources({ ...runs, hasTime: () => !stopping.aborted }, pool, patience);
      onRound();
      awaitSlowRuns();
      if (nextAtMs !== null) loop.wakeIn(Math.min(LOOK_AGAIN_MS, nextAtMs - nowMs()));
    },
    intervalMs: LOOK_AGAIN_MS,
    onError: (cause) => report('the sources could not be checked; the next try is in a minute', cause),
  });

  /** Slow runs continue between rounds. When one ends, the next round continues its work. */
  let isAwaited = false;
  function awaitSlowRuns(): void {
    if (isAwaited || pool.size === 0) return;
    isAwaited = true;
    void pool.nextEnd().then(() => {
      isAwaited = false;
      loop.wake();
    });
  }

  return {
    ...loop,
    async settled() {
      await loop.settled();
      await pool.settled();
    },
    async stop() {
      await loop.stop();
      await pool.settled();
    },
  };
}

/** The log fields of a run, without any text of the source. */
function runFields(source: string, id: string, run: RunValue): LogFields {
  const { cause, outcome, reason, attempt, records, refusedRows, counts, nextRunAt } = run;
  const code = reason?.code ?? null;
  const { accepted = 0, unchanged = 0, refused = 0 } = counts ?? {};
  return { source, id, cause, outcome, code, attempt, records, refusedRows, accepted, unchanged, refused, nextRunAt };
}

/** Files of records are stored in the same way as uploads of senders. */
function runUploads(uploads: DirectoryUploads): RunUploads {
  return {
    head: (id) => uploads.head(id),
    async put(id, content, bytes) {
      const { url } = await uploads.presign(id, content);
      const { searchParams } = new URL(url, 'http://localhost');
      const received = await uploads.receive(id, searchParams, bytes());
      if (received === 'stored' || received === 'stored-already') return;
      throw new StorageUnavailable(`the records of upload ${id} could not be stored: ${received}`);
    },
  };
}

const GIB = 1024 ** 3;
/** The share of the disk, and its upper bound, that stays free for the ledger and the published files. */
const KEPT_SHARE = 0.05;
const KEPT_BYTES_MAX = GIB;

/**
 * Whether enough space is left after this many more bytes. True if the file system reports 0 blocks, because the space is
 * unknown then.
 */
async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  const { blocks, bavail, bsize } = await statfs(folder);
  const kept = Math.min(KEPT_BYTES_MAX, KEPT_SHARE * blocks * bsize);
  return blocks === 0 || bavail * bsize >= bytes + kept;
}
