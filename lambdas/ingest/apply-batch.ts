/**
 * Takes a batch of ingest records into the ledger, without keeping how far it has come: the embedded server's first start
 * comes through here. The write API's batches are applied by `run-batch.ts`, through the same examination and commits.
 *
 * A batch that died anywhere is applied again: rows that are in already are `unchanged`. One exception is the caller's to
 * keep: a batch that corrects must not come again once a later one has corrected the same observations, because it would
 * be taken for a correction back.
 */

import type { IngestMode } from '../../contract/ingest-records.ts';
import { MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import type { Runtime } from '../../storage/runtime.ts';
import type { RowFault } from '../markets/check-rows.ts';
import { type CommitMarketsDependencies, commitMarkets, type Journal, START } from '../markets/commit-markets.ts';
import type { MarketDecision } from '../markets/decide.ts';
import { examineBatch } from '../markets/examine-batch.ts';
import { faultsOf, tallyOf } from '../markets/tally.ts';

export type IngestDependencies = CommitMarketsDependencies & Pick<Runtime, 'nowMs'>;

export interface IngestOptions {
  readonly mode: IngestMode;
  /** Sets refused rows aside and takes in the others; otherwise one refused row refuses the batch. */
  readonly partial: boolean;
  /** Reports what would happen, and writes nothing. */
  readonly dryRun: boolean;
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
 * Applies the batch. Rejects with `StorageUnavailable` when storage fails: what was committed until then stays, and
 * applying the same batch again completes it. All or nothing is decided on the ledger as it is read at the beginning:
 * a row that collides with what another writer takes in meanwhile is refused alone.
 */
export async function applyBatch(
  dependencies: IngestDependencies,
  inputs: readonly unknown[],
  { mode, partial, dryRun }: IngestOptions,
): Promise<IngestReport> {
  const nowMs = dependencies.nowMs();
  const options = { mode, recordedAt: new Date(nowMs).toISOString(), maxChanges: MAX_TRANSACT_CHANGES };
  const { faults, markets } = await examineBatch(dependencies.ledger, inputs, { ...options, nowMs });
  const refused = !partial && faults.length > 0;
  if (refused || dryRun) {
    return reportOf(
      false,
      markets.flatMap(({ parts }) => parts),
      faults,
    );
  }
  const done: MarketDecision[] = [];
  const journal: Journal = {
    entryOf: ({ decisions }) => ({ changes: [], committed: () => void done.push(...decisions) }),
  };
  await commitMarkets(dependencies, markets, { ...options, from: START }, journal);
  return reportOf(true, done, faults);
}

function reportOf(taken: boolean, decisions: readonly MarketDecision[], faults: readonly RowFault[]): IngestReport {
  const all = [...faults, ...decisions.flatMap(faultsOf)];
  return { taken, ...tallyOf(decisions), faults: all.sort((left, right) => left.index - right.index) };
}
