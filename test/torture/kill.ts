/** `kill -9` at random moments, under reads and writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, startLoad, waitUntil } from './load.ts';
import { createOracle, ORACLE_IS_PROXY, type Oracle, verifyAll } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

/** All is verified about so often in a run, but not more often than after so many kills; always at the end. */
const [TIMES_VERIFIED, VERIFIED_EVERY] = [10, 10];
/** A start takes about this long, so kills during it meet each of its steps. */
const START_MS = 600;
const LIFE_MS = 700;
const ENDED_WITHIN_MS = 5_000;
/** A write and its wait for the disk take about this long. */
const WRITE_MS = 8;
/** Older writes that are repeated after each restart, besides all newer ones. */
const OLDER_WRITES = 5;

export interface KillOptions {
  /** Called while the service is down, with the number of kills. Tests plant faults here. */
  readonly whileDown?: (dataFolder: string, kills: number) => Promise<void>;
}

/** The scenario; tests plant a fault that it must find. */
export function killScenario({ whileDown }: KillOptions = {}): Scenario {
  return {
    name: 'kill',
    does: 'kills all processes of the service (`kill -9`) or the first one alone, at random moments, also during a start',
    holds: [
      'Every acknowledged write is there after the restart, and its Idempotency-Key gives the stored answer.',
      'A write without an answer is wholly there or not at all.',
      'A published URL answers 200 or 304; nothing answers while it is down, and 503 while it starts.',
      'No body goes backwards, and no ETag comes back.',
      '`verify` passes, also against the log, whose checkpoint only grows.',
    ],
    times: 100,
    async run(trial) {
      const dataFolder = `${trial.folder}/data`;
      const service = createService({
        dataFolder,
        environment: ORACLE_IS_PROXY,
      });
      await service.start();
      const oracle = createOracle(trial, service);
      const load = startLoad({ trial, service, writePauseMs: 80, readPauseMs: 25 });
      try {
        const every = Math.max(VERIFIED_EVERY, Math.ceil(trial.times / TIMES_VERIFIED));
        let checked = 0;
        for (let kills = 1; kills <= trial.times && !trial.isBroken; kills++) {
          await killOnce(trial, service, load);
          await whileDown?.(dataFolder, kills);
          service.begin();
          // A start may be cut short, too: then the next one must do.
          if (trial.random.chance(0.2)) {
            await sleep(trial.random.unit() * START_MS);
            await service.kill('machine');
            trial.count('kills during a start');
            service.begin();
          }
          await service.served();
          if (!service.isServing) trial.broken('it does not start again', service.crash ?? service.errors());
          if (trial.isBroken) break;
          checked = await readBack(trial, oracle, load, checked);
          if (kills % every === 0 && kills < trial.times) {
            await load.quietly(() => verifyAll(oracle, load.account));
            trial.progress(
              `${kills} of ${trial.times} kills, ${trial.counted('writes acknowledged')} writes acknowledged`,
            );
          }
        }
        if (!trial.isBroken) {
          await load.stopWriting();
          await verifyAll(oracle, load.account);
        }
        if (service.crash !== null) trial.broken('it crashed', service.crash);
      } finally {
        await load.end();
        oracle.close();
        await service.end();
      }
    },
  };
}

/** Lets it work for a while, and kills it. */
async function killOnce(trial: Trial, service: ServiceProcess, load: Load): Promise<void> {
  await sleep(trial.random.unit() * LIFE_MS);
  if (trial.random.chance(0.6)) {
    // Most of the time nothing is written: without aim, few kills would meet a write.
    await Promise.race([load.nextWrite(), sleep(LIFE_MS)]);
    await sleep(trial.random.spread(0.1, WRITE_MS));
    trial.count('kills during a write');
  }
  if (service.crash !== null) trial.broken('it crashed', service.crash);
  const what = trial.random.chance(0.75) ? 'machine' : 'process';
  await service.kill(what);
  trial.count('kills');
  // A process that outlives the first one would hold the data folder.
  if (!(await waitUntil(() => service.processes() === 0, ENDED_WITHIN_MS))) {
    trial.broken('processes are left over', `${service.processes()}, ${ENDED_WITHIN_MS / 1000} s after the kill`);
  }
}

/** Repeats all writes that were acknowledged since the last time, and some older ones. */
async function readBack(trial: Trial, oracle: Oracle, { account }: Load, checked: number): Promise<number> {
  const { writes } = account;
  const until = writes.length;
  const older = Array.from({ length: Math.min(OLDER_WRITES, checked) }, () =>
    trial.random.pick(writes.slice(0, checked)),
  );
  await oracle.replay([...older, ...writes.slice(checked, until)]);
  return until;
}
