/** The one line about the progress of long commands. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openProgressLine, PLAIN_LINE_EVERY_MS, SILENT_MS } from '../../server/terminal/progress-line.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

function openOn(columns: number, isSilent = false) {
  const pieces: string[] = [];
  const stream = { isTTY: columns > 0, columns, write: (text: string) => pieces.push(text) };
  return { line: openProgressLine(stream, isSilent), written: () => pieces.splice(0).join('') };
}

const half = { share: 0.5, count: 1_200, unit: 'record' };

test.each([80, 0])('nothing is shown for two seconds, in every round of a command; with %i columns', (columns) => {
  const { line, written } = openOn(columns);
  for (let round = 1; round <= 2; round++) {
    line.at('Sending', half);
    vi.advanceTimersByTime(SILENT_MS - 1);
    line.clear();
    vi.advanceTimersByTime(PLAIN_LINE_EVERY_MS);
  }
  expect(written()).toBe('');
});

test('on a pipe, a plain line comes now and then, also of a step that stands still', () => {
  const { line, written } = openOn(0);
  line.at('Sending', { ...half, share: 0, count: 0 });
  line.at('Sending', half);
  vi.advanceTimersByTime(PLAIN_LINE_EVERY_MS);
  expect(written()).toBe('Sending  50 %, 1,200 records, 120/s, 10 s left\n');
  vi.advanceTimersByTime(PLAIN_LINE_EVERY_MS - 500);
  expect(written()).toBe('');
  vi.advanceTimersByTime(1_000);
  expect(written()).toMatch(/^Sending [^\n]+\n$/);
});

test('on a terminal, one line is rewritten, never longer than the terminal, and removed', () => {
  const { line, written } = openOn(40);
  line.at('Sending', half);
  vi.advanceTimersByTime(SILENT_MS + 1_000);
  const lines = written().split('\r\u001b[2K');
  expect(lines.length).toBeGreaterThan(2);
  for (const one of lines) expect(one.length).toBeLessThan(40);
  line.clear();
  expect(written()).toBe('\r\u001b[2K');
});

test('a rate is that of this run, and not of what was done before', () => {
  const { line, written } = openOn(0);
  line.at('Copying', { share: 0.5, count: 1_000, unit: 'market' });
  vi.advanceTimersByTime(PLAIN_LINE_EVERY_MS - 1);
  line.at('Copying', { share: 0.75, count: 1_500, unit: 'market' });
  vi.advanceTimersByTime(1);
  expect(written()).toBe('Copying  75 %, 1,500 markets, 50/s, 10 s left\n');
});
