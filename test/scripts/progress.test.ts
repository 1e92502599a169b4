import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LINE_EVERY_MS, openProgress } from '../../tools/run/progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Progress on a stream. */
function openOnStream() {
  const stream = new PassThrough({ encoding: 'utf8' });
  const written = () => ((stream.read() as string | null) ?? '').split('\n').slice(0, -1);
  return { progress: openProgress(stream), written };
}

test('a run prints the progress of its steps now and then, until all have ended', () => {
  const { progress, written } = openOnStream();
  progress.at('lint', '');
  progress.at('tests', '1 of 9 files');
  progress.at('tests', '4 of 9 files');
  vi.advanceTimersByTime(LINE_EVERY_MS - 1);
  expect(written()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(written()).toEqual(['… lint; tests: 4 of 9 files (15 s)']);

  progress.end('lint');
  vi.advanceTimersByTime(2 * LINE_EVERY_MS);
  expect(written()).toEqual(['… tests: 4 of 9 files (30 s)', '… tests: 4 of 9 files (45 s)']);

  progress.end('tests');
  vi.advanceTimersByTime(2 * LINE_EVERY_MS);
  expect(written()).toEqual([]);
});

test('other messages are printed at once, on their own lines', () => {
  const { progress, written } = openOnStream();
  progress.at('tests', '');
  progress.say('lint passed');
  expect(written()).toEqual(['lint passed']);
});
