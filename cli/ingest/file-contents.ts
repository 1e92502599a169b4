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
  /** Digests of retractions. The file has their observations, but does not state them. */
  readonly #retractions = new Set<bigint>();
  /** By market: the metrics and sources of which the file must have all observations. */
  readonly #scopes = new Map<string, Set<string>>();

  /** Passes every record on, and stores its digest. */
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

  /** Whether the file must have this published observation: it has other ones of the same market, metric and source. */
  covers(market: string, observation: Identified): boolean {
    return this.#scopes.get(market)?.has(scopeOf(observation)) === true;
  }

  /** Whether the file must have this published observation, and does not. */
  lacks(market: string, observation: Identified): boolean {
    return this.covers(market, observation) && !this.#digests.has(digestOf(market, observation));
  }

  /** Whether the file states this observation, other than by a retraction. */
  states(market: string, observation: Identified): boolean {
    const digest = digestOf(market, observation);
    return this.#digests.has(digest) && !this.#retractions.has(digest);
  }

  /** Records with missing members are skipped: the service refuses them, so they cannot match a published observation. */
  #add(market: string, { metric, observedAt, sourceUrl, sourceLabel }: Partial<Identified>): void {
    if (![metric, observedAt, sourceUrl].every((text) => typeof text === 'string')) return;
    if (Number.isNaN(Date.parse(observedAt as string))) return;
    const identity = { metric, observedAt, sourceUrl, sourceLabel } as Identified;
    const digest = digestOf(market, identity);
    this.#digests.add(digest);
    // A retraction has no source label.
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
