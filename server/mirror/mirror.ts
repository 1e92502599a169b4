/** A mirror in its folder: rounds, sweeps, and its status document. */

import { EXPORT_PART_ENTRIES } from '../../contract/bodies/export-tables.ts';
import { PUBLIC_OBJECTS } from '../../contract/files/public-objects.ts';
import { nameOfKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../../publisher/dependencies.ts';
import { bytesOfBody } from '../../publisher/kernel/files/rendered.ts';
import { type Site, siteObject } from '../../publisher/site.ts';
import { keysOf, LogFileError, LogFiles, VKEY_URL } from '../../publisher/verify/log/log-files.ts';
import type { ProvenMarket } from '../../publisher/verify/log/log-pass.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import { MirrorCopy } from './copy.ts';
import type { MirrorDocument } from './mirror-document.ts';
import { hasForkEvidence, keepForkEvidence, type MirrorFolder } from './mirror-folder.ts';
import { checkpointOf, MirrorLog, type MirrorLogState, UpstreamForked } from './mirror-log.ts';
import { copyDaily, copyOnce, type DailyReport, type MirrorWorld, type RoundReport } from './round.ts';
import { normalised, Stage } from './stage.ts';
import { sweepCopy } from './sweep-copy.ts';

export interface MirrorOptions extends Pick<Runtime, 'nowMs' | 'pause'> {
  readonly folder: MirrorFolder;
  readonly upstream: PublicReader;
  /** Aborts a round, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly maxBytes: number;
  /** Keys of the log, which the operator knows from elsewhere. Empty: the mirror trusts the first keys that the service shows. */
  readonly logKeys: readonly string[];
  /** The pages for people. */
  readonly site: Site;
  /** Receives the key of a log that the mirror trusts only because the service shows it. */
  readonly onTrusted: (vkey: string) => void;
  readonly progress?: ProgressLine;
  readonly pageSizes?: PageSizes;
  /** The number of log entries in a part of an export. */
  readonly partEntries?: number;
}

/**
 * Daily files change once a day, so a check at this interval is enough. One small GET finds a new export. The files for other
 * programs have no such file: each check asks for all of them, and compares every market.
 */
const DAILY_EVERY_MS = 10 * 60 * 1000;
const SILENT: ProgressLine = { at: () => {}, clear: () => {} };
/** At this interval, a round reads the whole copy again, and a sweep removes files that the walk did not reach. */
const FULL_EVERY_MS = 6 * 3600 * 1000;

export class Mirror {
  readonly #options: MirrorOptions & Required<Pick<MirrorOptions, 'progress' | 'pageSizes' | 'partEntries'>>;
  readonly #copy: MirrorCopy;
  readonly #proven = new Map<string, ProvenMarket>();
  #log: MirrorLog | null = null;
  #fullAtMs = Number.NEGATIVE_INFINITY;
  /** The keys that walks have read since the full check of the copy began. Null: no full check is under way. */
  #reached: Set<string> | null = null;
  #dailyAtMs = Number.NEGATIVE_INFINITY;
  #generation: number | null = null;
  #state: MirrorDocument['state'] = 'starting';

  constructor(options: MirrorOptions) {
    const defaults = { progress: SILENT, pageSizes: DEFAULT_PAGE_SIZES, partEntries: EXPORT_PART_ENTRIES };
    this.#options = { ...defaults, ...options };
    this.#copy = new MirrorCopy(options.folder.objects, options.maxBytes);
  }

  /** Call it first: it reads the state that earlier processes have left. */
  async open(): Promise<void> {
    if (hasForkEvidence(this.#options.folder)) this.#state = 'forked';
    await this.#copy.count();
    this.#generation = await this.#copy.generation();
  }

  /** Whether the copy is complete. */
  get isComplete(): boolean {
    return this.#generation !== null;
  }

  /** Whether the log has contradicted itself. Then nothing more is copied. */
  get isForked(): boolean {
    return this.#state === 'forked';
  }

  /** Runs one round. Rejects as {@link copyOnce} does; then the earlier copy stays valid. */
  async follow(): Promise<RoundReport> {
    const { folder, nowMs, signal } = this.#options;
    try {
      const report = await this.#follow();
      this.#state = report.state;
      return report;
    } catch (error) {
      // An aborted round says nothing about the state of the service.
      signal?.throwIfAborted();
      this.#state = error instanceof UpstreamUnavailable ? 'unreachable' : 'faulty';
      if (error instanceof UpstreamForked) {
        this.#state = 'forked';
        keepForkEvidence(folder, error, new Date(nowMs()).toISOString());
      }
      throw await this.#explained(error);
    }
  }

  async #follow(): Promise<RoundReport> {
    const { folder, upstream, nowMs, signal, progress } = this.#options;
    if (nowMs() - this.#fullAtMs >= FULL_EVERY_MS) await this.#forget();
    const isFull = this.#reached !== null;
    const reached = this.#reached ?? new Set();
    const askedAtMs = nowMs();
    this.#log ??= await this.#openLog();
    const [copy, log, proven] = [this.#copy, this.#log, this.#proven];
    const stage = new Stage({ upstream, copy, folder: folder.path, reached, signal });
    const world: MirrorWorld = { ...this.#options, stage, copy, log, proven };
    try {
      const report = await copyOnce(world, isFull);
      this.#generation = await copy.generation();
      folder.state = { ...folder.state, log: log.state };
      folder.save();
      let daily: DailyReport = { isRight: true, findings: [], full: null };
      if (nowMs() - this.#dailyAtMs >= DAILY_EVERY_MS) {
        daily = await copyDaily(world, isFull);
        if (daily.isRight) this.#dailyAtMs = nowMs();
      }
      if (report.state === 'current' && daily.isRight) {
        folder.state = { ...folder.state, lastSuccessAt: new Date(askedAtMs).toISOString() };
        folder.save();
      }
      // Only the sweep makes room, so it runs although the daily files do not fit.
      if (isFull && report.isListWhole && daily.isRight) await this.#sweep(reached, log.state, daily.full === null);
      if (daily.full !== null) throw daily.full;
      if (daily.isRight) return report;
      const findings = [...report.findings, ...daily.findings];
      return { ...report, findings, state: findings.length > 0 ? 'faulty' : 'behind' };
    } finally {
      progress.clear();
      await stage.close();
    }
  }

  /** @throws UpstreamInvalid for a service without a log, because its files cannot be proven */
  async #openLog(): Promise<MirrorLog> {
    const { folder, upstream, logKeys, onTrusted } = this.#options;
    const { checkpoint, vkeys: known } = folder.state.log ?? { checkpoint: null, vkeys: [] };
    let vkeys = [...new Set([...known, ...logKeys])];
    if (vkeys.length === 0) {
      // The first key is trusted, as a browser trusts the first key of a host: later keys must be announced in the log.
      vkeys = [...(await shownKeys(upstream))];
      for (const vkey of vkeys) onTrusted(vkey);
    }
    return new MirrorLog({ checkpoint, vkeys }, normalised(upstream));
  }

  /** A service with a new data folder may break any promise first. Its new keys explain the fault, so the error names them. */
  async #explained(error: unknown): Promise<unknown> {
    const followed = this.#log?.state.vkeys;
    if (!(error instanceof UpstreamInvalid) || followed === undefined) return error;
    const shown = await shownKeys(this.#options.upstream).catch(() => []);
    if (shown.length === 0 || shown.some((vkey) => followed.includes(vkey))) return error;
    const [now, before] = [shown, followed].map((vkeys) => vkeys.map(nameOfKey).join(' and '));
    return new UpstreamInvalid(
      `${error.message}. The service names the key ${now} of its log, and this copy follows ${before}. If its operator has begun a new log on purpose, mirror it into another folder. Otherwise it is an alarm: somebody else may answer there`,
      { cause: error },
    );
  }

  /** Makes the next round read the folder again, because a body may be damaged or missing. */
  async #forget(): Promise<void> {
    this.#proven.clear();
    this.#reached = new Set();
    this.#fullAtMs = this.#options.nowMs();
    this.#dailyAtMs = Number.NEGATIVE_INFINITY;
    await this.#putSite();
  }

  async #sweep(reached: ReadonlySet<string>, log: MirrorLogState, isDailyRead: boolean): Promise<void> {
    const { folder, nowMs, site } = this.#options;
    const logSize = checkpointOf(log)?.size ?? 0;
    const options = { reached, isDailyRead, logSize, siteFiles: site.files, nowMs: nowMs() };
    const unreached = await sweepCopy(this.#copy, folder.state.unreached ?? {}, options);
    folder.state = { ...folder.state, unreached };
    folder.save();
    this.#reached = null;
  }

  /**
   * Puts the pages of the mirror's own version. The service's pages would be unverified scripts, and readers of the mirror
   * would run them.
   */
  async #putSite(): Promise<void> {
    const { site } = this.#options;
    for (const file of Object.keys(site.files)) {
      const name = siteObject(file);
      const body = bytesOfBody(await site.read(file), PUBLIC_OBJECTS[name.kind].contentType);
      await this.#copy.put(name, body);
    }
  }

  get document(): MirrorDocument {
    const { folder, nowMs } = this.#options;
    const { lastSuccessAt, url } = folder.state;
    // A mirror that starts after a fork opens no log, so the stored state is shown.
    const log = this.#log?.state ?? folder.state.log;
    const checkpoint = log && checkpointOf(log);
    return {
      of: url.replace(/\/$/, ''),
      generation: this.#generation,
      ageSeconds: lastSuccessAt === null ? null : Math.max(0, Math.floor((nowMs() - Date.parse(lastSuccessAt)) / 1000)),
      log: checkpoint && { origin: checkpoint.origin, size: checkpoint.size },
      state: this.#state,
    };
  }
}

/** The keys that the service names. @throws UpstreamInvalid if it names none */
async function shownKeys(upstream: PublicReader): Promise<readonly string[]> {
  try {
    return keysOf(await new LogFiles(normalised(upstream)).vkeys(), VKEY_URL).map(({ vkey }) => vkey);
  } catch (cause) {
    if (!(cause instanceof LogFileError)) throw cause;
    const isMissing = cause.rule === 'status';
    const why = isMissing ? 'the service has no signed log, so nothing proves its files' : cause.message;
    throw new UpstreamInvalid(`GET ${VKEY_URL}: ${why}`, { cause });
  }
}
