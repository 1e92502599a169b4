/** What a process lends to code that must not reach for it: a clock, ids, chance and time to wait. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { newUlid } from './ulid.ts';

export interface Runtime {
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Unique per call, also across processes. */
  readonly newAttemptId: () => string;
  /** A new id such as `wl_01JD…`: the prefix, and a ULID of this moment. */
  readonly newId: (prefix: string) => string;
  /** From 0 to 1, exclusive. */
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly pause: (durationMs: number) => Promise<void>;
}

export const systemRuntime: Runtime = {
  nowMs: Date.now,
  newAttemptId: randomUUID,
  newId: (prefix) => `${prefix}_${newUlid(Date.now(), randomBytes)}`,
  random: Math.random,
  randomBytes,
  pause: async (durationMs) => {
    await setTimeout(durationMs);
  },
};
