/** Output during the start: one line that is rewritten, or plain lines in a log. */
import ora from 'ora';

export interface Terminal {
  /** A step has begun or made progress. */
  working(text: string): void;
  /** The step is done. */
  done(text: string): void;
  /** Removes the current line before other output. */
  clear(): void;
  say(text: string): void;
  /** Something that the person should look at. */
  note(text: string): void;
}

/** Writes to `stream`. A reader that goes away, such as `head`, does not end the server. */
export function openTerminal(stream: NodeJS.WriteStream): Terminal {
  stream.on('error', () => {});
  // Some terminals, in containers and under `script`, do not know their width, so lines cannot be rewritten there.
  const moves = stream.isTTY && stream.columns > 0;
  const spinner = ora({ stream, isEnabled: moves, isSilent: !moves, discardStdin: false, indent: 2 });
  let stage = '';
  const say = (text: string) => void stream.write(`${text}\n`);
  return {
    working(text) {
      if (moves) {
        spinner.text = text;
        if (!spinner.isSpinning) spinner.start();
        return;
      }
      // Once for each stage, not for each step of its progress.
      const [name = ''] = text.split(':');
      if (name !== stage) say(`  … ${name}`);
      stage = name;
    },
    done(text) {
      if (moves) spinner.succeed(text);
      else say(`  ✔ ${text}`);
    },
    clear() {
      if (spinner.isSpinning) spinner.stop();
    },
    say,
    note: (text) => say(`  ! ${text}`),
  };
}

/** For a log that programs read: what is done, and what to look at, and nothing else. */
export function noteTerminal(note: (text: string) => void): Terminal {
  const ignore = () => {};
  return { working: ignore, done: note, clear: ignore, say: ignore, note };
}
