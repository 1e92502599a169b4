/**
 * Shows the progress of a test run: on a terminal in a line that is rewritten, elsewhere in a new line now and then.
 */
import ora from 'ora';

/** Often enough to show that a run goes on, rarely enough for a log. */
export const LINE_EVERY_MS = 15_000;

export interface Progress {
  /** The progress of a running step. */
  at(step: string, how: string): void;
  /** A step has ended. */
  end(step: string): void;
  /** Prints lines above the progress line. */
  say(text: string): void;
}

export function openProgress(stream: NodeJS.WriteStream): Progress {
  // Some terminals, in containers and under `script`, do not know their width, so lines cannot be rewritten there.
  const moves = stream.isTTY && stream.columns > 0;
  const spinner = ora({ stream, isEnabled: moves, isSilent: !moves, discardStdin: false });
  const startMs = performance.now();
  const steps = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;

  const line = () => {
    const parts = Array.from(steps, ([step, how]) => (how === '' ? step : `${step}: ${how}`));
    return `${parts.join('; ')} (${Math.round((performance.now() - startMs) / 1000)} s)`;
  };

  return {
    at(step, how) {
      steps.set(step, how);
      if (moves) {
        spinner.text = line();
        if (!spinner.isSpinning) spinner.start();
      } else timer ??= setInterval(() => stream.write(`… ${line()}\n`), LINE_EVERY_MS).unref();
    },
    end(step) {
      steps.delete(step);
      if (steps.size > 0) return;
      spinner.stop();
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
    say(text) {
      const isMoving = spinner.isSpinning;
      spinner.stop();
      stream.write(`${text}\n`);
      if (isMoving) spinner.start();
    },
  };
}
