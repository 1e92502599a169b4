/** Checks a whole batch before any of it is applied: finds the faults of its rows, and the result of the other rows. */

import { pMapIterable } from 'p-map';
import type { FeedAuthority } from '../../contract/files/feed-authority.ts';
import type { IngestMode } from '../../contract/ingest/ingest-records.ts';
import type { Change, LedgerReader } from '../../storage/ports/ledger.ts';
import { observationKey } from '../../storage/records/markets.ts';
import { decideInParts } from './decide.ts';
import type { MarketDecision } from './market-decision.ts';
import { type MarketItems, type MarketState, readMarketItems, readMarkets } from './read-markets.ts';
import { groupByMarket, orderOfRow, type Row, slugOf } from './rows.ts';
import {
  checkRows,
  neverYield,
  parseRows,
  type RowFault,
  type RowRules,
  type YieldToEventLoop,
} from './rules/check-rows.ts';
import { readNeighbours } from './rules/neighbours.ts';
import { unchangedMarket } from './rules/standing.ts';
import { faultsOf } from './tally.ts';

/** Late rows cost reads, one after the other in each market. So several markets are examined at the same time. */
const MARKETS_AT_ONCE = 16;

/** A market's rows with the state for their decision, and their transactions. */
export interface PlannedMarket {
  readonly state: MarketState;
  readonly parts: readonly MarketDecision[];
}

export interface Examination {
  /** The faults of every refused row, in order of the rows; at least one of each row. */
  readonly faults: readonly RowFault[];
  /** The markets without refused rows, in the order of `groupByMarket`. */
  readonly markets: readonly PlannedMarket[];
  /**
   * They are fulfilled if the refused rows were judged on the current ledger, and not on an older state that was still visible.
   */
  readonly checks: readonly Change[];
}

/**
 * Finds every fault that the current ledger shows, including outliers. When the batch is applied, only later changes by other
 * writers can refuse a row.
 */
export async function examineBatch(
  ledger: LedgerReader,
  inputs: readonly unknown[],
  { nowMs, sentAtMs, maxChanges, yieldToEventLoop = neverYield, markets: known, ...options }: ExamineOptions,
): Promise<Examination> {
  const parsed = await parseRows(inputs, yieldToEventLoop);
  const slugs = parsed.rows.map(({ record }) => slugOf(record));
  const items = known ?? (await readMarketItems(ledger, slugs));
  const rules = { nowMs, sentAtMs, mode: options.mode, authority: options.authority };
  const checked = await checkRows(parsed.rows, items, rules, yieldToEventLoop);
  const faults = [...parsed.faults, ...checked.faults];
  const accepted = new Set(checked.rows);
  const judged = new Set(parsed.rows.filter((row) => !accepted.has(row)).map(({ record }) => slugOf(record)));
  const checks: Change[] = [];
  const markets: PlannedMarket[] = [];
  const states = await readMarkets(ledger, groupByMarket(checked.rows), items);
  const read = async (state: MarketState) => ({
    state,
    neighbours: await readNeighbours(ledger, state, options.mode),
  });
  for await (const { state, neighbours } of pMapIterable(states, read, { concurrency: MARKETS_AT_ONCE })) {
    await yieldToEventLoop();
    let parts = decideInParts({ ...state, ...options, neighbours }, maxChanges);
    let refused = parts.flatMap(faultsOf);
    if (!neighbours.areAll && refused.some(({ code }) => code === 'outlier')) {
      const all = await readNeighbours(ledger, state, options.mode, true);
      parts = decideInParts({ ...state, ...options, neighbours: all }, maxChanges);
      refused = parts.flatMap(faultsOf);
    }
    if (refused.length === 0) {
      markets.push({ state, parts });
      continue;
    }
    faults.push(...refused);
    const aside = new Set(refused.map(({ index }) => index));
    judged.add(state.slug);
    checks.push(...state.rows.filter(({ index }) => aside.has(index)).flatMap((row) => newestOf(state, row)));
    const rows = state.rows.filter(({ index }) => !aside.has(index));
    if (rows.length > 0) markets.push(planMarketParts({ ...state, rows }, { ...options, maxChanges }));
  }
  checks.push(...[...judged].map((slug) => unchangedMarket(slug, items.get(slug) ?? null)));
  return { faults: faults.sort((left, right) => left.index - right.index), markets, checks };
}

export interface ExamineOptions extends DecideOptions, Pick<RowRules, 'nowMs' | 'sentAtMs'> {
  /** Default: no other task has to run. */
  readonly yieldToEventLoop?: YieldToEventLoop | undefined;
  /** The records of its markets, if they have been read already. */
  readonly markets?: MarketItems | undefined;
}

/** A check that no later version exists than the one on which the row was judged. */
function newestOf({ slug, known }: MarketState, { record, order }: Row): readonly Change[] {
  if (order === null || record.type === 'market') return [];
  const newest = known.get(order);
  const next = newest === undefined ? order : orderOfRow(record, newest.ordinal + 1);
  return [{ kind: 'check', key: observationKey(slug, next), if: { kind: 'absent' } }];
}

export interface DecideOptions {
  readonly mode: IngestMode;
  /** Default: the feed may send every record. */
  readonly authority?: FeedAuthority | undefined;
  /** RFC 3339. */
  readonly recordedAt: string;
  /** The limit for one transaction. */
  readonly maxChanges: number;
}

/** Decides the rows without faults. Outliers are not searched again. */
export function planMarketParts(state: MarketState, { maxChanges, ...options }: DecideOptions): PlannedMarket {
  return { state, parts: decideInParts({ ...state, ...options }, maxChanges) };
}
