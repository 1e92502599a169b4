/** A thread that simulates the seeds it is sent, one at a time, and answers each. */
import { parentPort } from 'node:worker_threads';
import { type Kind, simulate } from './simulate.ts';

export interface Answer {
  readonly seed: number;
  readonly kind: Kind | null;
  /** Null where all is well. */
  readonly violation: { readonly rule: string; readonly detail: string } | null;
  readonly operations: number;
}

// Injected faults are errors by the thousand, whose stacks nobody reads.
Error.stackTraceLimit = 0;

parentPort?.on('message', async ({ seed, kind }: { readonly seed: number; readonly kind: Kind | undefined }) => {
  parentPort?.postMessage(await answer(seed, kind));
});

async function answer(seed: number, asked: Kind | undefined): Promise<Answer> {
  try {
    const { kind, violation, operations } = await simulate(seed, asked === undefined ? {} : { kind: asked });
    return { seed, kind, violation, operations };
  } catch (error) {
    return { seed, kind: null, violation: { rule: 'simulator', detail: String(error) }, operations: 0 };
  }
}
