/**
 * Takes a batch of ingest records into the ledger. The worker of the write API and the first start of the embedded
 * server both come through here.
 *
 * A batch that died anywhere is applied again: rows that are in already are `unchanged`. One exception is the caller's to
 * keep: a batch that corrects must not come again once a later one has corrected the same observations, because it would
 * be taken for a correction back. Whoever delivers batches remembers which are done.
 *
 * A market's rows, its record and its dirty mark are one transaction, so nothing is taken in without being due for
 * publication.
 */
import type { RowError } from '../../contract/ingest-records.ts';
import { type Change, type Ledger, MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import { checkRows } from './check-rows.ts';
import { decideMarket, type IngestMode, type MarketDecision, type RowOutcome } from './decide.ts';
import { groupByMarket, type MarketRows, type MarketState, readMarkets } from './read-markets.ts';

export interface IngestDependencies {
  readonly ledger: Ledger;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Unique per call, also across processes. */
  readonly newAttemptId: () => string;
}

export interface IngestOptions {
  readonly mode: IngestMode;
  /** Sets refused rows aside and takes in the others; otherwise one refused row refuses the batch. */
  readonly partial: boolean;
  /** Reports what would happen, and writes nothing. */
  readonly dryRun: boolean;
}

/** A fault of one row, by the row's place in the batch. */
export interface RowFault extends RowError {
  readonly index: number;
}

export interface IngestReport {
  /** Whether the rows that were not refused are in the ledger. If not, the rest tells what would have come of them. */
  readonly taken: boolean;
  readonly accepted: number;
  readonly unchanged: number;
  /** Every fault of every refused row, in order of the rows. */
  readonly faults: readonly RowFault[];
  /** Slugs of the markets that changed, in order. */
  readonly markets: readonly string[];
}

/**
 * Markets share a transaction up to this many characters of JSON: far below the ledger's 4 MiB, for whose sake alone a
 * batch of markets with long records must not fail.
 */
const MAX_SHARED_CHARACTERS = 500_000;

/** Rows of one market that surely fit one transaction: two changes each, and four for the market. */
const ROWS_PER_TRANSACTION = (MAX_TRANSACT_CHANGES - 4) / 2;

/** How often a market is read and decided again when other writers keep changing it. */
const MAX_TRIES = 10;

/**
 * Applies the batch. Rejects with `StorageUnavailable` when storage fails: what was committed until then stays, and
 * applying the same batch again completes it. All or nothing is decided on the ledger as it is read at the beginning:
 * a row that collides with what another writer takes in meanwhile is refused alone.
 */
export async function applyBatch(
  dependencies: IngestDependencies,
  inputs: readonly unknown[],
  options: IngestOptions,
): Promise<IngestReport> {
  const { rows, faults } = await checkRows(dependencies, inputs);
  const groups = groupByMarket(rows);
  const batch = new Batch(dependencies, options);
  for (const fault of faults) batch.faults.push(fault);

  const states = await readMarkets(dependencies.ledger, groups);
  const preview = states.map((state) => batch.decide(state));
  const conflicts = preview.some(({ outcomes }) => [...outcomes.values()].some(({ kind }) => kind === 'refused'));
  const refused = !options.partial && (faults.length > 0 || conflicts);
  if (refused || options.dryRun) {
    for (const decision of preview) batch.note(decision);
  } else {
    await batch.commit(states, preview);
  }
  return batch.report(!refused && !options.dryRun);
}

interface Pending {
  readonly state: MarketState;
  readonly decision: MarketDecision;
}

class Batch {
  readonly faults: RowFault[] = [];
  readonly #dependencies: IngestDependencies;
  readonly #options: IngestOptions;
  readonly #recordedAt: string;
  readonly #outcomes = new Map<number, RowOutcome>();
  readonly #markets = new Set<string>();

  constructor(dependencies: IngestDependencies, options: IngestOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#recordedAt = new Date(dependencies.nowMs()).toISOString();
  }

  decide(state: MarketState): MarketDecision {
    return decideMarket({ ...state, mode: this.#options.mode, recordedAt: this.#recordedAt });
  }

  /** Small markets share transactions; a market with many rows takes several, in order. */
  async commit(states: readonly MarketState[], decisions: readonly MarketDecision[]): Promise<void> {
    let shared: Pending[] = [];
    let sharedChanges = 0;
    let sharedCharacters = 0;
    for (const [index, state] of states.entries()) {
      const decision = decisions[index] as MarketDecision;
      const characters = JSON.stringify(decision.changes).length;
      if (decision.changes.length > MAX_TRANSACT_CHANGES) {
        for (const rows of chunks(state.rows, ROWS_PER_TRANSACTION)) await this.#commitOne({ slug: state.slug, rows });
        continue;
      }
      const fits =
        sharedChanges + decision.changes.length <= MAX_TRANSACT_CHANGES &&
        sharedCharacters + characters <= MAX_SHARED_CHARACTERS;
      if (!fits) {
        await this.#commitShared(shared);
        shared = [];
        sharedChanges = 0;
        sharedCharacters = 0;
      }
      shared.push({ state, decision });
      sharedChanges += decision.changes.length;
      sharedCharacters += characters;
    }
    await this.#commitShared(shared);
  }

  async #commitShared(shared: readonly Pending[]): Promise<void> {
    if (await this.#transact(shared.flatMap(({ decision }) => decision.changes))) {
      for (const { decision } of shared) this.note(decision);
      return;
    }
    for (const { state } of shared) await this.#commitOne(state);
  }

  /** Reads the market anew for each try: another writer may have been there. */
  async #commitOne(group: MarketRows): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [state] = await readMarkets(this.#dependencies.ledger, [group]);
      const decision = this.decide(state as MarketState);
      if (await this.#transact(decision.changes)) return this.note(decision);
    }
    throw new Error(
      `market ${group.slug} was changed by others during each of ${MAX_TRIES} tries: apply the batch again`,
    );
  }

  async #transact(changes: readonly Change[]): Promise<boolean> {
    if (changes.length === 0) return true;
    const { ledger, newAttemptId } = this.#dependencies;
    return (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
  }

  note({ slug, changes, outcomes }: MarketDecision): void {
    if (changes.length > 0) this.#markets.add(slug);
    for (const [index, outcome] of outcomes) {
      this.#outcomes.set(index, outcome);
      if (outcome.kind === 'refused') this.faults.push({ index, ...outcome.error });
    }
  }

  report(taken: boolean): IngestReport {
    const kinds = [...this.#outcomes.values()].map(({ kind }) => kind);
    return {
      taken,
      accepted: kinds.filter((kind) => kind === 'accepted').length,
      unchanged: kinds.filter((kind) => kind === 'unchanged').length,
      faults: this.faults.sort((left, right) => left.index - right.index),
      markets: [...this.#markets].sort(),
    };
  }
}

function chunks<Value>(values: readonly Value[], size: number): readonly (readonly Value[])[] {
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, index) => values.slice(index * size, (index + 1) * size));
}
