/** `tidemark mirror`: copies a service continuously, and serves the copy on request. */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import {
  boundedReader,
  DEFAULT_READ_LIMITS,
  UpstreamInvalid,
  UpstreamUnavailable,
} from '../../publisher/verify/reading/bounded-reader.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { createEdgeServer, type EdgeServer } from '../edge/server.ts';
import { readSite } from '../folder/site-folder.ts';
import { listen } from '../http/listen.ts';
import { MirrorFull } from '../mirror/copy.ts';
import { Mirror } from '../mirror/mirror.ts';
import { divertMirror, type MirrorDocument } from '../mirror/mirror-document.ts';
import { FORK_FILE, openMirrorFolder } from '../mirror/mirror-folder.ts';
import { UpstreamForked } from '../mirror/mirror-log.ts';
import { type Log, openLog, readLogFormat } from '../service/log.ts';
import { hostReader } from '../target/static-host.ts';
import { openProgressLine } from '../terminal/progress-line.ts';
import { onStopSignal } from './stop-signals.ts';

export interface MirrorCommand {
  /** The base URL of a service, or of the files on a static host. Its path ends with a slash. */
  readonly url: URL;
  readonly folder: string;
  /** Null: the copy is not served. */
  readonly serve: { readonly host: string; readonly port: number } | null;
  readonly everySeconds: number;
  readonly isOnce: boolean;
  readonly maxBytes: number;
  /** The time limit of one answer; null: the default of a reader. */
  readonly timeoutSeconds: number | null;
  /** The verifier keys of the log. Empty: the key that the service shows is trusted. */
  readonly logKeys: readonly string[];
  /** Read for `TIDEMARK_LOG`. */
  readonly environment: NodeJS.ProcessEnv;
}

export interface MirrorResult {
  readonly end: 'current' | 'behind' | 'faulty' | 'forked' | 'unreachable' | 'stopped';
  readonly document: MirrorDocument;
}

type End = MirrorResult['end'];

/**
 * The copy is reported as unhealthy if no round has confirmed it for this many intervals, or for five minutes if that is
 * longer.
 */
const ROUNDS_MISSED = 20;
/** Faults that may pass: the next round tries again. */
const PASSING = [UpstreamUnavailable, UpstreamInvalid, MirrorFull, StorageUnavailable];
/** The limit of log lines for one round, so that a service with many faults cannot fill the disk. */
const FINDINGS_SHOWN = 20;

/**
 * Copies the service round by round until a signal arrives, or for a single round.
 *
 * @throws StartError for a folder or a port that cannot be used
 */
export async function runMirror(command: MirrorCommand): Promise<MirrorResult> {
  const { url, everySeconds, isOnce } = command;
  const log = openLog(readLogFormat(command.environment), {
    // A single round prints its result as data.
    output: isOnce ? process.stderr : process.stdout,
    errors: process.stderr,
    nowMs: systemRuntime.nowMs,
  });
  const folder = await openMirrorFolder(command.folder, url);
  const stop = new AbortController();
  const forgetSignals = onStopSignal(() => stop.abort());
  const { signal } = stop;
  const pause = async (durationMs: number) => void (await sleep(durationMs, null, { signal }));
  const { nowMs } = systemRuntime;
  const { maxBytes, logKeys } = command;
  const onTrusted = (vkey: string) => log.info('trusting the key that the service shows', { vkey });
  const { timeoutMs } = DEFAULT_READ_LIMITS;
  const limits = { ...DEFAULT_READ_LIMITS, signal, timeoutMs: (command.timeoutSeconds ?? timeoutMs / 1000) * 1000 };
  const upstream = hostReader(boundedReader(url, limits, 'tidemark-mirror'));
  const progress = openProgressLine({ write: (text) => log.info('copying', { progress: text.trimEnd() }) });
  const site = await readSite();
  const mirror = new Mirror({
    ...{ folder, upstream, signal, site, maxBytes, logKeys, onTrusted, progress, nowMs, pause },
  });
  try {
    await mirror.open();
    const edge = await serve(command, mirror, folder.objects, log);
    try {
      for (;;) {
        const end = mirror.isForked ? 'forked' : await oneRound(mirror, log);
        if (end === 'forked') {
          log.fault(
            'the log is forked',
            `tell the operator, see ${folder.path}/${FORK_FILE}; to accept the new log, mirror into another folder`,
          );
          // The edge continues to serve the last good copy.
          if (edge !== null && !isOnce) await once(signal, 'abort');
        }
        if (isOnce || end === 'forked') return { end, document: mirror.document };
        await pause(everySeconds * 1000);
      }
    } finally {
      await edge?.stop();
    }
  } catch (error) {
    if (signal.aborted) return { end: mirror.isForked ? 'forked' : 'stopped', document: mirror.document };
    throw error;
  } finally {
    folder.close();
    forgetSignals();
  }
}

async function oneRound(mirror: Mirror, log: Log): Promise<End> {
  try {
    const { state, snapshot, copied, findings } = await mirror.follow();
    for (const { url, rule, detail } of findings.slice(0, FINDINGS_SHOWN))
      log.fault('finding', `${rule} ${url}: ${detail}`);
    const more = findings.length - FINDINGS_SHOWN;
    if (more > 0) log.fault('finding', `and ${more} more of the same round`);
    const { generation } = snapshot;
    if (copied > 0 || state !== 'current') log.info('mirrored', { generation, state, markets: copied });
    return state;
  } catch (error) {
    if (error instanceof UpstreamForked) return 'forked';
    if (!PASSING.some((kind) => error instanceof kind)) throw error;
    log.fault('round failed', error);
    return error instanceof UpstreamInvalid ? 'faulty' : 'unreachable';
  }
}

async function serve(
  { serve: asked, everySeconds, url }: MirrorCommand,
  mirror: Mirror,
  objects: Pick<ObjectStore, 'get'>,
  log: Log,
): Promise<EdgeServer | null> {
  if (asked === null) return null;
  const edge = createEdgeServer({
    objects,
    isReady: () => mirror.isComplete,
    divert: divertMirror(() => mirror.document),
    health: () => {
      const { document } = mirror;
      const healthy =
        document.ageSeconds !== null &&
        document.ageSeconds < Math.max(STALE_IF_ERROR_SECONDS, ROUNDS_MISSED * everySeconds);
      return { healthy, body: { status: healthy ? 'ok' : mirror.isComplete ? 'failing' : 'starting', ...document } };
    },
    report: log.fault,
  });
  const address = await listen(edge.server, asked);
  log.info('serving', { address, of: url.href });
  return edge;
}
