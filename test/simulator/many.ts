/** Simulates many seeds on several threads. Each simulates the seeds that it receives, one at a time, and sends the results. */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type Kind, simulate } from './simulate.ts';

export interface Answer {
  readonly seed: number;
  readonly kind: Kind | null;
  /** Null if all promises hold. */
  readonly violation: { readonly rule: string; readonly detail: string } | null;
  readonly operations: number;
}

interface Asked {
  readonly seed: number;
  readonly kind: Kind | undefined;
}

export interface ManyOptions {
  readonly first: number;
  readonly count: number;
  readonly threads: number;
  readonly kind?: Kind;
  /** Called for each, in the order in which they end. */
  readonly onAnswer?: (answer: Answer) => void;
}

/** Worlds are short-lived. With room for many of them, the garbage collector copies little. */
const YOUNG_GENERATION_MB = 64;
/** Given to the threads. */
const WORK = 'simulate';

/** The results, in order of the seeds. */
export async function simulateMany({ first, count, threads, kind, onAnswer }: ManyOptions): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let next = first;
  const runThread = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: WORK,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      });
      const send = (): void => {
        if (next < first + count) worker.postMessage({ seed: next++, kind } satisfies Asked);
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on('error', reject);
      worker.on('message', (answer: Answer) => {
        answers.push(answer);
        onAnswer?.(answer);
        send();
      });
      send();
    });
  await Promise.all(Array.from({ length: Math.min(threads, count) }, runThread));
  return answers.sort((left, right) => left.seed - right.seed);
}

async function answer({ seed, kind: asked }: Asked): Promise<Answer> {
  try {
    const { kind, violation, operations } = await simulate(seed, asked === undefined ? {} : { kind: asked });
    return { seed, kind, violation, operations };
  } catch (error) {
    return { seed, kind: null, violation: { rule: 'simulator', detail: String(error) }, operations: 0 };
  }
}

if (workerData === WORK) {
  // Injected faults make thousands of errors, whose stacks are not needed.
  Error.stackTraceLimit = 0;
  parentPort?.on('message', async (asked: Asked) => parentPort?.postMessage(await answer(asked)));
}
