/** A mirror in its folder: rounds, sweeps, and its status document. */

import { EXPORT_PART_ENTRIES } from '../../contract/bodies/export-tables.ts';
import { LOG_ROOT, PUBLIC_OBJECTS } from '../../contract/files/public-objects.ts';
import { openCheckpoint, parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { nameOfKey, parseNote, verifierKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES, type PageSizes } from '../../publisher/dependencies.ts';
import { bytesOfBody } from '../../publisher/kernel/files/rendered.ts';
import { type Site, siteObject } from '../../publisher/site.ts';
import { CHECKPOINT_URL } from '../../publisher/verify/log/log-files.ts';
import type { ProvenMarket } from '../../publisher/verify/log/log-pass.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ProgressLine } from '../terminal/progress-line.ts';
import { MirrorCopy } from './copy.ts';
import type { MirrorDocument } from './mirror-document.ts';
import { hasForkEvidence, keepForkEvidence, type MirrorFolder } from './mirror-folder.ts';
import { MirrorLog, UpstreamForked } from './mirror-log.ts';
import { copyDaily, copyOnce, type MirrorWorld, type RoundReport } from './round.ts';
import { Stage } from './stage.ts';
import { countBytes, sweepCopy } from './sweep-copy.ts';

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

/** Daily files change once a day, and a small GET finds a new day: a check at this interval is enough. */
const DAILY_EVERY_MS = 10 * 60 * 1000;
const SILENT: ProgressLine = { at: () => {}, clear: () => {} };
/** At this interval, a round reads the whole copy again, and a sweep removes files that the walk did not reach. */
const FULL_EVERY_MS = 6 * 3600 * 1000;

export class Mirror {
  readonly #options: MirrorOptions;
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
    this.#options = options;
    this.#copy = new MirrorCopy(options.folder.objects, options.maxBytes);
  }

  /** Call it first: it reads the state that earlier processes have left. */
  async open(): Promise<void> {
    if (hasForkEvidence(this.#options.folder)) this.#state = 'forked';
    await countBytes(this.#copy);
    this.#generation = (await this.#copy.snapshot())?.value.generation ?? null;
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
      throw error;
    }
  }

  async #follow(): Promise<RoundReport> {
    const { folder, upstream, nowMs, pause, signal, pageSizes = DEFAULT_PAGE_SIZES } = this.#options;
    const { partEntries = EXPORT_PART_ENTRIES, progress = SILENT } = this.#options;
    if (nowMs() - this.#fullAtMs >= FULL_EVERY_MS) await this.#forget();
    const isFull = this.#reached !== null;
    const reached = this.#reached ?? new Set();
    const askedAtMs = nowMs();
    this.#log ??= await this.#openLog();
    const [copy, log, proven] = [this.#copy, this.#log, this.#proven];
    const isKept = (slug: string) => log.isLast(slug, proven.get(slug)?.lastIndex) === true;
    const stage = new Stage({ upstream, copy, folder: folder.path, isKept, reached, signal });
    const world: MirrorWorld = {
      stage,
      copy,
      log,
      proven,
      progress,
      pageSizes,
      partEntries,
      nowMs,
      pause,
    };
    try {
      const report = await copyOnce(world, isFull).catch(async (error: unknown) => {
        throw await this.#explained(error);
      });
      this.#generation = (await copy.snapshot())?.value.generation ?? null;
      const lastSuccessAt = report.state === 'current' ? new Date(askedAtMs).toISOString() : folder.state.lastSuccessAt;
      folder.state = { ...folder.state, lastSuccessAt, log: log.state };
      folder.save();
      let daily: Awaited<ReturnType<typeof copyDaily>> = { findings: [], isConfirmed: false };
      if (nowMs() - this.#dailyAtMs >= DAILY_EVERY_MS) {
        await stage.forget();
        daily = await copyDaily(world, isFull);
        if (daily.findings.length === 0) this.#dailyAtMs = nowMs();
      }
      const { findings, isConfirmed } = daily;
      if (isFull && report.isListWhole && findings.length === 0) await this.#sweep(reached);
      if (findings.length === 0) return report;
      const state = isConfirmed || report.state === 'faulty' ? 'faulty' : 'behind';
      return { ...report, state, findings: [...report.findings, ...(isConfirmed ? findings : [])] };
    } finally {
      progress.clear();
      await stage.close();
    }
  }

  /** @throws UpstreamInvalid for a service without a log, because its files cannot be proven */
  async #openLog(): Promise<MirrorLog> {
    const { folder, logKeys, onTrusted } = this.#options;
    const known = folder.state.log;
    const given = logKeys.filter((vkey) => known?.vkeys.includes(vkey) !== true);
    if (known !== null || given.length > 0)
      return new MirrorLog({ checkpoint: known?.checkpoint ?? null, vkeys: [...(known?.vkeys ?? []), ...given] });
    // The first key is trusted, as a browser trusts the first key of a host: later keys must be announced in the log.
    const vkeys = await this.#shownKeys();
    if (vkeys === null)
      throw new UpstreamInvalid(`GET ${LOG_ROOT}/vkey: the service has no signed log, so nothing proves its files`);
    for (const vkey of vkeys) onTrusted(vkey);
    return new MirrorLog({ vkeys, checkpoint: null });
  }

  /** A service with a new data folder may break any promise first. Its new keys explain the fault, so the error names them. */
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

  /** The keys that the service names; null: it has no log. @throws UpstreamInvalid for an answer that is not a list of keys */
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

  /** Makes the next round read the folder again, because a body may be damaged or missing. */
  async #forget(): Promise<void> {
    this.#proven.clear();
    this.#reached = new Set();
    this.#fullAtMs = this.#options.nowMs();
    this.#dailyAtMs = Number.NEGATIVE_INFINITY;
    await this.#putSite();
  }

  async #sweep(reached: ReadonlySet<string>): Promise<void> {
    const { folder, nowMs, site } = this.#options;
    const { status, body } = await this.#copy.reader(CHECKPOINT_URL);
    const copied = status === 200 ? parseCheckpoint(parseNote(Buffer.from(body).toString('utf8')).text).size : 0;
    const logSizes = [this.#log?.size ?? 0, copied];
    const options = { reached, logSizes, siteFiles: site.files, nowMs: nowMs() };
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
      await this.#copy.put(name, { body, generation: this.#generation ?? 0 });
    }
  }

  get document(): MirrorDocument {
    const { folder, nowMs } = this.#options;
    const { lastSuccessAt, url } = folder.state;
    // A mirror that starts after a fork opens no log, so the stored state is shown.
    const { checkpoint: note, vkeys } = this.#log?.state ?? folder.state.log ?? { checkpoint: null, vkeys: [] };
    const checkpoint = note === null ? null : openCheckpoint(note, vkeys.map(verifierKey));
    return {
      of: url.replace(/\/$/, ''),
      generation: this.#generation,
      ageSeconds: lastSuccessAt === null ? null : Math.max(0, Math.floor((nowMs() - Date.parse(lastSuccessAt)) / 1000)),
      log: checkpoint && { origin: checkpoint.origin, size: checkpoint.size },
      state: this.#state,
    };
  }
}
