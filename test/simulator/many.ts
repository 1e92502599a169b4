/** Simulates many seeds on several threads. */
import { Worker } from 'node:worker_threads';
import type { Kind } from './simulate.ts';
import type { Answer } from './thread.ts';

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

/** The results, in order of the seeds. */
export async function simulateMany({ first, count, threads, kind, onAnswer }: ManyOptions): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let next = first;
  const runThread = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL('./thread.ts', import.meta.url), {
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      });
      const send = (): void => {
        if (next < first + count) worker.postMessage({ seed: next++, kind });
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
