/** How far a file is: one line that is rewritten on a terminal, a plain line now and then on a pipe. */
import { counted, printable } from '../output.ts';

export interface Step {
  /** 0 to 1; null: the end is not known. */
  readonly share: number | null;
  readonly records: number;
}

export interface IngestProgress {
  at(phase: string, step: Step): void;
  /** Removes the line before other output. */
  clear(): void;
}

const TERMINAL_EVERY_MS = 100;
const PIPE_EVERY_MS = 10_000;
const BAR_WIDTH = 20;

export function openIngestProgress(stream: NodeJS.WriteStream): IngestProgress {
  const moves = stream.isTTY && stream.columns > 0;
  let phase = '';
  let [phaseMs, shownMs] = [0, 0];
  let isShown = false;
  return {
    at(name, { share, records }) {
      const nowMs = performance.now();
      if (name !== phase) [phase, phaseMs, shownMs] = [name, nowMs, moves ? 0 : nowMs];
      if (nowMs - shownMs < (moves ? TERMINAL_EVERY_MS : PIPE_EVERY_MS)) return;
      shownMs = nowMs;
      const seconds = (nowMs - phaseMs) / 1000;
      const rate = seconds > 0 ? Math.round(records / seconds) : 0;
      const left = share === null || share === 0 ? null : (seconds / share) * (1 - share);
      const bar = share === null || !moves ? '' : `${barOf(share)} `;
      const percent = share === null ? '' : `${String(Math.floor(share * 100)).padStart(3)} %, `;
      const remaining = left === null || seconds < 1 ? '' : `, ${duration(left)} left`;
      const text = printable(`${name} ${bar}${percent}${counted(records, 'record')}, ${rate}/s${remaining}`);
      stream.write(moves ? `\r\u001b[2K${text.slice(0, stream.columns - 1)}` : `${text}\n`);
      isShown = moves;
    },
    clear() {
      if (isShown) stream.write('\r\u001b[2K');
      isShown = false;
    },
  };
}

function barOf(share: number): string {
  const full = Math.min(BAR_WIDTH, Math.round(share * BAR_WIDTH));
  return `[${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}]`;
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
