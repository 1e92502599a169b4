/**
 * An empty store, as after a restore on a new machine, is filled while readers are served. Until it is full, readers of an
 * absent object get 503: a 404 would say that the resource does not exist, and caches would keep it.
 *
 * A file in the store marks this state for the edge and for the next start.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_FOLDER } from '../../storage/directory/object-places.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { Log } from './log.ts';

const FILLING_FILE = 'filling';

/** The number of markets in one generation: readers get these together, and the log reports the progress. */
export const MARKETS_OF_A_STEP = 500;

export interface Filling {
  isUnderWay(): boolean;
  begin(): void;
  /** Call it after each generation. */
  published(marks: number, isMoreDue: boolean): void;
}

/**
 * @param countMarkets called once
 * @param nowMs milliseconds since the epoch
 */
export function openFilling(
  dataFolder: string,
  countMarkets: () => Promise<number>,
  { info }: Pick<Log, 'info'>,
  nowMs: () => number,
): Filling {
  const path = join(dataFolder, STORE_FOLDER, FILLING_FILE);
  let isUnderWay = existsSync(path);
  let markets: number | null = null;
  let [done, sinceMs] = [0, nowMs()];
  const report = (count: number) => {
    const seconds = Math.max(1, nowMs() - sinceMs) / 1000;
    const secondsLeft = done === 0 ? null : Math.ceil((Math.max(0, count - done) * seconds) / done);
    info('filling', {
      published: Math.min(done, count),
      markets: count,
      perSecond: Math.round(done / seconds),
      secondsLeft,
    });
  };
  return {
    isUnderWay: () => isUnderWay,
    begin() {
      writeFileSync(path, '');
      [isUnderWay, done, sinceMs] = [true, 0, nowMs()];
    },
    published(marks, isMoreDue) {
      if (!isUnderWay) return;
      done += marks;
      if (!isMoreDue) {
        rmSync(path, { force: true });
        isUnderWay = false;
      }
      if (markets !== null) return report(markets);
      void countMarkets().then(
        (count) => {
          markets = count;
          report(count);
        },
        () => undefined,
      );
    },
  };
}

export function orNotThereYet(store: Pick<ObjectStore, 'get'>, dataFolder: string): Pick<ObjectStore, 'get'> {
  const path = join(dataFolder, STORE_FOLDER, FILLING_FILE);
  return {
    async get(key, options) {
      const result = await store.get(key, options);
      if (result.kind !== 'absent' || !existsSync(path)) return result;
      throw new StorageUnavailable(`${key} is not there yet: everything is being published again`);
    },
  };
}
