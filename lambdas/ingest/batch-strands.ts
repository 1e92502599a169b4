/** The strands of an opened batch: shares of its markets that are committed concurrently. */
import { replaced, written } from '../../storage/ports/changes.ts';
import { MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { commitMarkets, type Journal } from '../markets/commit-markets.ts';
import type { PlannedMarket } from '../markets/examine-batch.ts';
import type { MarketRows } from '../markets/rows.ts';
import { addTotals, faultsOf, tallyOf } from '../markets/tally.ts';
import { batchAudits } from '../review/audit-changes.ts';
import { type BatchRun, decideOptions, type StrandItem } from './batch-changes.ts';
import { strandFaults } from './stored-faults.ts';

const STRANDS_AT_MOST = 16;

/** Markets differ in size, so some space stays free. Then each strand of a usual batch fits one transaction. */
const CHANGES_OF_STRAND = 0.75 * MAX_TRANSACT_CHANGES;

/** The number of strands for these markets. */
export function strandsFor(markets: readonly PlannedMarket[]): number {
  // Each part has an audit record.
  const changes = markets.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part.changes.length + 1, 0);
  return Math.min(Math.ceil(changes / CHANGES_OF_STRAND), markets.length, STRANDS_AT_MOST);
}

/** Distributes markets in order, one at a time, so that the same markets always give the same strands. */
export function shard<Market>(markets: readonly Market[], strands: number): Market[][] {
  const shares: Market[][] = Array.from({ length: strands }, () => []);
  for (const [index, market] of markets.entries()) shares[index % strands]?.push(market);
  return shares;
}

/** The unfinished markets of a strand; the first of them without its finished rows. */
export function leftOf(
  share: readonly MarketRows[],
  { value: { marketsDone, rowsDone } }: StrandItem,
): readonly MarketRows[] {
  const [first, ...others] = share.slice(marketsDone);
  return first === undefined ? [] : [{ ...first, rows: first.rows.slice(rowsDone) }, ...others];
}

/**
 * Applies the rest of a strand; returns its new state. Each transaction writes its next revision.
 *
 * @throws as commitMarkets does
 */
export async function runStrand(
  run: BatchRun,
  strand: StrandItem,
  number: number,
  markets: readonly PlannedMarket[],
): Promise<StrandItem | 'overtaken'> {
  let current = strand;
  const journal: Journal = ({ decisions, position }) => {
    const before = current.value;
    const { revisions, ...totals } = tallyOf(decisions);
    const faults = strandFaults(run, number, before.faultParts, decisions.flatMap(faultsOf));
    const moved = replaced(current, {
      ...position,
      ...addTotals(before, totals),
      faultParts: before.faultParts + faults.length,
      revisions: { ...before.revisions, ...revisions },
    });
    const committed = () => {
      current = written(moved);
    };
    const audits = batchAudits(
      run.batch,
      decisions.flatMap(({ changes }) => changes),
      run.startedAtMs,
    );
    return { changes: [moved, ...faults, ...audits], committed };
  };
  const outcome = await commitMarkets(run, markets, { ...decideOptions(run), from: strand.value }, journal);
  return outcome === 'done' ? current : outcome;
}
