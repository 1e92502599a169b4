/** Tells how far a long step is: soon enough that nobody wonders, and seldom enough for the log of a daemon. */

export interface MirrorStep {
  readonly step: 'log' | 'markets' | 'compat' | 'sweep';
  readonly done: number;
  /** Null: the end is not known. */
  readonly of: number | null;
  readonly perSecond: number;
  readonly secondsLeft: number | null;
}

/** A shorter step is over before anybody asks. */
const SILENT_MS = 2_000;
const EVERY_MS = 5_000;

export class MirrorProgress {
  readonly #nowMs: () => number;
  readonly #report: (progress: MirrorStep) => void;
  #step: MirrorStep['step'] = 'log';
  #of: number | null = null;
  #done = 0;
  #startMs = 0;
  #nextMs = 0;

  constructor(nowMs: () => number, report: (progress: MirrorStep) => void) {
    this.#nowMs = nowMs;
    this.#report = report;
  }

  /** Begins a step; the one before is over. @param of null: the end is not known */
  begin(step: MirrorStep['step'], of: number | null): void {
    [this.#step, this.#of, this.#done] = [step, of, 0];
    this.#startMs = this.#nowMs();
    this.#nextMs = this.#startMs + SILENT_MS;
  }

  did(count = 1): void {
    this.#done += count;
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + EVERY_MS;
    const perSecond = this.#done / Math.max(0.001, (nowMs - this.#startMs) / 1000);
    const left = this.#of === null ? null : Math.max(0, Math.ceil((this.#of - this.#done) / perSecond));
    this.#report({
      step: this.#step,
      done: this.#done,
      of: this.#of,
      perSecond: Math.round(perSecond),
      secondsLeft: left,
    });
  }
}

export const NO_PROGRESS = new MirrorProgress(
  () => 0,
  () => {},
);
