import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { noteTerminal, openTerminal } from '../../embedded/commands/terminal.ts';

/** Nine minutes of a step that makes progress each second. */
function lines(open: (write: (text: string) => void, nowMs: () => number) => { working(text: string): void }) {
  const written: string[] = [];
  let nowMs = 0;
  const terminal = open(
    (text) => written.push(text),
    () => nowMs,
  );
  terminal.working('Publishing');
  for (let step = 1; step <= 540; step += 1) {
    nowMs += 1000;
    terminal.working(`Publishing: ${step}`);
  }
  return written;
}

test('a log of a long step has a line each ten seconds', () => {
  const written = lines((write, nowMs) => {
    const stream = new Writable({
      write(chunk, _, done) {
        write(String(chunk));
        done();
      },
    });
    return openTerminal(stream as NodeJS.WriteStream, nowMs);
  });
  expect(written).toHaveLength(1 + 54);
});

test('a log for programs has these too, but not that the step has begun', () => {
  expect(lines(noteTerminal)).toHaveLength(54);
});
