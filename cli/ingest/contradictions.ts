/** Removes records that contradict other rows: from the parts of a file, and between the files of one command. */
import { ContradictedRecords } from '../../mapping/declared/repeated-records.ts';
import type { FilePart } from './parts.ts';
import type { SourceFault, SourceRecord } from './source-records.ts';

export class Contradictions extends ContradictedRecords {
  /** Null: no later row contradicts the record. @param text the record as JSON @param line its line in the file */
  faultAt(text: string, line: number): SourceFault | null {
    const fault = this.faultOf(JSON.parse(text));
    return fault && { kind: 'fault', line, ...fault };
  }

  /** The part without the records that later rows contradict, which are faults of the part now. */
  without(part: FilePart): FilePart {
    if (this.size === 0 || part.body.length === 0) return part;
    const [texts, lines, faults] = [[] as string[], [] as (number | null)[], [...part.faults]];
    for (const [index, text] of Buffer.from(part.body).toString().trimEnd().split('\n').entries()) {
      const line = part.lines[index] ?? null;
      const fault = line === null ? null : this.faultAt(text, line);
      if (fault !== null) faults.push(fault);
      else {
        texts.push(`${text}\n`);
        lines.push(line);
      }
    }
    if (faults.length === part.faults.length) return part;
    return { ...part, body: new Uint8Array(Buffer.from(texts.join(''))), lines, faults };
  }

  /** Holds some parts back, so that a record is not passed on before a row that soon follows contradicts it. */
  async *removedFrom(parts: AsyncIterable<FilePart>, heldParts: number): AsyncGenerator<FilePart> {
    const held: FilePart[] = [];
    for await (const part of parts) {
      for (const fault of part.faults) this.add(fault);
      held.push(part);
      if (held.length > heldParts) yield this.without(held.shift() as FilePart);
    }
    for (const part of held) yield this.without(part);
  }
}

/** The names of the markets that the mappings of one command define, by slug, each with the file that came first. */
export class MarketNames {
  readonly #names = new Map<string, { readonly name: string; readonly file: string }>();

  /**
   * Passes the records of a mapped file on, but refuses the rows of a market that an earlier file defines with another name:
   * two names may have one slug, and the values of the second market would become values of the first.
   */
  async *read(
    file: string,
    records: AsyncIterable<SourceRecord | SourceFault>,
  ): AsyncGenerator<SourceRecord | SourceFault> {
    const refused = new Map<string, string>();
    for await (const record of records) {
      if (record.kind === 'record' && record.defines !== null) {
        const { name } = JSON.parse(record.text) as { readonly name: string };
        const detail = this.#define(record.defines, name, file);
        if (detail !== null) refused.set(record.defines, detail);
      }
      const detail = record.kind === 'record' ? refused.get(record.market ?? '') : undefined;
      if (detail === undefined) yield record;
      else if (record.kind === 'record' && record.defines === null) {
        yield { kind: 'fault', line: record.line, column: null, pointer: '/slug', code: 'record.invalid', detail };
      }
    }
  }

  /** The fault of a slug that is taken; null: none. */
  #define(slug: string, name: string, file: string): string | null {
    const earlier = this.#names.get(slug) ?? { name, file };
    this.#names.set(slug, earlier);
    if (earlier.name === name) return null;
    return (
      `${slug} is already the slug of ${JSON.stringify(earlier.name)} in ${earlier.file}, and here it is that of ` +
      `${JSON.stringify(name)}: if these are two markets, make the slug different, such as with "slugDigest": "unless-exact" ` +
      'in the mapping (docs/mapping.md); if they are one, give it the same name in both files'
    );
  }
}
