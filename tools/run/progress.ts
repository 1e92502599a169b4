/** Prints a line from time to time, to show that a long run continues. */

/** Often enough to show that a run continues, but seldom enough for a log. */
const LINE_EVERY_MS = 15_000;

export interface Progress {
  at(step: string, how: string): void;
  end(step: string): void;
  /** Prints lines at once. */
  say(text: string): void;
}

export function openProgress(stream: NodeJS.WritableStream): Progress {
  const startMs = performance.now();
  const steps = new Map<string, string>();
  const say = (text: string) => void stream.write(`${text}\n`);
  const show = () => {
    const parts = Array.from(steps, ([step, how]) => (how === '' ? step : `${step}: ${how}`));
    say(`… ${parts.join('; ')} (${Math.round((performance.now() - startMs) / 1000)} s)`);
  };
  let timer: NodeJS.Timeout | null = null;
  return {
    at(step, how) {
      steps.set(step, how);
      timer ??= setInterval(show, LINE_EVERY_MS).unref();
    },
    end(step) {
      steps.delete(step);
      if (timer === null || steps.size > 0) return;
      clearInterval(timer);
      timer = null;
    },
    say,
  };
}
