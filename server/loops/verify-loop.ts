/** Verifies the files that this server serves: some time after the start, and then every few hours, slowly. */
import type { LastVerify } from '../../contract/bodies/health.ts';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { confirmFindings } from '../../publisher/verify/confirm-findings.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { shareDue } from '../../publisher/verify/reading/share-due.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** Long enough after a restart. A server that is restarted regularly still verifies. */
const FIRST_MS = 10 * 60 * 1000;
/** A pause after each read, because checking a body blocks requests for some milliseconds. */
const PAUSE_MS = 40;
/** Longer than a shared cache keeps a body. */
const SECOND_LOOK_MS = (FRESH_SECONDS + 1) * 1000;
const FINDINGS_LOGGED = 10;

export interface VerifyLoopOptions {
  readonly reader: PublicReader;
  readonly everyHours: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly pause: (durationMs: number) => Promise<void>;
  readonly log: Log;
}

export interface VerifyLoop extends WakeLoop {
  /** Null: no run has ended since the start. */
  last(): LastVerify | null;
}

export function startVerifyLoop({ reader, everyHours, nowMs, pause, log }: VerifyLoopOptions): VerifyLoop {
  let last: LastVerify | null = null;

  async function round(stopping: AbortSignal): Promise<void> {
    const startedAtMs = performance.now();
    const gentle = gentleReader(reader, pause, stopping);
    const share = await shareDue(gentle, nowMs(), everyHours);
    const { findings, generation, markets, observations, pages, missingValues } = await confirmFindings(
      gentle,
      { share, nowMs: nowMs() },
      async () => {
        await pause(SECOND_LOOK_MS);
        return true;
      },
    );
    const inWords = `${share.index} of ${share.of}`;
    last = { at: new Date(nowMs()).toISOString(), findings: findings.length, missingValues, share: inWords };
    const durationMs = Math.round(performance.now() - startedAtMs);
    const seen = { generation, share: inWords, markets, observations, pages, missingValues, durationMs };
    log.info('verified', { ...seen, findings: findings.length });
    for (const { url, rule, detail } of findings.slice(0, FINDINGS_LOGGED)) {
      log.fault('finding of verify', `${rule} at ${url}: ${detail}`);
    }
  }

  const loop = startWakeLoop({
    round: async (stopping) => {
      try {
        await round(stopping);
      } catch (error) {
        if (!stopping.aborted) throw error;
      }
    },
    intervalMs: everyHours * 60 * 60 * 1000,
    onError: (cause) => log.fault('verify failed', cause),
  });
  loop.wakeIn(FIRST_MS);
  return { ...loop, last: () => last };
}

/** A reader that reads one file at a time, with a pause after each. Rejects when the server stops. */
function gentleReader(reader: PublicReader, pause: VerifyLoopOptions['pause'], stopping: AbortSignal): PublicReader {
  let before: Promise<unknown> = Promise.resolve();
  return (url, headers) => {
    const answer = before.then(() => {
      stopping.throwIfAborted();
      return reader(url, headers);
    });
    before = answer.then(() => pause(PAUSE_MS)).catch(() => {});
    return answer;
  };
}
