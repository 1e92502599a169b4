/** Checks a batch's rows one by one and against each other, before anything is decided. */
import type { RowError } from '../../contract/ingest-records.ts';
import type { Item } from '../../storage/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import { checkObservation, type MarketTerms, parseRecord } from './row-rules.ts';
import { type Row, rowOf, slugOf } from './rows.ts';

/** One fault of one row, with the row's index in the batch. */
export interface RowFault extends RowError {
  readonly index: number;
}

export interface CheckedRows {
  /** The rows without a fault, in order. */
  readonly rows: readonly Row[];
  readonly faults: readonly RowFault[];
}

/** Parses every record, and finds every fault of records that cannot be parsed. */
export function parseRows(inputs: readonly unknown[]): CheckedRows {
  const faults: RowFault[] = [];
  const rows: Row[] = [];
  for (const [index, input] of inputs.entries()) {
    const result = parseRecord(input);
    if ('errors' in result) faults.push(...result.errors.map((error) => ({ index, ...error })));
    else rows.push(rowOf(index, result.record));
  }
  return { rows, faults };
}

/**
 * Finds every fault of every parsed row.
 *
 * @param markets the records of the rows' markets, by slug
 * @param nowMs milliseconds since the epoch
 */
export function checkRows(
  parsed: readonly Row[],
  markets: ReadonlyMap<string, Item<MarketRecordValue> | null>,
  nowMs: number,
): CheckedRows {
  const faults: RowFault[] = [];
  const terms = termsOf(parsed, markets);
  const seen = new Set<string>();
  const rows = parsed.filter((row) => {
    const found = faultsOf(row, terms, seen, nowMs);
    faults.push(...found);
    return found.length === 0;
  });
  return { rows, faults };
}

function faultsOf(
  { index, record, order }: Row,
  terms: ReadonlyMap<string, MarketTerms>,
  seen: Set<string>,
  nowMs: number,
): readonly RowFault[] {
  const faults: RowFault[] = [];
  const identity = order === null ? slugOf(record) : `${slugOf(record)}/${order}`;
  if (seen.has(identity)) {
    const detail = 'an earlier row of this batch is about the same observation or market: leave one of them out';
    faults.push({ index, pointer: '', code: 'duplicate.in-batch', detail });
  }
  seen.add(identity);
  if (record.type === 'market') return faults;
  const market = terms.get(record.market) ?? null;
  if (market === null) {
    const detail = `no market ${record.market}: define it with a market record, in this batch or an earlier one`;
    faults.push({ index, pointer: '/market', code: 'market.unknown', detail });
  }
  for (const error of checkObservation(record, market, nowMs)) faults.push({ index, ...error });
  return faults;
}

/**
 * Currencies and quantities by slug: from the batch's definition, else from the ledger. A market that has observations
 * keeps both. Of two definitions the first counts, because the second is refused as a duplicate.
 */
function termsOf(
  rows: readonly Row[],
  markets: ReadonlyMap<string, Item<MarketRecordValue> | null>,
): ReadonlyMap<string, MarketTerms> {
  const terms = new Map<string, MarketTerms>();
  const fixed = new Set<string>();
  for (const [slug, item] of markets) {
    if (item === null) continue;
    terms.set(slug, item.value);
    if (item.value.observations > 0) fixed.add(slug);
  }
  for (const { record } of rows) {
    if (record.type !== 'market' || fixed.has(record.slug)) continue;
    terms.set(record.slug, record);
    fixed.add(record.slug);
  }
  return terms;
}
