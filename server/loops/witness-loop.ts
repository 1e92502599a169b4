/** Requests cosignatures of the checkpoint from the configured witnesses, in the background: docs/operations.md, "Witnesses". */

import { addCosignatures, askWitness, readCosigned, type Witness } from '../../publisher/core/log/cosign.ts';
import type { PublisherStorage } from '../../publisher/dependencies.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

const INTERVAL_MS = 60_000;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;

interface State {
  seen: number;
  faults: number;
  againAtMs: number;
}

export interface WitnessLoopOptions {
  readonly storage: Pick<PublisherStorage, 'ledger' | 'objects' | 'nowMs'>;
  readonly witnesses: readonly Witness[];
  readonly report: Log['fault'];
  readonly info: Log['info'];
}

/** One round asks each witness that has not cosigned the checkpoint. After a failure, a witness is not asked for a while. */
export function startWitnessLoop({ storage, witnesses, report, info }: WitnessLoopOptions): WakeLoop {
  const states = new Map(witnesses.map((witness) => [witness, { seen: 0, faults: 0, againAtMs: 0 } as State]));
  const { nowMs } = storage;

  async function cosign(): Promise<void> {
    const cosigned = await readCosigned(storage, witnesses);
    if (cosigned === null) return;
    const { note, size, missing } = cosigned;
    const due = missing.filter((witness) => (states.get(witness) as State).againAtMs <= nowMs());
    const lines = await Promise.all(due.map((witness) => lineOf(witness, note, size)));
    const given = lines.flatMap((line) => (line === null ? [] : [line]));
    if (given.length === 0 || !(await addCosignatures(storage, note, given))) return;
    info('cosigned', { size, witnesses: given.length });
  }

  async function lineOf(witness: Witness, note: string, size: number): Promise<string | null> {
    const state = states.get(witness) as State;
    try {
      const line = await askWitness(storage, witness, note, state.seen);
      Object.assign(state, { seen: size, faults: 0, againAtMs: 0 });
      return line;
    } catch (error) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** state.faults, LONGEST_PAUSE_MS);
      Object.assign(state, { seen: 0, faults: state.faults + 1, againAtMs: nowMs() + pauseMs });
      // Reported once: repeated failures of a witness are the same news.
      if (state.faults === 1) report(`the witness ${witness.cosigner.name} did not cosign`, error);
      return null;
    }
  }

  return startWakeLoop({
    round: cosign,
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('cosigning failed', cause),
  });
}
