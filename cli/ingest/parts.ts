/** Cuts a stream of records into parts that fit a batch. */
import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import type { SourceFault, SourceRecord } from './source-records.ts';

const INITIAL_BYTES = 256 * 1024;

export interface FilePart {
  /** The number of the part, from 0 on. */
  readonly index: number;
  /** NDJSON, with a line break at the end; empty if the part has only faults. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The line of the file for each line of the body; null for a repeated definition. */
  readonly lines: readonly (number | null)[];
  /** Faults of rows in this part of the file that gave no record. */
  readonly faults: readonly SourceFault[];
  /** The first and the last line of the file. */
  readonly from: number;
  readonly to: number;
}

/**
 * @param repeatsDefinitions whether a part begins with the definitions of its markets from earlier parts. Needed for a dry run,
 *   which stores nothing, so that markets would be unknown in later parts
 * @param definitions those of earlier files, by market. The definitions of this file are added
 */
export async function* cutIntoParts(
  records: AsyncIterable<SourceRecord | SourceFault>,
  repeatsDefinitions: boolean,
  definitions = new Map<string, string>(),
): AsyncGenerator<FilePart> {
  let part = new PartBuilder(0);
  for await (const record of records) {
    if (record.kind === 'fault') {
      part.addFault(record);
      continue;
    }
    const { line, text, defines, market } = record;
    const earlier = repeatsDefinitions && market !== null ? definitions.get(market) : undefined;
    if (!part.fits(text, defines === null ? market : null, earlier)) {
      yield part.build();
      part = new PartBuilder(part.index + 1);
    }
    if (earlier !== undefined && defines === null && market !== null) part.define(market, earlier);
    part.add(line, text, defines);
    if (repeatsDefinitions && defines !== null) definitions.set(defines, text);
  }
  if (!part.isEmpty()) yield part.build();
}

class PartBuilder {
  readonly index: number;
  /** Collected as bytes: a million texts would fill the memory before they are garbage-collected. */
  #body = Buffer.allocUnsafe(INITIAL_BYTES);
  readonly #lines: (number | null)[] = [];
  readonly #faults: SourceFault[] = [];
  readonly #defined = new Set<string>();
  #bytes = 0;

  constructor(index: number) {
    this.index = index;
  }

  isEmpty(): boolean {
    return this.#lines.length === 0 && this.#faults.length === 0;
  }

  /** The first record of a part always fits: the service reports the fault of a record that is too large. */
  fits(text: string, market: string | null, definition: string | undefined): boolean {
    const isRepeated = definition !== undefined && market !== null && !this.#defined.has(market);
    const bytes = sizeOf(text) + (isRepeated ? sizeOf(definition) : 0);
    const count = isRepeated ? 2 : 1;
    return (
      this.#lines.length === 0 ||
      (this.#lines.length + count <= BATCH_RECORDS_MAX && this.#bytes + bytes <= BATCH_BYTES_MAX)
    );
  }

  define(market: string, definition: string): void {
    if (this.#defined.has(market)) return;
    this.#push(null, definition);
    this.#defined.add(market);
  }

  add(line: number, text: string, defines: string | null): void {
    this.#push(line, text);
    if (defines !== null) this.#defined.add(defines);
  }

  addFault(fault: SourceFault): void {
    this.#faults.push(fault);
  }

  build(): FilePart {
    const lines = [...this.#lines.filter((line) => line !== null), ...this.#faults.map(({ line }) => line)];
    const [from, to] = lines.reduce(([least, most], line) => [Math.min(least, line), Math.max(most, line)], [
      Number.POSITIVE_INFINITY,
      0,
    ] as [number, number]);
    return {
      index: this.index,
      body: this.#body.subarray(0, this.#bytes),
      lines: this.#lines,
      faults: this.#faults,
      from,
      to,
    };
  }

  #push(line: number | null, text: string): void {
    const end = this.#bytes + sizeOf(text);
    if (end > this.#body.length) {
      const longer = Buffer.allocUnsafe(2 * end);
      this.#body.copy(longer, 0, 0, this.#bytes);
      this.#body = longer;
    }
    this.#body.write(text, this.#bytes);
    this.#body[end - 1] = LF;
    this.#bytes = end;
    this.#lines.push(line);
  }
}

const LF = 10;

function sizeOf(text: string): number {
  return Buffer.byteLength(text) + 1;
}
