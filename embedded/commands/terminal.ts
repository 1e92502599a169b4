/** Output during the start: one line that is rewritten, or plain lines in a log. */
import ora from 'ora';

/** In a log, a step that goes on says so this often. */
const AGAIN_MS = 10_000;

/** @param nowMs a clock that never goes back */
function pacedLines(nowMs: () => number, write: (text: string) => unknown): (text: string) => void {
  let [stage, shownMs] = ['', 0];
  return (text) => {
    const [name = ''] = text.split(':');
    if (name === stage && nowMs() - shownMs < AGAIN_MS) return;
    write(name === stage ? text : name);
    [stage, shownMs] = [name, nowMs()];
  };
}

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
export function openTerminal(stream: NodeJS.WriteStream, nowMs: () => number = monotonicMs): Terminal {
  stream.on('error', () => {});
  // Some terminals, in containers and under `script`, do not know their width, so lines cannot be rewritten there.
  const moves = stream.isTTY && stream.columns > 0;
  const spinner = ora({ stream, isEnabled: moves, isSilent: !moves, discardStdin: false, indent: 2 });
  const say = (text: string) => void stream.write(`${text}\n`);
  const line = pacedLines(nowMs, (text) => say(`  … ${text}`));
  return {
    working(text) {
      if (moves) {
        spinner.text = text;
        if (!spinner.isSpinning) spinner.start();
        return;
      }
      line(text);
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

/** For a log that programs read: what is done, what takes long, and what to look at. */
export function noteTerminal(note: (text: string) => void, nowMs: () => number = monotonicMs): Terminal {
  const ignore = () => {};
  // The name of a step alone is no news: it is told when it is done.
  const again = pacedLines(nowMs, (text) => text.includes(':') && note(text));
  return { working: again, done: note, clear: ignore, say: ignore, note };
}

function monotonicMs(): number {
  return performance.now();
}
