/** Refuses both of two rows that contradict each other: nothing shows which of the two values is right. */
import { identityOf } from '../../mapping/declared/repeated-records.ts';
import type { FilePart } from './parts.ts';
import type { SourceFault } from './source-records.ts';

/** With more contradictions than this, the first rows of the others are stored. */
const CONTRADICTIONS_MAX = 100_000;
const DUPLICATE = { kind: 'fault', column: null, pointer: '', code: 'duplicate.in-batch' } as const;

/** The contradictions of a file, as far as it was read. */
export class Contradictions {
  /** The place of the later row, by the identity of the observation. */
  readonly #places = new Map<string, string>();

  get size(): number {
    return this.#places.size;
  }

  add({ faults }: Pick<FilePart, 'faults'>): void {
    for (const { contradicts, line, row, detail } of faults) {
      if (contradicts === undefined || this.#places.size === CONTRADICTIONS_MAX) continue;
      this.#places.set(contradicts, detail.startsWith('row ') ? `row ${row}` : `line ${line}`);
    }
  }

  /** Null: no later row contradicts the record. @param text the record as JSON @param line its line in the file */
  faultOf(text: string, line: number): SourceFault | null {
    const record = JSON.parse(text);
    const place = this.#places.get(identityOf(record) ?? '');
    // Of two definitions of a market, the first one counts, as in the service: else no row of the market could be stored.
    if (place === undefined || record.type === 'market') return null;
    const detail = `${place} is about the same observation, and says something else: keep the right one`;
    return { ...DUPLICATE, line, detail, rule: 'contradicted' };
  }

  /** The part without the records that later rows contradict, which are faults of the part now. */
  without(part: FilePart): FilePart {
    if (this.#places.size === 0 || part.body.length === 0) return part;
    const [texts, lines, faults] = [[] as string[], [] as (number | null)[], [...part.faults]];
    for (const [index, text] of Buffer.from(part.body).toString().trimEnd().split('\n').entries()) {
      const line = part.lines[index] ?? null;
      const fault = line === null ? null : this.faultOf(text, line);
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
      this.add(part);
      held.push(part);
      if (held.length > heldParts) yield this.without(held.shift() as FilePart);
    }
    for (const part of held) yield this.without(part);
  }
}
