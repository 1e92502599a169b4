/** The clock, ids, randomness and pauses of a process. Code gets them passed in instead of reading them itself. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { newUlid } from '../ports/ulid.ts';

export interface Runtime {
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Unique, across processes too. */
  readonly newAttemptId: () => string;
  /** A new id such as `wl_01JD…`: the prefix, and a ULID of the present moment: see {@link idsBy}. */
  readonly newId: (prefix: string) => string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly pause: (durationMs: number) => Promise<void>;
}

/** Makes new ids by this clock. */
export function idsBy({ nowMs, randomBytes }: Pick<Runtime, 'nowMs' | 'randomBytes'>): Runtime['newId'] {
  return (prefix) => `${prefix}_${newUlid(nowMs(), randomBytes)}`;
}

export const systemRuntime: Runtime = {
  nowMs: Date.now,
  // 128 bits, shorter than a UUID: each item keeps the id of the attempt that wrote it.
  newAttemptId: () => randomBytes(16).toString('base64url'),
  newId: idsBy({ nowMs: Date.now, randomBytes }),
  random: Math.random,
  randomBytes,
  pause: async (durationMs) => {
    await setTimeout(durationMs);
  },
};
