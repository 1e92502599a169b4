/**
 * Shows the progress of a long command. On a terminal, it is one line that is rewritten, from the third second on; elsewhere it
 * is a plain line every ten seconds.
 */
import { printable } from './printable.ts';

export interface StepProgress {
  /** From 0 to 1; null: unknown. */
  readonly share: number | null;
  /** The number of units that are done. */
  readonly count?: number;
  /** The name of one unit, such as `record`. */
  readonly unit?: string;
}

export interface ProgressLine {
  at(step: string, progress: StepProgress): void;
  /** Removes the line: before other output, and at the end. */
  clear(): void;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export const SILENT_MS = 2_000;
export const PLAIN_LINE_EVERY_MS = 10_000;
const REWRITTEN_EVERY_MS = 250;
const BAR_WIDTH = 20;
/** The least time from which a rate is computed. */
const MEASURED_SECONDS = 1;

const ERASE_LINE = '\r\u001b[2K';
const numbers = new Intl.NumberFormat('en-GB');

/** @param isSilent true for commands whose user has asked for data alone */
export function openProgressLine(stream: ProgressStream, isSilent = false): ProgressLine {
  if (isSilent) return { at() {}, clear() {} };
  // Some terminals, in containers and under `script`, report no width, so lines cannot be rewritten there.
  const width = stream.isTTY === true ? (stream.columns ?? 0) : 0;
  let current: Step | null = null;
  let isShown = false;
  let dueMs = performance.now() + (width > 0 ? SILENT_MS : PLAIN_LINE_EVERY_MS);
  let timer: NodeJS.Timeout | null = null;

  const show = (): void => {
    const nowMs = performance.now();
    if (current === null || nowMs < dueMs) return;
    dueMs = nowMs + (width > 0 ? REWRITTEN_EVERY_MS : PLAIN_LINE_EVERY_MS);
    const text = printable(wordsOf(current, nowMs, width > 0));
    stream.write(width > 0 ? ERASE_LINE + text.slice(0, width - 1) : `${text}\n`);
    isShown = width > 0;
  };

  return {
    at(name, progress) {
      // The first step, or the first one after the line was removed.
      if (current === null) dueMs = Math.max(dueMs, performance.now() + SILENT_MS);
      if (current?.name !== name) current = { name, begunMs: performance.now(), first: progress, last: progress };
      current.last = progress;
      // Shown again at intervals, so that a stalled step is visible.
      timer ??= setInterval(show, REWRITTEN_EVERY_MS).unref();
      show();
    },
    clear() {
      if (timer !== null) clearInterval(timer);
      [current, timer] = [null, null];
      if (isShown) stream.write(ERASE_LINE);
      isShown = false;
    },
  };
}

interface Step {
  readonly name: string;
  readonly begunMs: number;
  /** The first known progress: a step that continues earlier work does not begin at 0. */
  readonly first: StepProgress;
  last: StepProgress;
}

function wordsOf({ name, begunMs, first, last }: Step, nowMs: number, hasBar: boolean): string {
  const seconds = (nowMs - begunMs) / 1000;
  const { share, count, unit } = last;
  const parts: string[] = [];
  if (share !== null) parts.push(`${hasBar ? `${barOf(share)} ` : ''}${String(Math.floor(share * 100)).padStart(3)} %`);
  if (count !== undefined && unit !== undefined) {
    parts.push(`${numbers.format(count)} ${count === 1 ? unit : pluralOf(unit)}`);
    if (seconds >= MEASURED_SECONDS) parts.push(`${rateOf((count - (first.count ?? 0)) / seconds)}/s`);
  }
  const grown = (share ?? 0) - (first.share ?? 0);
  if (share !== null && grown > 0 && seconds >= MEASURED_SECONDS) {
    parts.push(`${durationOf((seconds / grown) * (1 - share))} left`);
  }
  return `${name} ${parts.length === 0 ? `… ${durationOf(seconds)}` : parts.join(', ')}`;
}

/** Enough for the nouns of this program, such as entry and record. */
const pluralOf = (unit: string) => (unit.endsWith('y') ? `${unit.slice(0, -1)}ies` : `${unit}s`);

/** With one decimal for a slow step, so that its rate is not shown as 0. */
const rateOf = (rate: number) => (rate < 10 ? rate.toFixed(1) : numbers.format(Math.round(rate)));

function barOf(share: number): string {
  const full = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  return `[${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}]`;
}

function durationOf(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
