/** Checks a batch's rows one by one and against each other, before anything is decided. */
import type { RowError } from '../../contract/ingest-records.ts';
import type { Item } from '../../storage/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import { type Row, rowOf } from './decide.ts';
import { slugOf } from './read-markets.ts';
import { checkObservation, parseRecord } from './row-rules.ts';

/** A fault of one row, by the row's place in the batch. */
export interface RowFault extends RowError {
  readonly index: number;
}

export interface CheckedRows {
  /** The rows without a fault, in order. */
  readonly rows: readonly Row[];
  readonly faults: readonly RowFault[];
}

/** Reads every record, and finds every fault of those that cannot be read. */
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
 * Finds every fault of every row that was read, not only the first.
 *
 * @param markets the records of the rows' markets, by slug
 * @param nowMs milliseconds since the epoch
 */
export function checkRows(
  parsed: readonly Row[],
  markets: ReadonlyMap<string, Item | null>,
  nowMs: number,
): CheckedRows {
  const faults: RowFault[] = [];
  const currencies = nativeCurrencies(parsed, markets);
  const seen = new Set<string>();
  const rows = parsed.filter((row) => {
    const found = faultsOf(row, currencies, seen, nowMs);
    faults.push(...found);
    return found.length === 0;
  });
  return { rows, faults };
}

function faultsOf(
  { index, record, order }: Row,
  currencies: ReadonlyMap<string, string>,
  seen: Set<string>,
  nowMs: number,
): readonly RowFault[] {
  const faults: RowFault[] = [];
  const identity = order === null ? slugOf(record) : `${slugOf(record)}/${order}`;
  if (seen.has(identity)) {
    const detail = 'an earlier row of this batch is about the same: leave one of them out';
    faults.push({ index, pointer: '', code: 'duplicate.in-batch', detail });
  }
  seen.add(identity);
  if (record.type === 'market') return faults;
  const nativeCurrency = currencies.get(record.market);
  if (nativeCurrency === undefined) {
    const detail = `no market ${record.market}: define it with a market record, in this batch or before`;
    faults.push({ index, pointer: '/market', code: 'market.unknown', detail });
  }
  const market = nativeCurrency === undefined ? null : { nativeCurrency };
  for (const error of checkObservation(record, market, nowMs)) faults.push({ index, ...error });
  return faults;
}

/**
 * By slug: as the batch defines it, else as the ledger knows it. A market that has observations keeps its currency,
 * whatever the batch says; of two definitions the first counts, since the other is refused as a duplicate.
 */
function nativeCurrencies(
  rows: readonly Row[],
  markets: ReadonlyMap<string, Item | null>,
): ReadonlyMap<string, string> {
  const currencies = new Map<string, string>();
  const fixed = new Set<string>();
  for (const [slug, item] of markets) {
    if (item === null) continue;
    const { nativeCurrency, observations } = item.value as MarketRecordValue;
    currencies.set(slug, nativeCurrency);
    if (observations > 0) fixed.add(slug);
  }
  for (const { record } of rows) {
    if (record.type !== 'market' || fixed.has(record.slug)) continue;
    currencies.set(record.slug, record.nativeCurrency);
    fixed.add(record.slug);
  }
  return currencies;
}
