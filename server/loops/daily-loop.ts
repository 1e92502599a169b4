/**
 * Makes the daily files of projections soon after midnight (UTC), or soon after a start if today's files are missing. The very
 * first files are made again on the same day, when nothing was published for a while. An operator can ask for any of them.
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

/** The ledger is checked at this interval. */
const INTERVAL_MS = 60_000;
/** A request for files is tried again after this time, while a generation is being applied or the list is not settled. */
const RETRY_MS = 1_000;
/**
 * The first files are made again after this quiet time, then after twice this time, and so on. So a feed that is rarely quiet
 * causes a few dozen remakes at most. The superseded files stay for 35 days.
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
   * Makes today's files of a projection, even if they exist. Null: this service makes none. Rejects if it fails, or if the loop
   * stops.
   */
  make(projection: string): Promise<DailyOutcome | null>;
  /** Keeps the files of a day, or stops keeping them. Null: the projection does not keep files. */
  keep(projection: string, ...asked: ToKeep): Promise<KeepOutcome | null>;
}

export type ToKeep = readonly [date: string, kept: Kept | null];

/** Makes the daily files that are due. On the day of the first files, makes them again after news. */
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
        // Requests that arrived during this work stay: they ask for later publications, too.
        end(askers, ({ resolve }) => resolve(outcome));
      });
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => {
      // The list changed meanwhile. A later round finds it settled.
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
