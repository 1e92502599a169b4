/** Checks a batch's rows one by one and against each other, before anything is decided. */
import type { IngestRecord } from '../../contract/ingest-records.ts';
import { type Ledger, MAX_GET_KEYS } from '../../storage/ledger.ts';
import { type MarketRecordValue, marketKey, orderKey } from '../../storage/records.ts';
import type { RowFault } from './apply-batch.ts';
import type { Row } from './decide.ts';
import { slugOf } from './read-markets.ts';
import { checkObservation, parseRecord } from './row-rules.ts';

export interface CheckedRows {
  /** The rows without a fault, in order. */
  readonly rows: readonly Row[];
  readonly faults: readonly RowFault[];
}

/** Finds every fault of every row, not only the first. */
export async function checkRows(
  { ledger, nowMs }: { readonly ledger: Ledger; readonly nowMs: () => number },
  inputs: readonly unknown[],
): Promise<CheckedRows> {
  const faults: RowFault[] = [];
  const parsed: Row[] = [];
  for (const [index, input] of inputs.entries()) {
    const result = parseRecord(input);
    if ('errors' in result) faults.push(...result.errors.map((error) => ({ index, ...error })));
    else parsed.push({ index, record: result.record });
  }
  const currencies = await nativeCurrencies(ledger, parsed);
  const seen = new Set<string>();
  const rows = parsed.filter(({ index, record }) => {
    const found = faultsOf(record, index, currencies, seen, nowMs());
    faults.push(...found);
    return found.length === 0;
  });
  return { rows, faults };
}

function faultsOf(
  record: IngestRecord,
  index: number,
  currencies: ReadonlyMap<string, string>,
  seen: Set<string>,
  nowMs: number,
): readonly RowFault[] {
  const faults: RowFault[] = [];
  const identity = record.type === 'market' ? record.slug : `${record.market}/${orderKey({ ...record, ordinal: 0 })}`;
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
  return [...faults, ...checkObservation(record, market, nowMs).map((error) => ({ index, ...error }))];
}

/**
 * By slug: as the batch defines it, else as the ledger knows it. A market that has observations keeps its currency,
 * whatever the batch says; of two definitions the first counts, since the other is refused as a duplicate.
 */
async function nativeCurrencies(ledger: Ledger, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const currencies = new Map<string, string>();
  const fixed = new Set<string>();
  const slugs = [...new Set(rows.map(({ record }) => slugOf(record)))];
  for (let start = 0; start < slugs.length; start += MAX_GET_KEYS) {
    const keys = slugs.slice(start, start + MAX_GET_KEYS).map((slug) => marketKey(slug));
    for (const [offset, item] of (await ledger.getMany(keys)).entries()) {
      if (item === null) continue;
      const { nativeCurrency, observations } = item.value as MarketRecordValue;
      const slug = slugs[start + offset] as string;
      currencies.set(slug, nativeCurrency);
      if (observations > 0) fixed.add(slug);
    }
  }
  for (const { record } of rows) {
    if (record.type !== 'market' || fixed.has(record.slug)) continue;
    currencies.set(record.slug, record.nativeCurrency);
    fixed.add(record.slug);
  }
  return currencies;
}
