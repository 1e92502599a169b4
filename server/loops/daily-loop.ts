/**
 * Makes the daily files of projections: soon after midnight (UTC), or after the start of a server that has none of today.
 * The first ones of all are made again that day, once nothing was published for a while; any on command.
 */

import { eachDaily, projectorOf } from '../../publisher/daily.ts';
import type { PublisherStorage } from '../../publisher/dependencies.ts';
import { Superseded } from '../../publisher/errors.ts';
import type {
  DailyAgain,
  DailyContext,
  DailyOutcome,
  KeepOutcome,
  Kept,
  Projector,
} from '../../publisher/kernel/projection.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** One look at the ledger, while there is nothing to do. */
const INTERVAL_MS = 60_000;
/** Files that are asked for wait for a generation to be applied, or for a settled list. */
const RETRY_MS = 1_000;
/**
 * The first files are made again after this quiet time; then after twice of it, and so on. So a feed that is never quiet for
 * long makes some dozens at most: what they leave behind stays for 35 days.
 */
const QUIET_MS = 60_000;

export interface DailyOptions {
  readonly storage: PublisherStorage;
  readonly yieldToEventLoop: DailyContext['yieldToEventLoop'];
  readonly info: Log['info'];
}

export interface DailyLoopOptions extends DailyOptions {
  readonly report: (what: string, cause: unknown) => void;
}

export interface DailyLoop extends WakeLoop {
  /**
   * Makes the files of today of a projection, also if they are there. Null: this service makes none. Rejects if it fails, or
   * the loop stops.
   */
  make(projection: string): Promise<DailyOutcome | null>;
  /** Keeps the files of a day, or does not keep them any more. Null: the projection keeps none. */
  keep(projection: string, ...asked: ToKeep): Promise<KeepOutcome | null>;
}

export type ToKeep = readonly [date: string, kept: Kept | null];

/** Makes the daily files that are due; with news on the day of the first ones, again. */
export async function makeDailyFiles(options: DailyOptions): Promise<void> {
  await eachDaily(async (name, daily) => void (await makeOne(options, name, daily, { afterQuietMs: 0 })));
}

async function makeOne(
  { info, ...context }: DailyOptions,
  projection: string,
  daily: NonNullable<Projector['daily']>,
  again: DailyAgain,
): Promise<DailyOutcome | null> {
  const startedMs = performance.now();
  const outcome = await daily({ ...context, again, hasTime: () => true });
  const durationMs = Math.round(performance.now() - startedMs);
  if (outcome?.kind === 'made' || outcome?.remade) info('daily files', { projection, ...outcome, durationMs });
  return outcome;
}

interface Asker extends PromiseWithResolvers<DailyOutcome | null> {
  readonly projection: string;
}

export function startDailyLoop({ report, ...options }: DailyLoopOptions): DailyLoop {
  const made = new Map<string, number>();
  let asked: readonly Asker[] = [];

  const loop = startWakeLoop({
    round: async (stopping) => {
      const yieldToEventLoop = async () => {
        stopping.throwIfAborted();
        await options.yieldToEventLoop();
      };
      await eachDaily(async (name, daily) => {
        const askers = asked.filter(({ projection }) => projection === name);
        const times = made.get(name) ?? 0;
        const again = askers.length > 0 ? 'always' : ({ afterQuietMs: QUIET_MS * Math.max(1, times) } as const);
        const outcome = await makeOne({ ...options, yieldToEventLoop }, name, daily, again);
        if (outcome?.kind === 'made') made.set(name, times + 1);
        if (outcome?.kind === 'busy') {
          if (askers.length > 0) loop.wakeIn(RETRY_MS);
          return;
        }
        // A request that came meanwhile asks for what was published meanwhile.
        end(askers, ({ resolve }) => resolve(outcome));
      });
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => {
      // The next round finds a settled list.
      if (cause instanceof Superseded) {
        if (asked.length > 0) loop.wakeIn(RETRY_MS);
        return;
      }
      end(asked, ({ reject }) => reject(cause));
      report('making the daily files failed', cause);
    },
  });

  function end(askers: readonly Asker[], answer: (asker: Asker) => void): void {
    asked = asked.filter((each) => !askers.includes(each));
    askers.forEach(answer);
  }

  loop.wake();
  return {
    ...loop,
    keep: async (projection, ...toKeep) => (await projectorOf(projection)?.keep?.(options.storage, ...toKeep)) ?? null,
    async make(projection) {
      if (projectorOf(projection)?.daily === undefined) return null;
      const asker = { projection, ...Promise.withResolvers<DailyOutcome | null>() };
      asked = [...asked, asker];
      loop.wake();
      return await asker.promise;
    },
    async stop() {
      await loop.stop();
      end(asked, ({ reject }) => reject(new Error('the server stops')));
    },
  };
}
