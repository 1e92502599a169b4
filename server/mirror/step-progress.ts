/** Tells how far a long look at the markets is: soon enough that nobody wonders, and seldom enough for the log of a daemon. */

export interface MirrorStep {
  readonly step: 'markets';
  readonly done: number;
  readonly of: number;
  readonly perSecond: number;
  readonly secondsLeft: number;
}

/** A shorter step is over before anybody asks. */
const SILENT_MS = 2_000;
const EVERY_MS = 5_000;

export class MirrorProgress {
  readonly #nowMs: () => number;
  readonly #report: (progress: MirrorStep) => void;
  #of = 0;
  #done = 0;
  #startMs = 0;
  #nextMs = 0;

  constructor(nowMs: () => number, report: (progress: MirrorStep) => void) {
    this.#nowMs = nowMs;
    this.#report = report;
  }

  /** Begins to look at this many markets. */
  begin(of: number): void {
    [this.#of, this.#done] = [of, 0];
    this.#startMs = this.#nowMs();
    this.#nextMs = this.#startMs + SILENT_MS;
  }

  did(): void {
    this.#done++;
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + EVERY_MS;
    const perSecond = this.#done / Math.max(0.001, (nowMs - this.#startMs) / 1000);
    const secondsLeft = Math.max(0, Math.ceil((this.#of - this.#done) / perSecond));
    this.#report({ step: 'markets', done: this.#done, of: this.#of, perSecond: Math.round(perSecond), secondsLeft });
  }
}
