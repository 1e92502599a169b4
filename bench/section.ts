/** What one benchmark says: on the console as soon as it is known, and kept for docs/benchmarks.md. */
import { consoleTable } from './table.ts';

/** A paragraph, or a table. Cells and texts may hold Markdown. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'table'; readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };

export class Section {
  readonly blocks: Block[] = [];
  #isSkipped = false;

  /** `name`: of the benchmark. */
  constructor(name: string) {
    console.log(`${name}\n`);
  }

  /** True if there is nothing to keep. */
  get isSkipped(): boolean {
    return this.#isSkipped;
  }

  /** One paragraph: its beginning says what is measured, against what, and what is promised. */
  say(...lines: readonly string[]): void {
    console.log(`  ${lines.join('\n  ')}\n`);
    this.blocks.push({ kind: 'text', text: lines.join(' ') });
  }

  /** The first column to the left, all others to the right. */
  table(header: readonly string[], rows: readonly (readonly string[])[]): void {
    console.log(consoleTable(header, rows));
    this.blocks.push({ kind: 'table', header, rows });
  }

  /** The benchmark cannot run here. The reason names the remedy. */
  skip(reason: string): void {
    console.log(`  Skipped: ${reason}\n`);
    this.#isSkipped = true;
  }
}
