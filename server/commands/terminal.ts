/** Output during the start: one line that is rewritten, or plain lines in a log. */
import { styleText } from 'node:util';
import { printable } from '../terminal/printable.ts';
import { openProgressLine, type StepProgress } from '../terminal/progress-line.ts';

export interface Terminal {
  /** A step has begun or made progress. */
  working(step: string, progress?: StepProgress): void;
  done(text: string): void;
  /** Removes the current line before other output. */
  clear(): void;
  /** The text may contain colour codes, so it must not include text from outside. */
  say(text: string): void;
  /** Shows something that needs attention. */
  note(text: string): void;
}

const ignore = () => {};

/** Writes to `stream`. A closed pipe, e.g. to `head`, does not end the server. */
export function openTerminal(stream: NodeJS.WriteStream): Terminal {
  // Attached once for each stream, even if several terminals write to it.
  stream.off('error', ignore).on('error', ignore);
  const line = openProgressLine(stream);
  const isTerminal = stream.isTTY && stream.columns > 0;
  let stage = '';
  const say = (text: string): void => {
    line.clear();
    stream.write(`${text}\n`);
  };
  return {
    working(step, progress = { share: null }) {
      if (!isTerminal && step !== stage) say(`  … ${printable(step)}`);
      stage = step;
      line.at(step, progress);
    },
    done: (text) => say(`  ${styleText('green', '✔', { stream })} ${printable(text)}`),
    clear: line.clear,
    say,
    note: (text) => say(`  ! ${printable(text)}`),
  };
}

/** For a log that programs read: finished steps, the progress of long steps, and notes. */
export function noteTerminal(note: (text: string) => void): Terminal {
  const line = openProgressLine({ write: (text) => note(text.trimEnd()) });
  return {
    working: (step, progress = { share: null }) => line.at(step, progress),
    done: note,
    clear: line.clear,
    say: ignore,
    note,
  };
}
