/**
 * Makes the daily files: soon after midnight (UTC), or after the start of a server that has none of today.
 * The first export of all is made again that day, once nothing was published for a while; any export on command.
 */

import { readEntries } from '../../publisher/core/log/log-chunks.ts';
import { Superseded } from '../../publisher/errors.ts';
import type { DailyOutcome } from '../../publisher/kernel/projection.ts';
import { type KeepOutcome, keepExport } from '../../publisher/projections/exports/keep-export.ts';
import { type ExportOptions, type ExportOutcome, makeExport } from '../../publisher/projections/exports/make-export.ts';
import { remakeKept } from '../../publisher/projections/exports/remake-kept.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** One look at the ledger, while there is nothing to do. */
const INTERVAL_MS = 60_000;
/** An export that is asked for waits for a generation to be applied, or for a settled list. */
const RETRY_MS = 1_000;
/**
 * The first export is made again after this quiet time; then after twice of it, and so on. So a feed that is never quiet for
 * long makes some dozens at most: what they leave behind stays for 35 days.
 */
const QUIET_MS = 60_000;

export interface ExportLoopOptions extends Required<Pick<ExportOptions, 'storage' | 'yieldToEventLoop'>> {
  readonly report: (what: string, cause: unknown) => void;
  readonly info: Log['info'];
}

export interface ExportLoop extends WakeLoop {
  /** Makes the export of today, also if it is there. Null: this service makes none. Rejects if it fails, or the loop stops. */
  make(): Promise<ExportOutcome | null>;
  /** Keeps the export of a day, or does not keep it any more. */
  keep: (...asked: ToKeep) => Promise<KeepOutcome>;
}

export type ToKeep = readonly [date: string, kept: { readonly label: string | null } | null];

/**
 * The daily files that are due.
 *
 * @param exportOnce makes the export of today. Default: as {@link makeExport}; with news on the day of the first one, again
 */
export async function makeDailyFiles(
  { info, ...options }: Omit<ExportLoopOptions, 'report'>,
  exportOnce: (options: Pick<ExportOptions, 'storage' | 'yieldToEventLoop'>) => Promise<ExportOutcome> = (asked) =>
    makeExport({ ...asked, again: { afterQuietMs: 0 }, readEntries: tilesOf(options.storage) }),
): Promise<void> {
  const { storage } = options;
  const timed = async (event: string, make: () => Promise<DailyOutcome | null | undefined>) => {
    const startedMs = performance.now();
    const outcome = await make();
    const durationMs = Math.round(performance.now() - startedMs);
    if (outcome?.kind === 'made') info(event, { date: outcome.date, durationMs });
  };
  if (storage.projections?.has('exports')) {
    await timed('exported', () => exportOnce(options));
    for (const date of await remakeKept({ ...options, readEntries: tilesOf(storage) })) {
      info('kept export made again', { date });
    }
  }
  for (const { name, daily } of PROJECTORS) {
    await timed(`made ${name}`, async () => await daily?.({ ...options, hasTime: () => true }));
  }
}

const tilesOf =
  ({ ledger }: Pick<ExportLoopOptions['storage'], 'ledger'>): ExportOptions['readEntries'] =>
  (tile, width) =>
    readEntries(ledger, tile, width);

export function startExportLoop({ storage, yieldToEventLoop, report, info }: ExportLoopOptions): ExportLoop {
  let made = 0;
  let asked: PromiseWithResolvers<ExportOutcome | null>[] = [];

  async function exportOnce(options: Pick<ExportOptions, 'storage' | 'yieldToEventLoop'>): Promise<ExportOutcome> {
    const askers = [...asked];
    const again = askers.length > 0 ? 'always' : ({ afterQuietMs: QUIET_MS * Math.max(1, made) } as const);
    const outcome = await makeExport({ ...options, again, readEntries: tilesOf(storage) });
    if (outcome.kind === 'made') made++;
    if (outcome.kind === 'busy') {
      if (askers.length > 0) loop.wakeIn(RETRY_MS);
      return outcome;
    }
    // Who has asked meanwhile wants to see what was published meanwhile.
    asked = asked.filter((each) => !askers.includes(each));
    for (const { resolve } of askers) resolve(outcome);
    return outcome;
  }

  function refuse(cause: unknown): void {
    for (const { reject } of asked.splice(0)) reject(cause);
  }

  const loop = startWakeLoop({
    round: (stopping) => {
      const yielding = async () => {
        stopping.throwIfAborted();
        await yieldToEventLoop();
      };
      return makeDailyFiles({ storage, yieldToEventLoop: yielding, info }, exportOnce);
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => {
      // The next round finds a settled list.
      if (cause instanceof Superseded) {
        if (asked.length > 0) loop.wakeIn(RETRY_MS);
        return;
      }
      refuse(cause);
      report('the export failed', cause);
    },
  });
  loop.wake();
  return {
    ...loop,
    keep: (date, kept) => keepExport(storage, date, kept),
    async make() {
      if (!storage.projections?.has('exports')) return null;
      const asking = Promise.withResolvers<ExportOutcome | null>();
      asked.push(asking);
      loop.wake();
      return await asking.promise;
    },
    async stop() {
      await loop.stop();
      refuse(new Error('the server stops'));
    },
  };
}
