/** Checks a batch's rows one by one and against each other, before anything is decided. */
import { isDeepStrictEqual } from 'node:util';
import { authorityFaults, type FeedAuthority } from '../../../contract/files/feed-authority.ts';
import type { Removal } from '../../../contract/files/removed-market.ts';
import type { IngestMode, RowError } from '../../../contract/ingest/ingest-records.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import type { MarketRecordValue } from '../../../storage/records/markets.ts';
import { removedFault } from '../removal.ts';
import { type Row, rowOf, slugOf } from '../rows.ts';
import { checkObservation, type MarketTerms, parseRecord } from './row-rules.ts';

/** One fault of one row, with the row's index in the batch. */
export interface RowFault extends RowError {
  readonly index: number;
}

/** All faults of a record are kept while a batch has fewer faults than this; after that, only the record's first one. */
export const FAULTS_OF_BATCH = 2_000;

/** Awaited between two records, so that other tasks of the process can run. */
export type YieldToEventLoop = () => Promise<void>;

/** For a process without other tasks. */
export const neverYield: YieldToEventLoop = async () => {};

export interface CheckedRows {
  /** The rows without a fault, in order. */
  readonly rows: readonly Row[];
  readonly faults: readonly RowFault[];
}

/** Parses every record, and finds every fault of records that cannot be parsed. */
export async function parseRows(inputs: readonly unknown[], yieldToEventLoop: YieldToEventLoop): Promise<CheckedRows> {
  const faults: RowFault[] = [];
  const rows: Row[] = [];
  for (const [index, input] of inputs.entries()) {
    await yieldToEventLoop();
    const result = parseRecord(input);
    if ('errors' in result) keepFaults(faults, index, result.errors);
    else rows.push(rowOf(index, result.record));
  }
  return { rows, faults };
}

/** The rules for all rows of a batch, besides those of their markets. */
export interface RowRules {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The time when the batch was sent: announced values may have become effective since then. Default: `nowMs`. */
  readonly sentAtMs?: number | undefined;
  readonly mode: IngestMode;
  /** Undefined: the feed may send every record. */
  readonly authority: FeedAuthority | undefined;
}

/**
 * Finds every fault of every parsed row.
 *
 * @param markets the records of the rows' markets, by slug
 */
export async function checkRows(
  parsed: readonly Row[],
  markets: ReadonlyMap<string, Item<MarketRecordValue> | null>,
  rules: RowRules,
  yieldToEventLoop: YieldToEventLoop,
): Promise<CheckedRows> {
  const faults: RowFault[] = [];
  const terms = termsOf(parsed, markets);
  const seen = new Map<string, Row>();
  const rows: Row[] = [];
  /** The first row about an observation, and the last one that contradicts it. */
  const contradictions = new Map<Row, Row>();
  for (const row of parsed) {
    await yieldToEventLoop();
    const removal = markets.get(slugOf(row.record))?.value.removal;
    const identity = identityOf(row);
    const earlier = seen.get(identity);
    if (earlier === undefined) seen.set(identity, row);
    else if (row.order !== null && !isSame(earlier, row)) contradictions.set(earlier, row);
    const found = faultsOf(row, terms, removal, earlier, rules);
    if (found.length === 0) rows.push(row);
    else keepFaults(faults, row.index, found);
  }
  // Nothing shows which of the two values is right, so neither is stored.
  for (const [{ index }, later] of contradictions) keepFaults(faults, index, [duplicateFault(later, false)]);
  return { rows: contradictions.size === 0 ? rows : rows.filter((row) => !contradictions.has(row)), faults };
}

function identityOf({ record, order }: Row): string {
  return order === null ? slugOf(record) : `${slugOf(record)}/${order}`;
}

/** A moment has several spellings. */
function isSame({ record: one }: Row, { record: other }: Row): boolean {
  return isDeepStrictEqual({ ...one, observedAt: null }, { ...other, observedAt: null });
}

/** @param other the other row about the observation or market */
function duplicateFault({ index }: Row, isSame: boolean): RowError {
  const [says, remedy] = isSame ? ['the same', 'leave one of them out'] : ['something else', 'keep the right one'];
  const detail = `record ${index + 1} of this batch is about the same observation or market, and says ${says}: ${remedy}`;
  return { pointer: '', code: 'duplicate.in-batch', detail };
}

/** Keeps at least one fault for every refused row, so that refused rows can be counted. */
function keepFaults(kept: RowFault[], index: number, found: readonly RowError[]): void {
  const some = kept.length < FAULTS_OF_BATCH ? found : found.slice(0, 1);
  for (const error of some) kept.push({ index, ...error });
}

function faultsOf(
  row: Row,
  terms: ReadonlyMap<string, MarketTerms>,
  removal: Removal | undefined,
  earlier: Row | undefined,
  { nowMs, sentAtMs = nowMs, mode, authority }: RowRules,
): readonly RowError[] {
  const { record } = row;
  const faults = authority === undefined ? [] : authorityFaults(authority, record, mode);
  if (earlier !== undefined) faults.push(duplicateFault(earlier, isSame(earlier, row)));
  if (mode === 'append' && record.type === 'observation' && record.publicReason !== undefined) {
    const detail =
      'a public reason is for a correction, and the mode `append` corrects nothing: leave it out, or use the mode `correct`';
    faults.push({ pointer: '/publicReason', code: 'record.invalid', detail });
  }
  if (removal !== undefined) return [...faults, removedFault(record, removal)];
  if (record.type === 'market') return faults;
  const market = terms.get(record.market) ?? null;
  // A key that may not write to the market could not define it either.
  if (market === null && !faults.some(({ code }) => code === 'market.not-allowed')) {
    const detail = `no market ${record.market}: define it with a market record, in this batch or an earlier one`;
    faults.push({ pointer: '/market', code: 'market.unknown', detail });
  }
  return [...faults, ...checkObservation(record, market, nowMs, sentAtMs)];
}

/**
 * Currencies and quantities by slug: from the batch's definition, or else from the ledger. A market with observations keeps
 * both. Of two definitions the first counts, because the second is refused as a duplicate.
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
