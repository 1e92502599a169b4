/** A mirror in its folder: rounds, sweeps, and what it tells about itself. */
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Runtime } from '../../storage/runtime.ts';
import { MirrorCopy } from './copy.ts';
import type { MirrorDocument } from './mirror-document.ts';
import type { MirrorFolder } from './mirror-folder.ts';
import { copiedSnapshot, copyOnce, type RoundReport } from './round.ts';
import { sweepCopy } from './sweep-copy.ts';
import { UpstreamUnavailable } from './upstream.ts';

export interface MirrorOptions extends Pick<Runtime, 'nowMs' | 'pause'> {
  readonly folder: MirrorFolder;
  readonly upstream: PublicReader;
  readonly maxBytes: number;
}

/** A sweep reads the head of every file. */
const SWEEP_EVERY_MS = 6 * 3600 * 1000;

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #copy: MirrorCopy;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #lost: readonly string[] = [];
  #broken: ReadonlySet<string> = new Set();
  #generation: number | null = null;
  #state: RoundReport['state'] | 'unreachable' | 'starting' = 'starting';

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#copy = new MirrorCopy(options.folder.objects, options.maxBytes);
  }

  /** Whether a whole copy is there. To be called before anything else: it reads what earlier processes left. */
  async open(): Promise<boolean> {
    this.#generation = (await copiedSnapshot(this.#copy))?.value.generation ?? null;
    return this.isComplete;
  }

  get isComplete(): boolean {
    return this.#generation !== null;
  }

  /** One round; a sweep before it, if one is due. Rejects as {@link copyOnce} does; then the copy is as good as before. */
  async follow(): Promise<RoundReport> {
    try {
      const report = await this.#follow();
      this.#state = report.state;
      return report;
    } catch (error) {
      this.#state = error instanceof UpstreamUnavailable ? 'unreachable' : 'faulty';
      throw error;
    }
  }

  async #follow(): Promise<RoundReport> {
    const { folder, upstream, nowMs, pause } = this.#options;
    if (nowMs() - this.#sweptAtMs >= SWEEP_EVERY_MS) await this.#sweep();
    const askedAtMs = nowMs();
    const world = { upstream, copy: this.#copy, pageSizes: DEFAULT_PAGE_SIZES, broken: this.#broken, nowMs, pause };
    const report = await copyOnce(world);
    this.#lost = report.lost;
    this.#generation = (await copiedSnapshot(this.#copy))?.value.generation ?? null;
    if (report.state === 'current') {
      this.#broken = new Set();
      folder.state = { ...folder.state, lastSuccessAt: new Date(askedAtMs).toISOString() };
    }
    folder.save();
    return report;
  }

  async #sweep(): Promise<void> {
    const { folder, nowMs } = this.#options;
    const { unreached, broken } = await sweepCopy(this.#copy, folder.unreached, new Set(this.#lost), nowMs());
    folder.unreached = unreached;
    this.#broken = new Set(broken);
    this.#sweptAtMs = nowMs();
  }

  get document(): MirrorDocument {
    const { folder, nowMs } = this.#options;
    const { lastSuccessAt, url } = folder.state;
    return {
      of: new URL(url).origin,
      generation: this.#generation,
      ageSeconds: lastSuccessAt === null ? null : Math.max(0, Math.floor((nowMs() - Date.parse(lastSuccessAt)) / 1000)),
      state: this.#state,
    };
  }
}
