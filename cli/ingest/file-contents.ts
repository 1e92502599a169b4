/** The observations of a file, 64 bits each: enough to find published observations that it lacks. */
import { createHash } from 'node:crypto';
import { millisecondInstant } from '../../contract/values/instants.ts';
import type { SourceFault, SourceRecord } from './source-records.ts';

/** The members that identify an observation of a market, and its source. */
export interface Identified {
  readonly metric: string;
  readonly observedAt: string;
  readonly sourceUrl: string;
  readonly sourceLabel: string;
}

export class FileContents {
  /** The first 64 bits of the digest of each identity. */
  readonly #digests = new Set<bigint>();
  /** Of retractions: what they name is in the file, and is not stated by it. */
  readonly #retractions = new Set<bigint>();
  /** By market: the metrics and sources of which the file is all there is. */
  readonly #scopes = new Map<string, Set<string>>();

  /** Passes everything on, and remembers it. */
  async *read(
    records: AsyncIterable<SourceRecord | SourceFault>,
  ): AsyncGenerator<SourceRecord | SourceFault, undefined, undefined> {
    for await (const record of records) {
      if (record.kind === 'record' && record.defines === null && record.market !== null) {
        this.#add(record.market, JSON.parse(record.text) as Partial<Identified>);
      }
      yield record;
    }
  }

  get markets(): readonly string[] {
    return [...this.#scopes.keys()];
  }

  /** Whether a published observation is of a metric and source that the file has of this market. */
  covers(market: string, observation: Identified): boolean {
    return this.#scopes.get(market)?.has(scopeOf(observation)) === true;
  }

  /** And not in it. */
  lacks(market: string, observation: Identified): boolean {
    return this.covers(market, observation) && !this.#digests.has(digestOf(market, observation));
  }

  /** Whether an observation of the file, and no retraction, is this one. */
  states(market: string, observation: Identified): boolean {
    const digest = digestOf(market, observation);
    return this.#digests.has(digest) && !this.#retractions.has(digest);
  }

  /** A record that the service refuses for its form names no published observation. */
  #add(market: string, { metric, observedAt, sourceUrl, sourceLabel }: Partial<Identified>): void {
    if (![metric, observedAt, sourceUrl].every((text) => typeof text === 'string')) return;
    if (Number.isNaN(Date.parse(observedAt as string))) return;
    const identity = { metric, observedAt, sourceUrl, sourceLabel } as Identified;
    const digest = digestOf(market, identity);
    this.#digests.add(digest);
    // A retraction names no source.
    if (typeof sourceLabel !== 'string') return void this.#retractions.add(digest);
    const scopes = this.#scopes.get(market) ?? new Set();
    this.#scopes.set(market, scopes.add(scopeOf(identity)));
  }
}

function scopeOf({ metric, sourceLabel }: Identified): string {
  return `${metric}\n${sourceLabel}`;
}

function digestOf(market: string, { metric, observedAt, sourceUrl }: Identified): bigint {
  const instant = millisecondInstant(observedAt.replace('+00:00', 'Z'));
  const digest = createHash('sha256').update(`${market}\n${metric}\n${instant}\n${sourceUrl}`).digest();
  return digest.readBigUInt64BE();
}
