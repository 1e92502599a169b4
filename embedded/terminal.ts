/** What the person who started the server sees while it starts: one line that moves, or plain lines in a log. */
import ora from 'ora';

export interface Terminal {
  /** What is being done now. */
  working(text: string): void;
  /** It is done. */
  done(text: string): void;
  /** Takes the moving line away, before something else is said. */
  clear(): void;
  say(text: string): void;
}

/** Writes to `stream`. A reader that goes away, such as `head`, is no reason to stop serving. */
export function openTerminal(stream: NodeJS.WriteStream): Terminal {
  stream.on('error', () => {});
  // Some terminals, in containers and under `script`, do not know their width: lines cannot be rewritten there.
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
  };
}
