/** Cuts a stream of records into parts that fit a batch. */
import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import type { SourceFault, SourceRecord } from './source-records.ts';

const INITIAL_BYTES = 256 * 1024;

export interface FilePart {
  /** From 0 on. */
  readonly index: number;
  /** NDJSON, with a line break at the end; empty if there are only faults. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The line of the file for each line of the body; null for a definition that is only repeated. */
  readonly lines: readonly (number | null)[];
  /** Rows of the file, at this place, of which no record could be made. */
  readonly faults: readonly SourceFault[];
  /** The first and the last line of the file. */
  readonly from: number;
  readonly to: number;
}

/**
 * @param repeatsDefinitions for a dry run, which leaves no trace: a part begins with the definitions that earlier parts
 *   hold of its markets. Otherwise they would be unknown there.
 */
export async function* cutIntoParts(
  records: AsyncIterable<SourceRecord | SourceFault>,
  repeatsDefinitions: boolean,
): AsyncGenerator<FilePart> {
  const definitions = new Map<string, string>();
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
  /** As bytes at once: a million texts that live for a while would fill the memory before they are collected. */
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

  /** A part takes any first record: the service says what is wrong with one that is too large. */
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
