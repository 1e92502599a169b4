/** The steps of a long command: one line that is rewritten, on a terminal only. */
import ora from 'ora';

export interface StepLine {
  show(step: string, done: number, of: number): void;
  /** Removes the line. */
  end(): void;
}

export function stepLine(): StepLine {
  const stream = process.stderr;
  const spinner = ora({ stream, isSilent: !stream.isTTY, discardStdin: false });
  return {
    show(step, done, of) {
      spinner.text = `${step}: ${Math.floor((100 * done) / Math.max(1, of))} %`;
      if (stream.isTTY && !spinner.isSpinning) spinner.start();
    },
    end: () => void spinner.stop(),
  };
}
