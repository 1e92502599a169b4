/** Removes records that later rows of the file contradict from its parts. */
import { ContradictedRecords } from '../../mapping/declared/repeated-records.ts';
import type { FilePart } from './parts.ts';
import type { SourceFault } from './source-records.ts';

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
