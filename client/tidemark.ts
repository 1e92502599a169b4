/** Reads a Tidemark service: for browsers and Node 20 or later, without dependencies. */
import type { LatestEntry } from '../contract/latest-entries.ts';
import { FRESH_SECONDS } from '../contract/limits.ts';
import type { Market, Snapshot } from '../contract/market.ts';
import type { PublicObservation } from '../contract/metric.ts';
import type { RecentEntry } from '../contract/recent-prices.ts';
import { LATEST_URL, marketUrl, RECENT_URL, SNAPSHOT_URL } from '../contract/routes.ts';
import { type AsOf, AsOfReading } from './as-of.ts';
import { type BodyStore, MemoryBodies } from './kept-bodies.ts';
import { type LogChange, type LogLines, logSize, readChanges } from './log-changes.ts';
import { beginOf, endOf, type Moment, preciseMs } from './moments.ts';
import { parsedJson, Requests, unexpected } from './requests.ts';
import { type System, THIS_SYSTEM } from './system.ts';
import { TidemarkError } from './tidemark-error.ts';
import { type JsonReader, walkHistory, walkMarkets } from './walks.ts';

export interface TidemarkOptions {
  /** E.g. `https://data.example`. */
  readonly url: string | URL;
  /** For one answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /** For all waits between the tries of one request. Default: 30,000. 0: no request is tried again. */
  readonly patienceMs?: number;
  /** Where unchanged bodies are kept. Default: 16 million characters in memory. Null: nowhere. */
  readonly bodies?: BodyStore | null;
  /** Clock, chance and network: for tests, and for runtimes that have their own. */
  readonly system?: Partial<System>;
}

/** Ends a call early: it rejects with the reason of the signal. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

export interface HistoryRange extends Abortable {
  /** The first `observedAt`. A date alone is its beginning in UTC. */
  readonly from?: Moment;
  /** The last `observedAt`, included. A date alone is its end in UTC. */
  readonly to?: Moment;
  /** Only the rows that the service showed at this moment. It needs a time. */
  readonly asOf?: Moment;
  /** With `asOf`: a version counts from its `releasedAt`, where that is known, and not from its `recordedAt`. */
  readonly byRelease?: boolean;
}

export interface ChangeRange extends Abortable {
  /** The index of the first entry. Default: 0, the beginning of the log. */
  readonly since?: number;
  /** Whether to wait for further entries, for ever: it asks every 15 seconds. Default: false. */
  readonly follow?: boolean;
}

const LOG_PATH = '/api/v1/log/';

/**
 * A service. All calls reject with a {@link TidemarkError}, with a `RangeError` for an argument that cannot be, or with
 * the reason of their signal.
 */
export class Tidemark {
  readonly #url: URL;
  readonly #system: System;
  readonly #requests: Requests;

  constructor({ url, timeoutMs = 10_000, patienceMs = 30_000, bodies, system }: TidemarkOptions) {
    this.#url = new URL(url);
    this.#system = { ...THIS_SYSTEM, ...system };
    const kept = bodies === undefined ? new MemoryBodies() : bodies;
    this.#requests = new Requests({ timeoutMs, patienceMs, bodies: kept, system: this.#system });
  }

  /** All markets, by slug. client/walks.ts says what a walk promises while markets change. */
  markets({ signal }: Abortable = {}): AsyncGenerator<Market> {
    return walkMarkets(this.#reader(signal));
  }

  /** One market, with the newest value of each metric. */
  async market(slug: string, { signal }: Abortable = {}): Promise<Market> {
    return (await this.#reader(signal)(marketUrl(encodeURIComponent(slug)))) as Market;
  }

  /** The newest price of every market, by slug. Not every service publishes it: then `not-found`. */
  async latest({ signal }: Abortable = {}): Promise<readonly LatestEntry[]> {
    return await this.#list(LATEST_URL, signal);
  }

  /** The last 30 prices of every market, for small charts. Not every service publishes it: then `not-found`. */
  async recent({ signal }: Abortable = {}): Promise<readonly RecentEntry[]> {
    return await this.#list(RECENT_URL, signal);
  }

  /** The newest generation, and when it was published. */
  async snapshot({ signal }: Abortable = {}): Promise<Snapshot> {
    return (await this.#reader(signal)(SNAPSHOT_URL)) as Snapshot;
  }

  /**
   * The rows of a history, newest first: every version of every observation, or those of one moment. client/walks.ts says
   * what a walk promises while rows are added.
   */
  async *history(slug: string, range: HistoryRange = {}): AsyncGenerator<PublicObservation> {
    const { from, to, asOf, byRelease = false, signal } = range;
    if (byRelease && asOf === undefined) throw new RangeError('byRelease needs asOf, the moment');
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : beginOf(from, 'from');
    const toMs = to === undefined ? Number.POSITIVE_INFINITY : endOf(to, 'to');
    const clock: AsOf['clock'] = byRelease ? 'released' : 'recorded';
    const reading = asOf === undefined ? null : new AsOfReading({ atMs: preciseMs(asOf, 'asOf'), clock });
    for await (const row of walkHistory(this.#reader(signal), slug, fromMs, toMs)) {
      if (reading?.add(row) ?? true) yield row;
    }
  }

  /** The number of entries that the log has now. */
  async logSize({ signal }: Abortable = {}): Promise<number> {
    return await logSize(this.#log(signal));
  }

  /**
   * The entries of the log from `since` on, in order. Ends at the end of the log; with `follow` it waits there. Nothing is
   * verified: `tidemark mirror` does that.
   */
  async *changes({ since = 0, follow = false, signal }: ChangeRange = {}): AsyncGenerator<LogChange> {
    if (!(Number.isSafeInteger(since) && since >= 0)) throw new RangeError(`since is no index of the log: ${since}`);
    const log = this.#log(signal);
    let [next, size] = [since, await logSize(log)];
    if (since > size) {
      const detail = `the log has ${size} entries, and ${since} were read: a cache is minutes old, or it is another log`;
      throw new TidemarkError('log-shorter', { status: 200, detail });
    }
    for (;;) {
      for await (const change of readChanges(log, next, size)) {
        next = change.index + 1;
        yield change;
      }
      if (!follow) return;
      await this.#system.sleep(FRESH_SECONDS * 1000, signal);
      size = await logSize(log);
    }
  }

  async #list<Entry>(path: string, signal: AbortSignal | undefined): Promise<readonly Entry[]> {
    const { data } = (await this.#reader(signal)(path)) as { readonly data?: readonly Entry[] };
    if (Array.isArray(data)) return data;
    throw unexpected(new URL(path, this.#url), 'is no list');
  }

  #reader(signal: AbortSignal | undefined): JsonReader {
    return async (path) => {
      const url = new URL(path, this.#url);
      // Later pages are many and never change: to keep them would only fill the memory.
      const text = url.search === '' ? await this.#requests.text(url, signal) : await this.#requests.once(url, signal);
      const value = parsedJson(text, url);
      if (typeof value === 'object' && value !== null) return value;
      throw unexpected(url, 'is no JSON object');
    };
  }

  #log(signal: AbortSignal | undefined): LogLines {
    return {
      checkpoint: () => this.#requests.text(new URL(`${LOG_PATH}checkpoint`, this.#url), signal),
      bytes: (path) => this.#requests.bytes(new URL(LOG_PATH + path, this.#url), signal),
    };
  }
}
