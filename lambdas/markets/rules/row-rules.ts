/**
 * The rules for a row that do not depend on other rows, only on the row itself, its market and the time. Each rule was caused
 * by an incident in public data (see `ROW_ERROR_CODES`). All faults of a row are reported at once.
 */

import type * as z from 'zod';
import {
  decimalObservationRecordSchema,
  type IngestRecord,
  type MarketRecord,
  marketRecordSchema,
  moneyObservationRecordSchema,
  type ObservationRecord,
  type RetractionRecord,
  type RowError,
  type RowErrorCode,
  retractionRecordSchema,
  scalarObservationRecordSchema,
} from '../../../contract/ingest/ingest-records.ts';
import { refusalText } from '../../../contract/problems/row-refusal-text.ts';
import { ROW_REMEDIES } from '../../../contract/problems/row-remedies.ts';
import { isReleasedLongBefore } from '../../../contract/values/instants.ts';
import { absoluteUrlSchema, sourceUrlSchema } from '../../../contract/values/metric.ts';
import { checkCurrency, checkCurrencyCode } from '../../../contract/values/money/currencies.ts';
import { flattenIssues, pointerOf, valueAt } from '../../../contract/values/zod-pointers.ts';
import { plainWords } from '../../../contract/values/zod-words.ts';
import { amountOfRecord } from './amount-rules.ts';

/** The limit of reported faults of one record. A record can have a thousand; more would not help the sender. */
export const FAULTS_OF_RECORD = 20;

/**
 * How far an observation or its release may be ahead of our clock. A day is 00:00 UTC of its date. So a day that has begun in
 * Kiribati (UTC+14) is 14 hours ahead. A release of tonight that its source dates tomorrow is up to 24 hours ahead. A mistyped
 * year, or a swapped day and month, is usually further ahead.
 */
const FUTURE_TOLERANCE_MS = 24 * 60 * 60 * 1000;

/** The limit for an announced value: a year, and the weeks before it in which next year's prices are published. */
const ANNOUNCED_AHEAD_MS = 400 * FUTURE_TOLERANCE_MS;

/**
 * The first instant that needs no confirmation. Year 1, year 26 for 2026, and 1899-12-30, a spreadsheet's zero, are earlier.
 * The Unix epoch is accepted, because monthly series that begin in January 1970 are real.
 */
const EARLIEST_PLAUSIBLE = '1900-01-01T00:00:00Z';
const EARLIEST_PLAUSIBLE_MS = Date.parse(EARLIEST_PLAUSIBLE);

export type ParsedRecord = { readonly record: IngestRecord } | { readonly errors: readonly [RowError, ...RowError[]] };

/** Parses one record of a batch. For a market, also checks that its native currency is or was a currency. */
export function parseRecord(input: unknown): ParsedRecord {
  const schema = schemaOf(input);
  if (!('safeParse' in schema)) return { errors: [schema] };
  const parsed = schema.safeParse(input, { error: plainWords });
  if (!parsed.success) {
    const [first, ...others] = flattenIssues(parsed.error.issues, FAULTS_OF_RECORD).map((issue) =>
      errorOf(issue, valueAt(input, issue.path)),
    );
    return { errors: [first as RowError, ...others] };
  }
  if (parsed.data.type === 'market') {
    const fault = checkCurrencyCode(parsed.data.nativeCurrency);
    if (fault !== null) return { errors: [{ pointer: '/nativeCurrency', ...fault }] };
  }
  return { record: parsed.data };
}

/** The parts of a market's definition that bind its observations. */
export type MarketTerms = Pick<MarketRecord, 'nativeCurrency' | 'unit'>;

/**
 * Every fault of an observation or a retraction that depends on its market or the clock. `market` is null while it is
 * unknown; `nowMs` is milliseconds since the epoch, `sentAtMs` when the record was sent.
 */
export function checkObservation(
  record: ObservationRecord | RetractionRecord,
  market: MarketTerms | null,
  nowMs: number,
  sentAtMs = nowMs,
): RowError[] {
  // A retraction only names an observation, whose fields were checked when it arrived. Whether that exists is decided with the
  // market. The URL of a retraction may have a form that is no longer accepted, so that such an observation can still be
  // retracted.
  if (record.type === 'retraction') return sourceUrlErrors(record.sourceUrl, absoluteUrlSchema);
  return [
    ...currencyErrors(record, market),
    ...amountErrors(record, market),
    ...dateErrors(record, nowMs, sentAtMs),
    ...sourceUrlErrors(record.sourceUrl),
    ...provenanceErrors(record),
  ];
}

function currencyErrors(record: ObservationRecord, market: MarketTerms | null): RowError[] {
  const isPrice = record.metric === 'price';
  if (!('currency' in record)) {
    if (!isPrice) return [];
    return [error('/unit', 'currency.not-native', 'a price is money: send amountMinor and currency')];
  }
  const errors: RowError[] = [];
  const fault = checkCurrency(record.currency, record.observedAt);
  if (fault !== null) errors.push({ pointer: '/currency', ...fault });
  if (isPrice && market !== null && record.currency !== market.nativeCurrency) {
    const detail = `the market's prices are in ${market.nativeCurrency}: send ${record.currency} to a market of its own`;
    errors.push(error('/currency', 'currency.not-native', detail));
  }
  return errors;
}

/** An amount can be checked only with its currency and its market. If one is missing, that is a fault of its own. */
function amountErrors(record: ObservationRecord, market: MarketTerms | null): RowError[] {
  if (!('currency' in record)) return zeroErrors(record, '/value', record.value !== null && ZERO.test(record.value));
  if ('amountMinor' in record && record.amountMinor === 0) return zeroErrors(record, '/amountMinor', true);
  if (market === null || checkCurrencyCode(record.currency) !== null) return [];
  const amount = amountOfRecord(record, market.unit.quantity);
  if ('error' in amount) return [amount.error];
  if (amount.amountMinor !== 0 || !('value' in record) || record.value === null) return [];
  if (ZERO.test(record.value)) return zeroErrors(record, '/value', true);
  // Asserting the zero would publish a value that no source has stated.
  const detail = `${record.value} ${record.currency} would be rounded to zero: give the market a larger quantity`;
  return [error('/value', 'amount.zero-unasserted', detail)];
}

const ZERO = /^-?0+(\.0+)?([eE]|$)/;

function zeroErrors(record: ObservationRecord, pointer: string, isZero: boolean): RowError[] {
  if (!isZero || record.zeroAsserted) return [];
  const detail = 'a zero is published only if it is a real value: set zeroAsserted, or send null with an unknownReason';
  return [error(pointer, 'amount.zero-unasserted', detail)];
}

/**
 * The two times may be in either order. A monthly average is released after the first day of its month, and revised years
 * later. Day-ahead power prices and regulated prices are released before the time to which they apply, but not years before.
 * With a wrong year of release, a value would appear as known long before it was.
 */
function dateErrors(
  { observedAt, releasedAt, dateConfirmed, announced }: ObservationRecord,
  nowMs: number,
  sentAtMs: number,
): RowError[] {
  const rules = { nowMs, dateConfirmed, aheadMs: FUTURE_TOLERANCE_MS };
  if (announced === true && Date.parse(observedAt) <= sentAtMs) {
    const detail = `announced is for a moment that is ahead, and observedAt is ${observedAt}: leave it out, or send "when-ahead" for a file with both`;
    return [error('/announced', 'date.past', detail)];
  }
  const aheadMs = announced ? ANNOUNCED_AHEAD_MS : FUTURE_TOLERANCE_MS;
  const ofRelease = releasedAt == null ? [] : timeErrors('/releasedAt', releasedAt, rules);
  const errors = [...timeErrors('/observedAt', observedAt, { ...rules, aheadMs }), ...ofRelease];
  if (errors.length > 0 || releasedAt == null || dateConfirmed) return errors;
  if (!isReleasedLongBefore(observedAt, releasedAt)) return [];
  const detail = `${releasedAt} is more than a year before observedAt, ${observedAt}: check the year. If it is right, set dateConfirmed`;
  return [error('/releasedAt', 'date.implausible', detail)];
}

function timeErrors(
  pointer: string,
  instant: string,
  {
    nowMs,
    dateConfirmed,
    aheadMs,
  }: { readonly nowMs: number; readonly dateConfirmed: boolean; readonly aheadMs: number },
): RowError[] {
  const atMs = Date.parse(instant);
  if (atMs > nowMs + aheadMs) {
    const most = aheadMs === FUTURE_TOLERANCE_MS ? 'a day' : '400 days';
    const announce = pointer === '/observedAt' && most === 'a day' ? `. ${ROW_REMEDIES['date.future']}` : '';
    const detail = `${instant} is more than ${most} ahead of ${new Date(nowMs).toISOString()}: check the year, and the order of day and month${announce}`;
    return [error(pointer, 'date.future', detail)];
  }
  if (atMs >= EARLIEST_PLAUSIBLE_MS || dateConfirmed) return [];
  const detail = `${instant} is before ${EARLIEST_PLAUSIBLE}: it looks like a blank or incomplete date. If it is right, set dateConfirmed`;
  return [error(pointer, 'date.implausible', detail)];
}

/** The last URL that was accepted: neighbouring rows usually have the same one, and its check is slow. */
let acceptedUrl: string | null = null;

function sourceUrlErrors(sourceUrl: string, schema: z.ZodType<string> = sourceUrlSchema): RowError[] {
  if (sourceUrl === acceptedUrl) return [];
  if (sourceUrl.trim() === '') {
    return [error('/sourceUrl', 'source.url-missing', 'every observation names the page or file it was read from')];
  }
  const { error: refused } = schema.safeParse(sourceUrl);
  // One fault is enough, because its text states the whole rule.
  const [issue] = refused?.issues ?? [];
  if (issue === undefined) {
    // A retraction's URL may have a form that an observation's may not have.
    if (schema === sourceUrlSchema) acceptedUrl = sourceUrl;
    return [];
  }
  return [error('/sourceUrl', codeOfUrl(sourceUrl), refusalText(['sourceUrl'], sourceUrl, issue.message))];
}

/** The code for the fault of a refused URL. */
function codeOfUrl(url: string): RowErrorCode {
  return absoluteUrlSchema.safeParse(url).success ? 'source.url-not-public' : 'source.url-not-absolute';
}

/** Whether the record states no number. */
export function isWithoutValue(record: ObservationRecord): boolean {
  return ('amountMinor' in record ? record.amountMinor : record.value) === null;
}

function provenanceErrors(record: ObservationRecord): RowError[] {
  const isUnknown = isWithoutValue(record);
  if (isUnknown === (record.unknownReason !== null)) return [];
  const detail = isUnknown
    ? 'the value is null: give the reason in unknownReason'
    : 'the value is known, so unknownReason must be null: leave one of them out';
  return [error('/unknownReason', 'provenance.incomplete', detail)];
}

/** Selects the schema by the record's type, so that errors are about the intended kind of record only. */
function schemaOf(input: unknown) {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return error('', 'record.invalid', 'a record is a JSON object');
  }
  const type = 'type' in input ? input.type : undefined;
  if (type === 'market') return marketRecordSchema;
  if (type === 'retraction') return retractionRecordSchema;
  if (type !== 'observation') {
    return error(
      '/type',
      'record.invalid',
      refusalText(['type'], type, 'must be "market", "observation" or "retraction"'),
    );
  }
  if ('amountMinor' in input) return moneyObservationRecordSchema;
  if ('currency' in input) return 'value' in input ? decimalObservationRecordSchema : moneyObservationRecordSchema;
  if ('value' in input || 'unit' in input) return scalarObservationRecordSchema;
  return error('', 'record.invalid', 'has no value: send amountMinor or value with currency, or value with unit');
}

/** The fields without which a number has no provenance. The fault of a missing or empty one has its own code. */
const PROVENANCE_FIELDS: ReadonlySet<PropertyKey | undefined> = new Set(['sourceLabel', 'observedAt', 'confidence']);

function errorOf(issue: z.core.$ZodIssue, value: unknown): RowError {
  const pointer = pointerOf(issue.path);
  const [field, ...deeper] = issue.path;
  if (field === 'sources' && deeper.at(-1) === 'url' && typeof value === 'string') {
    return error(pointer, codeOfUrl(value), refusalText(issue.path, value, issue.message));
  }
  if (deeper.length === 0 && issue.code !== 'unrecognized_keys') {
    if (field === 'amountMinor' && typeof value === 'number') {
      return Number.isInteger(value) || !Number.isFinite(value)
        ? error(pointer, 'amount.out-of-range', 'is beyond ±(2^53−1): quote a smaller quantity')
        : error(pointer, 'amount.not-integral', `${value} is not an integer of minor units: 61.17 USD is 6117`);
    }
    if ((field === 'currency' || field === 'nativeCurrency') && typeof value === 'string') {
      const fault = checkCurrencyCode(value);
      if (fault !== null) return { pointer, ...fault };
    }
    const isMissing = value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
    if (field === 'sourceUrl' && isMissing)
      return error(pointer, 'source.url-missing', refusalText([field], value, 'is missing'));
    if (PROVENANCE_FIELDS.has(field) && isMissing)
      return error(pointer, 'provenance.incomplete', refusalText([field as string], value, 'is missing'));
  }
  return error(pointer, 'record.invalid', refusalText(issue.path, value, issue.message));
}

function error(pointer: string, code: RowErrorCode, detail: string): RowError {
  return { pointer, code, detail };
}
