/**
 * Reads a service from several hosts: the service itself and its mirrors. Trusts the key of its log, not the hosts. For
 * browsers and Node, without dependencies; docs/reading.md has an example.
 */
import { historyUrl } from '../../contract/files/routes.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { provenRow } from './proven-row.ts';
import { baseUrl, below, PublicFiles } from './public-files.ts';
import { decodedText, Requests } from './requests.ts';
import { importLogKey, LogVerificationError, type ProvenEntry, SignedLog, type VerifyingKey } from './signed-log.ts';
import { THIS_SYSTEM } from './system.ts';
import { TidemarkError } from './tidemark-error.ts';

export interface ReaderOptions {
  /** E.g. `https://data.example`: the service and its mirrors, in the order in which they are asked. */
  readonly hosts: readonly string[];
  /** The verifier keys of the log, as the operator tells them. Without one, nothing can be proven. */
  readonly vkeys?: readonly string[];
  /** A mirror whose copy is older is passed over. Default: 300. */
  readonly maxAgeSeconds?: number;
  /** For one answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Milliseconds since the epoch: `Date.now`. */
  readonly nowMs: () => number;
  readonly fetch?: typeof fetch;
}

/** An answer below 500, and the host that gave it. */
export interface HostAnswer {
  readonly host: string;
  readonly status: number;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface ProvenObservation extends ProvenEntry {
  /** The row of the history; its values are those of the entry. */
  readonly row: PublicObservation;
  readonly host: string;
  /** The log that has the entry, and its size at the time. */
  readonly log: { readonly origin: string; readonly size: number };
}

/** No host gave what was asked for. The message names each of them with the reason. */
export class NoHostError extends Error {
  override readonly name = 'NoHostError';
}

/** The host cannot be used now. */
class HostUnavailable extends Error {}

interface Source {
  readonly host: string;
  readonly cache: 'default' | 'reload';
}

const GET = { method: 'GET', signal: undefined } as const;
const isAnswer = (status: number): boolean => status < 500 && status !== 429;

/** A mirror is asked for its age so often. */
const AGE_CHECKED_MS = 60_000;

export class TidemarkReader {
  readonly #options: ReaderOptions;
  readonly #requests: Requests;
  readonly #checkedAtMs = new Map<string, number>();
  #keys: Promise<readonly VerifyingKey[]> | null = null;
  /** Hosts that showed something else than what is signed, with the reason. They are not asked any more. */
  readonly refused = new Map<string, string>();

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { timeoutMs = 10_000, nowMs, fetch: ask = THIS_SYSTEM.fetch } = options;
    const system = { ...THIS_SYSTEM, nowMs, fetch: ask };
    // The next host is the next try.
    this.#requests = new Requests({ timeoutMs, patienceMs: 0, bodies: null, redirect: 'error', system });
  }

  /** GETs e.g. `/api/v1/markets/gold-usd` from the first host that can answer. Proves nothing. @throws NoHostError */
  async get(path: string): Promise<HostAnswer> {
    return await this.#fromAny((host) => this.#ask({ host, cache: 'default' }, path));
  }

  /**
   * Reads a row of the newest page of a history, and proves it: a host whose row is not in the signed log with the same
   * values is refused, and the next one is asked.
   *
   * Proven are all members of the entry, and `decimal`. Not proven: that no later entry replaces it.
   *
   * @param choose default: the newest row
   * @throws NoHostError
   */
  async provenObservation(
    slug: string,
    choose: (rows: readonly PublicObservation[]) => PublicObservation | undefined = ([first]) => first,
  ): Promise<ProvenObservation> {
    const keys = await this.#logKeys();
    return await this.#fromAny(async (host) => {
      const read = (cache: Source['cache']) => this.#proven({ host, cache }, slug, choose, keys);
      try {
        return await read('default');
      } catch (error) {
        if (!(error instanceof LogVerificationError)) throw error;
        // Hashes may be in this browser's cache from another log of this host.
        return await read('reload');
      }
    });
  }

  async #proven(
    from: Source,
    slug: string,
    choose: (rows: readonly PublicObservation[]) => PublicObservation | undefined,
    keys: readonly VerifyingKey[],
  ): Promise<ProvenObservation> {
    const text = async (url: URL) => decodedText((await this.#requests.send({ ...GET, url, cache: from.cache })).body);
    const files = new PublicFiles(baseUrl(from.host, 'hosts'), text);
    const path = historyUrl(slug);
    const { data } = await files.page<PublicObservation>(path).catch((cause) => unavailable(cause, path));
    const row = choose(data.filter(isRow));
    if (row === undefined) throw new HostUnavailable('has no such row');
    const log = await SignedLog.open(async (path) => (await this.#found(from, `/api/v1/log/${path}`)).body, keys);
    const proven = await provenRow(log, slug, row, this.#options.nowMs());
    if (proven === null) throw new HostUnavailable('has a row that is newer than its log: ask again soon');
    const { origin, size } = log.checkpoint;
    return { row, host: from.host, ...proven, log: { origin, size } };
  }

  async #fromAny<Value>(read: (host: string) => Promise<Value>): Promise<Value> {
    const reasons: string[] = [];
    for (const host of this.#options.hosts) {
      const refusal = this.refused.get(host);
      try {
        if (refusal !== undefined) throw new HostUnavailable(`is refused: ${refusal}`);
        await this.#assertNotOld(host);
        return await read(host);
      } catch (error) {
        if (error instanceof LogVerificationError) this.refused.set(host, error.message);
        else if (!(error instanceof HostUnavailable)) throw error;
        reasons.push(`${host} ${error.message}`);
      }
    }
    throw new NoHostError(`no host can be read: ${reasons.join('; ')}`);
  }

  /** The service itself has no such document. */
  async #assertNotOld(host: string): Promise<void> {
    const { maxAgeSeconds = 300 } = this.#options;
    if (this.#options.nowMs() - (this.#checkedAtMs.get(host) ?? Number.NEGATIVE_INFINITY) < AGE_CHECKED_MS) return;
    const { status, body } = await this.#ask({ host, cache: 'default' }, '/api/v1/mirror');
    if (status === 200) {
      const { ageSeconds, state } = objectOf(body);
      if (state === 'forked') throw new HostUnavailable('is a mirror of a forked log');
      if (typeof ageSeconds !== 'number' || ageSeconds < 0) throw new HostUnavailable('is a mirror of unknown age');
      if (ageSeconds > maxAgeSeconds) {
        throw new HostUnavailable(`is a mirror that is ${ageSeconds} s old, and ${maxAgeSeconds} s are allowed`);
      }
    }
    this.#checkedAtMs.set(host, this.#options.nowMs());
  }

  async #found(from: Source, path: string): Promise<HostAnswer> {
    const answer = await this.#ask(from, path);
    if (answer.status !== 200) throw new HostUnavailable(`answered ${answer.status} to ${path}`);
    return answer;
  }

  async #ask({ host, cache }: Source, path: string): Promise<HostAnswer> {
    const request = { ...GET, url: below(baseUrl(host, 'hosts'), path), cache, accepts: isAnswer };
    const { status, body } = await this.#requests.send(request).catch((cause) => unavailable(cause, path));
    return { host, status, body };
  }

  async #logKeys(): Promise<readonly VerifyingKey[]> {
    const { vkeys = [] } = this.#options;
    if (vkeys.length === 0) throw new RangeError('a proof needs vkeys, the keys of the log');
    this.#keys ??= Promise.all(vkeys.map(importLogKey));
    return await this.#keys;
  }
}

function objectOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new HostUnavailable('gave an answer that is no JSON');
  }
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new HostUnavailable('gave an answer that is no JSON object');
}

/** Whether a row names itself. */
function isRow(row: PublicObservation | null): boolean {
  const texts = [row?.id, row?.metric, row?.kind, row?.observedAt, row?.recordedAt];
  return texts.every((text) => typeof text === 'string') && !Number.isNaN(Date.parse(row?.recordedAt as string));
}

function unavailable(cause: unknown, path: string): never {
  if (!(cause instanceof TidemarkError)) throw cause;
  const { status } = cause;
  const said = status === null ? 'gave no answer' : status === 200 ? 'gave no page' : `answered ${status}`;
  throw new HostUnavailable(`${said} to ${path}`, { cause });
}
