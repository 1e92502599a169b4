/** A mirror in its folder: rounds, sweeps, and what it tells about itself. */

import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { openCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { nameOfKey, verifierKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../../publisher/dependencies.ts';
import { type Site, siteObject } from '../../publisher/site.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { copiedSnapshot } from './copied-snapshot.ts';
import { MirrorCopy } from './copy.ts';
import { copyCompat } from './copy-compat.ts';
import { copyExports } from './copy-exports.ts';
import { publishedProjections } from './copy-list-files.ts';
import { UpstreamForked } from './follow-log.ts';
import { hasForkEvidence, keepForkEvidence } from './fork-evidence.ts';
import { KnownMarkets } from './known-markets.ts';
import type { MirrorDocument } from './mirror-document.ts';
import type { MirrorFolder } from './mirror-folder.ts';
import { MirrorLog } from './mirror-log.ts';
import { CACHED_MS, copyOnce, type RoundReport } from './round.ts';
import { MirrorProgress, type MirrorStep } from './step-progress.ts';
import { sweepCopy } from './sweep-copy.ts';

export interface MirrorOptions extends Pick<Runtime, 'nowMs' | 'pause'> {
  readonly folder: MirrorFolder;
  readonly upstream: PublicReader;
  readonly maxBytes: number;
  /** Keys of the log, which the operator knows from elsewhere. None: the first one that the service shows. */
  readonly logKeys: readonly string[];
  /** The pages for people. */
  readonly site: Site;
  /** Receives the key of a log that was trusted because the service shows it. */
  readonly onTrusted: (vkey: string) => void;
  /** Receives how far a step is that takes long. */
  readonly onProgress?: (progress: MirrorStep) => void;
  readonly pageSizes?: PageSizes;
}

/** A day has one export and one run of compat: what is new is found by small GETs. */
const FILES_EVERY_MS = 10 * 60 * 1000;
/** A sweep reads the head of every file. */
const SWEEP_EVERY_MS = 6 * 3600 * 1000;

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #copy: MirrorCopy;
  readonly #known = new KnownMarkets();
  readonly #progress: MirrorProgress;
  #log: MirrorLog | null = null;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #filesAtMs = Number.NEGATIVE_INFINITY;
  /** Whether all bodies were there when the files were copied. */
  #areFilesWhole = false;
  #lost: readonly string[] = [];
  #broken: ReadonlySet<string> = new Set();
  #generation: number | null = null;
  #state: MirrorDocument['state'] = 'starting';

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#copy = new MirrorCopy(options.folder.objects, options.maxBytes);
    this.#progress = new MirrorProgress(options.nowMs, options.onProgress ?? (() => {}));
  }

  /** To be called before anything else: reads what earlier processes left. */
  async open(): Promise<void> {
    if (hasForkEvidence(this.#options.folder.path)) this.#state = 'forked';
    this.#generation = (await copiedSnapshot(this.#copy))?.value.generation ?? null;
  }

  async #openLog(): Promise<MirrorLog | null> {
    const { folder, upstream, logKeys } = this.#options;
    const known = folder.state.log;
    const given = logKeys.filter((vkey) => known?.vkeys.includes(vkey) !== true);
    if (known === null && given.length === 0) return await this.#findLog();
    const state = { checkpoint: null, bodiesAt: 0, ...known, vkeys: [...(known?.vkeys ?? []), ...given] };
    return await MirrorLog.open(upstream, this.#copy, state, this.#progress);
  }

  /** Whether a whole copy is there. */
  get isComplete(): boolean {
    return this.#generation !== null;
  }

  /** Bodies of the service were newer than its log: the next round decides whether they are false. */
  get isAheadOfLog(): boolean {
    return (this.#log?.ahead.size ?? 0) > 0;
  }

  /** The log has contradicted itself: nothing is followed any more. */
  get isForked(): boolean {
    return this.#state === 'forked';
  }

  /**
   * One round; a sweep before it, if one is due. Rejects as {@link copyOnce} does, and with UpstreamForked; then the copy is
   * as good as before.
   */
  async follow(): Promise<RoundReport> {
    const { folder, nowMs } = this.#options;
    try {
      const report = await this.#follow();
      this.#state = report.state;
      return report;
    } catch (error) {
      this.#state = error instanceof UpstreamUnavailable ? 'unreachable' : 'faulty';
      if (error instanceof UpstreamForked) {
        this.#state = 'forked';
        keepForkEvidence(folder.path, folder.state.url, error, new Date(nowMs()).toISOString());
      }
      throw error;
    }
  }

  async #follow(): Promise<RoundReport> {
    const { folder, upstream, nowMs, pause, pageSizes = DEFAULT_PAGE_SIZES } = this.#options;
    if (nowMs() - this.#sweptAtMs >= SWEEP_EVERY_MS) await this.#sweep();
    const askedAtMs = nowMs();
    this.#log ??= await this.#openLog();
    const [copy, log, broken] = [this.#copy, this.#log, this.#broken];
    const [known, progress] = [this.#known, this.#progress];
    const round = copyOnce({ upstream, copy, log, known, progress, pageSizes, broken, nowMs, pause });
    const report = await round.catch(async (error: unknown) => {
      throw await this.#explained(error);
    });
    this.#lost = report.lost;
    this.#generation = (await copiedSnapshot(copy))?.value.generation ?? null;
    folder.state = { ...folder.state, log: log?.state ?? null };
    if (report.state === 'current') {
      this.#broken = new Set();
      folder.state = { ...folder.state, lastSuccessAt: new Date(askedAtMs).toISOString() };
    }
    folder.save();
    const findings = await this.#followFiles(report);
    return findings.length === 0 ? report : { ...report, state: 'faulty', findings: [...report.findings, ...findings] };
  }

  /** After the bodies: compat or an export that does not fit, or is broken, holds nothing else back. */
  async #followFiles({ state, snapshot }: RoundReport): Promise<readonly Finding[]> {
    const { generation } = snapshot;
    const projections = publishedProjections(snapshot, this.#log);
    const isWhole = state === 'current';
    const { upstream, nowMs, pause, pageSizes = DEFAULT_PAGE_SIZES } = this.#options;
    const isEarly = nowMs() - this.#filesAtMs < FILES_EVERY_MS;
    if (isEarly && (this.#areFilesWhole || !isWhole)) return [];
    const [known, progress] = [this.#known, this.#progress];
    const world = { upstream, copy: this.#copy, log: this.#log, known, progress, pageSizes, generation, pause };
    const findings: Finding[] = [];
    if (projections.includes('compat')) findings.push(...(await copyCompat(world, CACHED_MS)));
    if (projections.includes('exports')) findings.push(...(await copyExports(world, CACHED_MS)));
    if (findings.length === 0) [this.#filesAtMs, this.#areFilesWhole] = [nowMs(), isWhole];
    return findings;
  }

  /** The first key is trusted, as a browser trusts the first key of a host: later ones must follow from it. */
  async #findLog(): Promise<MirrorLog | null> {
    const { upstream, onTrusted } = this.#options;
    const vkeys = await this.#shownKeys();
    if (vkeys === null) return null;
    for (const vkey of vkeys) onTrusted(vkey);
    return await MirrorLog.open(upstream, this.#copy, { vkeys, checkpoint: null, bodiesAt: 0 }, this.#progress);
  }

  /** A service whose data folder was made anew breaks whichever promise is looked at first. Its keys tell why. */
  async #explained(error: unknown): Promise<unknown> {
    const followed = this.#log?.state.vkeys;
    if (!(error instanceof UpstreamInvalid) || followed === undefined) return error;
    const shown = await this.#shownKeys().catch(() => null);
    if (shown === null || shown.some((vkey) => followed.includes(vkey))) return error;
    const [now, before] = [shown, followed].map((vkeys) => vkeys.map(nameOfKey).join(' and '));
    return new UpstreamInvalid(
      `${error.message}. The service names the key ${now} of its log, and this copy follows ${before}. If its operator has begun a new log on purpose, mirror it into another folder. Otherwise it is an alarm: somebody else may answer there`,
      { cause: error },
    );
  }

  /** The keys that the service names; null: it has no log. @throws UpstreamInvalid for anything else than keys */
  async #shownKeys(): Promise<readonly string[] | null> {
    const { status, body } = await this.#options.upstream(`${LOG_ROOT}/vkey`);
    if (status !== 200) return null;
    const vkeys = Buffer.from(body).toString('utf8').trimEnd().split('\n');
    try {
      vkeys.map(verifierKey);
    } catch (cause) {
      if (!(cause instanceof LogFaultError)) throw cause;
      throw new UpstreamInvalid(`GET ${LOG_ROOT}/vkey: ${cause.message}`, { cause });
    }
    return vkeys;
  }

  async #sweep(): Promise<void> {
    const { folder, nowMs, site } = this.#options;
    const logSizes = [this.#log?.checkpoint?.size ?? 0, this.#log?.state.bodiesAt ?? 0];
    const options = {
      lost: new Set(this.#lost),
      logSizes,
      siteFiles: site.files,
      nowMs: nowMs(),
      progress: this.#progress,
    };
    const { unreached, broken } = await sweepCopy(this.#copy, folder.unreached, options);
    folder.unreached = unreached;
    this.#broken = new Set(broken);
    this.#known.forget();
    await this.#putSite();
    this.#sweptAtMs = nowMs();
  }

  /**
   * The pages are those of the mirror's own version. A copy of the service's would be scripts that nobody has verified,
   * and readers of the mirror would run them.
   */
  async #putSite(): Promise<void> {
    const { site } = this.#options;
    for (const file of Object.keys(site.files)) {
      await this.#copy.put(siteObject(file), { body: await site.read(file), generation: this.#generation ?? 0 });
    }
  }

  get document(): MirrorDocument {
    const { folder, nowMs } = this.#options;
    const { lastSuccessAt, url } = folder.state;
    // A mirror that was started after a fork opens no log.
    const { checkpoint: note, vkeys } = this.#log?.state ?? folder.state.log ?? { checkpoint: null, vkeys: [] };
    const checkpoint = note === null ? null : openCheckpoint(note, vkeys.map(verifierKey));
    return {
      of: new URL(url).origin,
      generation: this.#generation,
      ageSeconds: lastSuccessAt === null ? null : Math.max(0, Math.floor((nowMs() - Date.parse(lastSuccessAt)) / 1000)),
      log: checkpoint && { origin: checkpoint.origin, size: checkpoint.size },
      state: this.#state,
    };
  }
}
