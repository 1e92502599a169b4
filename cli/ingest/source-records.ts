/** The records of a file, one at a time, each with its line; and the faults of rows that give no record. */
import { LINE_BYTES_MAX } from '../../contract/ingest/ingest-records.ts';
import { parseJson } from '../../contract/values/strict-json.ts';
import type { FileFault } from '../../mapping/check/fault-groups.ts';
import type { CsvMapping } from '../../mapping/declared/csv-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { RepeatedRecords, repeatFault } from '../../mapping/declared/repeated-records.ts';
import { readJsonRecords } from './json-records.ts';
import { readLines } from './lines.ts';

export interface SourceRecord {
  readonly kind: 'record';
  /** The number of the line, from 1 on. */
  readonly line: number;
  /** The record as JSON, on one line. */
  readonly text: string;
  /** The market that the record defines; null: none. */
  readonly defines: string | null;
  /** The market that the record is about; null: it names none. */
  readonly market: string | null;
  /** Whether the mapping rounded the value. A record that is sent as such states this itself. */
  readonly isRounded: boolean;
}

/** The reason why a row gives no record. */
export interface SourceFault extends FileFault {
  readonly kind: 'fault';
  /** The identity of an observation about which an earlier row says something else. */
  readonly contradicts?: string;
}

export type SourceForm = { readonly form: 'csv'; readonly mapping: CsvMapping } | { readonly form: 'ndjson' | 'json' };

/** Members that are set to true on each observation of the file without them. */
export type Asserted = readonly ('outlierConfirmed' | 'reinstated')[];

export async function* readSource(
  bytes: AsyncIterable<Uint8Array>,
  source: SourceForm,
  asserted: Asserted,
): AsyncGenerator<SourceRecord | SourceFault> {
  if (source.form === 'csv') return yield* mapped(bytes, source.mapping, asserted);
  const texts = source.form === 'json' ? readJsonRecords(bytes) : readLines(bytes, LINE_BYTES_MAX);
  const repeated = new RepeatedRecords();
  for await (const { line, text, fault } of texts) {
    yield fault === undefined ? recordOf(line, text, asserted, repeated) : faultAt(line, fault);
  }
}

async function* mapped(
  bytes: AsyncIterable<Uint8Array>,
  mapping: CsvMapping,
  asserted: Asserted,
): AsyncGenerator<SourceRecord | SourceFault> {
  const members = Object.fromEntries(asserted.map((name) => [name, true]));
  for await (const row of mapCsv(mapping, bytes)) {
    if (row.kind === 'refusal') {
      yield { ...row, kind: 'fault' };
      continue;
    }
    const { line, record } = row;
    const defines = record.type === 'market' ? record.slug : null;
    const market = record.type === 'market' ? record.slug : record.market;
    const text = JSON.stringify(record.type === 'observation' ? { ...record, ...members } : record);
    const isRounded = 'rounded' in record && record.rounded === true;
    yield { kind: 'record', line, text, defines, market, isRounded };
  }
}

function recordOf(
  line: number,
  text: string,
  asserted: Asserted,
  repeated: RepeatedRecords,
): SourceRecord | SourceFault {
  // The same check as in the service, which refuses a whole batch because of one such line.
  const parsed = parseJson(text);
  if ('faults' in parsed) {
    const [fault] = parsed.faults;
    return faultAt(line, `${fault?.pointer ? `${fault.pointer} ` : ''}${fault?.detail}`);
  }
  const json = parsed.value;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return faultAt(line, 'is not a record: write an object with a "type"');
  }
  // The order of the members says nothing.
  const members = Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1));
  const earlier = repeated.earlierOf(Object.fromEntries(members), line);
  if (earlier !== null) return { kind: 'fault', line, ...repeatFault(earlier, 'line') };
  const { type, slug, market } = json as { readonly [name: string]: unknown };
  const defines = type === 'market' && typeof slug === 'string' ? slug : null;
  const added = type === 'observation' ? asserted.filter((name) => !(name in json)) : [];
  // Inserted into the text, so that its numbers keep their spelling.
  const sent = added.length > 0 ? text.replace(/\}\s*$/, `${added.map((name) => `,"${name}":true`).join('')}}`) : text;
  return {
    kind: 'record',
    line,
    text: sent,
    defines,
    market: typeof market === 'string' ? market : defines,
    isRounded: false,
  };
}

function faultAt(line: number, detail: string): SourceFault {
  return { kind: 'fault', line, column: null, code: 'record.invalid', detail };
}
