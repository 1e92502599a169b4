/** The frame of most scenarios: a service under load, a fault that comes and goes, and then all is verified. */
import { type Load, type LoadOptions, startLoad } from './load.ts';
import { createOracle, type Oracle, verifyAll } from './oracle.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Trial } from './trial.ts';

const REPLAYED = 100;

export interface FaultedRun {
  readonly trial: Trial;
  readonly service: ServiceProcess;
  readonly load?: Partial<LoadOptions>;
  /** Makes the fault once, and ends it. Called as often as the trial says. */
  readonly fault: (load: Load, oracle: Oracle) => Promise<void>;
  /** Acknowledged writes whose keys must still be known at the end: all, unless time has passed. */
  readonly isReplayed?: boolean;
}

/** Starts the service, and ends it. Verifies when the last fault is over, and again after a restart. */
export async function runWithFaults({ trial, service, fault, ...options }: FaultedRun): Promise<void> {
  const { isReplayed = true } = options;
  const oracle = createOracle(trial, service);
  let load: Load | null = null;
  try {
    await service.start();
    load = startLoad({ trial, service, writePauseMs: 400, readPauseMs: 80, ...options.load });
    for (let round = 0; round < trial.times && !trial.isBroken; round++) await fault(load, oracle);
    if (service.crash !== null) trial.broken('it crashed', service.crash);
    if (trial.isBroken) return;
    await load.stopWriting();
    await verifyAll(oracle, load.account);
    // A restart reads everything from the disk.
    await service.stop();
    await service.start();
    if (isReplayed) await oracle.replay(load.account.writes.slice(-REPLAYED));
    await verifyAll(oracle, load.account);
  } finally {
    await load?.end();
    oracle.close();
    await service.end();
  }
}
