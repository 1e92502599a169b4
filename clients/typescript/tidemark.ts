/** Reads a Tidemark service, and writes to it: for browsers and Node 20 or later, without dependencies. */

import type { PublicIncidents } from '../../contract/bodies/incidents.ts';
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import type { PublicSource } from '../../contract/bodies/public-sources.ts';
import type { RecentEntry } from '../../contract/bodies/recent-prices.ts';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { INCIDENTS_URL, marketUrl, RECENT_URL, SNAPSHOT_URL, SOURCES_URL } from '../../contract/files/routes.ts';
import type { BatchReport, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { type AsOf, AsOfReading } from './as-of.ts';
import {
  type AnyCall,
  type CallAnswer,
  type CallArguments,
  type Caller,
  type CallOf,
  callRoute,
  type RouteName,
} from './calls.ts';
import { type BodyStore, MemoryBodies } from './kept-bodies.ts';
import { type LogChange, type LogLines, logSize, readChanges } from './log-changes.ts';
import { beginOf, endOf, type Moment, pastMs } from './moments.ts';
import { provenRow } from './proven-row.ts';
import { baseUrl, below, PublicFiles, type TextReader } from './public-files.ts';
import { receiptOf } from './receipts.ts';
import { Requests, unexpected } from './requests.ts';
import type { Routes } from './routes.ts';
import { importLogKey, namedKeys, type ProvenEntry, SignedLog } from './signed-log.ts';
import { type System, THIS_SYSTEM } from './system.ts';
import { TidemarkError } from './tidemark-error.ts';
import { readLatest, walkHistory, walkMarkets } from './walks.ts';

export interface TidemarkOptions {
  /** E.g. `https://data.example`, or a folder of a static host: `https://user.github.io/data/`. */
  readonly url: string | URL;
  /** An API key. Only {@link Tidemark.call} and the calls for feeds send it. */
  readonly key?: string | undefined;
  /** The URL of the write API, if it differs from that of the public reads. */
  readonly writeUrl?: string | URL;
  /** The verifier keys of the log, from its operator. Without one, nothing can be proven. */
  readonly vkeys?: readonly string[];
  /** The time limit of one answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /** The longest total wait between the tries of one request. Default: 30,000. 0: no retries. */
  readonly patienceMs?: number;
  /** The store of unchanged bodies. Default: 16 million characters in memory. Null: none. */
  readonly bodies?: BodyStore | null;
  /** Clock, randomness and network: for tests, and for runtimes that have their own. */
  readonly system?: Partial<System>;
}

/** Ends a call early: the call rejects with the reason of the signal. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

export interface HistoryRange extends Abortable {
  /** The first `observedAt`. A date alone means the beginning of the day in UTC. */
  readonly from?: Moment;
  /** The last `observedAt`, inclusive. A date alone means the end of the day in UTC. */
  readonly to?: Moment;
  /** Only the rows that the service showed at this moment, which needs a time and must not be in the future. */
  readonly asOf?: Moment;
  /** With `asOf`: a version counts from its `releasedAt`, if that is known, instead of its `recordedAt`. */
  readonly byRelease?: boolean;
}

export interface ChangeRange extends Abortable {
  /** The index of the first entry. Default: 0, the beginning of the log. */
  readonly since?: number;
  /** Whether to wait for further entries without end, with a request every 15 seconds. Default: false. */
  readonly follow?: boolean;
}

export interface ProofOptions extends Abortable {
  /** The keys of the log for this proof. Default: those of the client. */
  readonly vkeys?: readonly string[];
  /** A signed checkpoint that was verified before: a log that does not begin with that one proves nothing. */
  readonly seen?: string | undefined;
}

/** The options of a batch; docs/openapi.json describes them. */
export type BatchOptions = Omit<Routes['POST /api/v1/ingest/batches']['body'], 'records'> &
  Pick<CallOf<'POST /api/v1/ingest/batches'>, 'idempotencyKey' | 'signal'>;

const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 5_000;
const LOG_PATH = '/api/v1/log/';

/**
 * A service. All calls reject with a {@link TidemarkError}, with a `RangeError` for an invalid argument, or with the reason of
 * their signal.
 */
export class Tidemark {
  readonly #url: URL;
  readonly #system: System;
  readonly #requests: Requests;
  readonly #caller: Caller;
  readonly #vkeys: readonly string[];

  constructor(options: TidemarkOptions) {
    const { url, writeUrl = url, key, timeoutMs = 10_000, patienceMs = 30_000, bodies, system } = options;
    this.#url = baseUrl(url, 'url');
    this.#vkeys = options.vkeys ?? [];
    this.#system = { ...THIS_SYSTEM, ...system };
    const kept = bodies === undefined ? new MemoryBodies() : bodies;
    this.#requests = new Requests({ timeoutMs, patienceMs, bodies: kept, system: this.#system });
    const { newKey } = this.#system;
    this.#caller = { url: baseUrl(writeUrl, 'writeUrl'), key: key ?? null, requests: this.#requests, newKey };
  }

  /** All markets, by slug. clients/typescript/walks.ts states the promises of a walk while markets change. */
  markets({ signal }: Abortable = {}): AsyncGenerator<Market> {
    return walkMarkets(this.#files(signal));
  }

  /** One market, with the newest value of each metric. */
  async market(slug: string, { signal }: Abortable = {}): Promise<Market> {
    return (await this.#files(signal).resource(marketUrl(encodeURIComponent(slug)))) as Market;
  }

  /** The newest price of every market, by slug. Not every service publishes it: then `not-found`. */
  async latest({ signal }: Abortable = {}): Promise<readonly LatestEntry[]> {
    return await readLatest(this.#files(signal));
  }

  /** The last 31 prices of every market, for small charts. Not every service publishes it: then `not-found`. */
  async recent({ signal }: Abortable = {}): Promise<readonly RecentEntry[]> {
    return await this.#list(RECENT_URL, signal);
  }

  /** The sources of all markets, and when each was fetched. Not every service publishes it: then `not-found`. */
  async sources({ signal }: Abortable = {}): Promise<readonly PublicSource[]> {
    return await this.#list(SOURCES_URL, signal);
  }

  /**
   * The times when publication or a source was late, newest first, and the beginning of these records. Not every service
   * publishes it: then `not-found`.
   */
  async incidents({ signal }: Abortable = {}): Promise<PublicIncidents> {
    return (await this.#files(signal).resource(INCIDENTS_URL)) as PublicIncidents;
  }

  /** The newest generation, and its time of publication. */
  async snapshot({ signal }: Abortable = {}): Promise<Snapshot> {
    return (await this.#files(signal).resource(SNAPSHOT_URL)) as Snapshot;
  }

  /**
   * The rows of a history, newest first: every version of every observation, or those of one moment.
   * clients/typescript/walks.ts states the promises of a walk while rows are added.
   */
  async *history(slug: string, range: HistoryRange = {}): AsyncGenerator<PublicObservation> {
    const { from, to, asOf, byRelease = false, signal } = range;
    if (byRelease && asOf === undefined) throw new RangeError('byRelease needs asOf, the moment');
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : beginOf(from, 'from');
    const toMs = to === undefined ? Number.POSITIVE_INFINITY : endOf(to, 'to');
    if (fromMs > toMs) throw new RangeError(`from is later than to: ${from}, ${to}`);
    const clock: AsOf['clock'] = byRelease ? 'released' : 'recorded';
    const atMs = asOf === undefined ? null : pastMs(asOf, 'asOf', this.#system.nowMs());
    const reading = atMs === null ? null : new AsOfReading({ atMs, clock });
    for await (const row of walkHistory(this.#files(signal), slug, fromMs, toMs)) {
      if (reading?.add(row) ?? true) yield row;
    }
  }

  /** The current number of entries in the log. */
  async logSize({ signal }: Abortable = {}): Promise<number> {
    return await logSize(this.#log(signal));
  }

  /** The keys that the host names for its log. Trusting them means trusting the host: take them from the operator instead. */
  async logKeys({ signal }: Abortable = {}): Promise<readonly string[]> {
    return await namedKeys(this.#log(signal).bytes);
  }

  /**
   * The entries of the log from `since` on, in order. Ends at the end of the log, or waits there with `follow`. Nothing is
   * verified: use `tidemark mirror` for that.
   */
  async *changes({ since = 0, follow = false, signal }: ChangeRange = {}): AsyncGenerator<LogChange> {
    if (!(Number.isSafeInteger(since) && since >= 0))
      throw new RangeError(`since is not an index of the log: ${since}`);
    const log = this.#log(signal);
    let [next, size] = [since, await logSize(log)];
    if (since > size) {
      // Another cache on the way may be older than the one with the last entry.
      await this.#system.sleep(FRESH_SECONDS * 1000, signal);
      size = await logSize(log);
    }
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

  /**
   * Calls any operation of the API, e.g. `call('POST /api/v1/claims', { body })`. A write gets an idempotency key, which is the
   * same for all its tries.
   */
  async call<Name extends RouteName>(route: Name, ...[call]: CallArguments<Name>): Promise<CallAnswer<Name>> {
    return (await callRoute(this.#caller, route, (call ?? {}) as AnyCall)) as CallAnswer<Name>;
  }

  /**
   * Sends at most 1,000 records. Resolves to the report of an accepted batch without any decisions yet: read the final report
   * with {@link waitForBatch}.
   */
  async ingest(records: readonly IngestRecordInput[], options: BatchOptions = {}): Promise<BatchReport> {
    const { signal, idempotencyKey, ...settings } = options;
    const more = { signal, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) };
    return (await this.call('POST /api/v1/ingest/batches', { body: { ...settings, records: [...records] }, ...more }))
      .body;
  }

  /** Reads the report of a batch until all its records are decided. */
  async waitForBatch(id: string, { signal }: Abortable = {}): Promise<BatchReport> {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 2)) {
      const { body } = await this.call('GET /api/v1/ingest/batches/{id}', { params: { id }, signal });
      if (body.finishedAt !== null) return body;
      await this.#system.sleep(pauseMs, signal);
    }
  }

  /**
   * Proves that the signed log has this row of a history, with the same values. It does not prove that no later entry replaces
   * it.
   *
   * @throws LogVerificationError if the log has other content, and a TidemarkError `not-in-log-yet` for a row of the last
   *   minutes
   */
  async prove(slug: string, row: PublicObservation, options: ProofOptions = {}): Promise<ProvenEntry> {
    return (await this.#proven(slug, row, options)).proven;
  }

  /** Proves a row as {@link prove} does. Resolves to a receipt: a file that proves the row without a network. */
  async receipt(slug: string, row: PublicObservation, options: ProofOptions = {}): Promise<string> {
    const { log, proven } = await this.#proven(slug, row, options);
    return await receiptOf(log, proven);
  }

  async #proven(slug: string, row: PublicObservation, { signal, seen, vkeys = this.#vkeys }: ProofOptions) {
    if (vkeys.length === 0) throw new RangeError('a proof needs vkeys, the keys of the log');
    const log = await SignedLog.open(this.#log(signal).bytes, await Promise.all(vkeys.map(importLogKey)));
    if (seen !== undefined) await log.continues(seen);
    const proven = await provenRow(log, slug, row, this.#system.nowMs());
    if (proven !== null) return { log, proven };
    const detail = `${row.id} is newer than the checkpoint of the log: ask again in a minute`;
    throw new TidemarkError('not-in-log-yet', { detail });
  }

  async #list<Entry>(path: string, signal: AbortSignal | undefined): Promise<readonly Entry[]> {
    const { data } = (await this.#files(signal).resource(path)) as { readonly data?: readonly Entry[] };
    if (Array.isArray(data)) return data;
    throw unexpected(below(this.#url, path), 'is not a list');
  }

  #files(signal: AbortSignal | undefined): PublicFiles {
    // Later pages are many and never change, so storing them would only fill the memory.
    const read: TextReader = (url, isLaterPage) => this.#requests[isLaterPage ? 'once' : 'text'](url, signal);
    return new PublicFiles(this.#url, read);
  }

  #log(signal: AbortSignal | undefined): LogLines {
    return {
      checkpoint: () => this.#requests.text(below(this.#url, `${LOG_PATH}checkpoint`), signal),
      bytes: (path) => this.#requests.bytes(below(this.#url, LOG_PATH + path), signal),
    };
  }
}
