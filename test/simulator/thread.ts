/** A thread that simulates the seeds that it receives, one at a time, and sends the results. */
import { parentPort } from 'node:worker_threads';
import { type Kind, simulate } from './simulate.ts';

export interface Answer {
  readonly seed: number;
  readonly kind: Kind | null;
  /** Null if all promises hold. */
  readonly violation: { readonly rule: string; readonly detail: string } | null;
  readonly operations: number;
}

// Injected faults make thousands of errors, whose stacks are not needed.
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
