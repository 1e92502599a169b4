/**
 * Commits decided markets, transaction by transaction. A market's rows, its record and its mark are in one transaction, so
 * nothing is stored without a mark. Small markets share a transaction; a market with many rows takes several, in order.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { contendedOn } from '../worker/contended.ts';
import { type DecideOptions, type PlannedMarket, planMarketParts } from './examine-batch.ts';
import type { MarketDecision } from './market-decision.ts';
import { readMarkets } from './read-markets.ts';
import { textsIn } from './record-size.ts';

export interface CommitMarketsDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Ledger;
}

/** The progress in a list of markets: whole markets, and rows of the next one. */
export interface Position {
  readonly marketsDone: number;
  readonly rowsDone: number;
}

/** The content of one transaction. */
export interface Part {
  readonly decisions: readonly MarketDecision[];
  /** The position after its commit. */
  readonly position: Position;
}

/**
 * Records progress in the same transaction as the part. Returns changes to commit with the part, and a callback for after the
 * commit. A refusal of one of these changes means that another worker has made progress.
 */
export type Journal = (part: Part) => { readonly changes: readonly Change[]; readonly committed: () => void };

/**
 * Markets share a transaction while they have at most this many sources, metrics and observations together. With
 * every text at its longest and escaped, one of them takes 20 KB, and the ledger's limit is 4 MiB.
 */
const MAX_SHARED_TEXTS = 175;

/** The limit of decisions on a market while other writers keep changing it. */
export const DECISIONS_AT_MOST = 10;

/**
 * Commits every part of every market, and reports to the journal. `overtaken` means that another worker has changed the
 * journal: the items that this worker has read are out of date.
 *
 * @throws StorageUnavailable if storage fails: earlier commits stay
 * @throws Contended if other writers kept changing the markets: earlier commits stay
 */
export async function commitMarkets(
  { ledger, newAttemptId }: CommitMarketsDependencies,
  markets: readonly PlannedMarket[],
  { from, ...options }: DecideOptions & { readonly from: Position },
  journal: Journal,
): Promise<'done' | 'overtaken'> {
  const queue = [...markets];
  let { marketsDone, rowsDone } = from;
  // Contended markets are committed one by one, so that they do not delay each other.
  let contended = 0;
  let tries = 0;
  while (queue.length > 0) {
    const taken = takeMarkets(queue, options.maxChanges, contended > 0);
    const decisions = taken.flatMap(({ parts }) => parts.slice(0, 1));
    const [left] = taken.slice(-1).flatMap(withoutFirstPart);
    const position = left
      ? { marketsDone, rowsDone: rowsDone + (decisions[0]?.outcomes.size ?? 0) }
      : { marketsDone: marketsDone + taken.length, rowsDone: 0 };
    const entry = journal({ decisions, position });
    const changes = [...entry.changes, ...decisions.flatMap((decision) => decision.changes)];
    const result = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (result.committed) {
      entry.committed();
      queue.splice(0, taken.length, ...(left === undefined ? [] : [left]));
      contended = Math.max(0, contended - (left === undefined ? taken.length : 0));
      ({ marketsDone, rowsDone } = position);
      tries = 0;
      continue;
    }
    if (result.refusals.some(({ index }) => index < entry.changes.length)) return 'overtaken';
    const states = taken.map(({ state }) => state);
    if (++tries === DECISIONS_AT_MOST)
      throw contendedOn(states.map(({ slug }) => slug).join(', '), changes, result.refusals);
    const read = await readMarkets(ledger, states);
    queue.splice(0, taken.length, ...read.map((state) => planMarketParts(state, options)));
    contended = Math.max(contended, taken.length);
  }
  return 'done';
}

/** All of these markets in one transaction; null if they do not fit. */
export function asOneTransaction(
  markets: readonly PlannedMarket[],
  maxChanges: number,
): readonly MarketDecision[] | null {
  const decisions = markets.flatMap(({ parts }) => parts);
  const fits = decisions.length === markets.length && takeMarkets(markets, maxChanges, false).length === markets.length;
  return fits ? decisions : null;
}

/**
 * The markets at the head of the queue that share the next transaction. A market that takes several transactions does
 * not share.
 */
function takeMarkets(queue: readonly PlannedMarket[], maxChanges: number, alone: boolean): readonly PlannedMarket[] {
  let count = 0;
  let changes = 0;
  let texts = 0;
  for (const { parts } of queue) {
    const [part] = parts;
    // Each market after the first also needs an audit record.
    changes += (part?.changes.length ?? 0) + (count > 0 && part?.record ? 1 : 0);
    texts += textsOf(part);
    const fits = changes <= maxChanges && texts <= MAX_SHARED_TEXTS && parts.length === 1 && !alone;
    if (count > 0 && !fits) break;
    count++;
    if (!fits) break;
  }
  return queue.slice(0, count);
}

/** The market without its first part; empty if that was its only part. */
function withoutFirstPart({ state, parts: [first, ...parts] }: PlannedMarket): readonly PlannedMarket[] {
  if (first === undefined || parts.length === 0) return [];
  return [{ state: { ...state, rows: state.rows.slice(first.outcomes.size) }, parts }];
}

function textsOf(decision: MarketDecision | undefined): number {
  if (decision?.record == null) return 0;
  return decision.changes.length + textsIn(decision.record.value);
}
