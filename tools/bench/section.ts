/** One benchmark's text: on the console as soon as it is known, and as Markdown for docs/benchmarks.md. */
import { markdownTable } from './table.ts';

export class Section {
  readonly #blocks: string[] = [];
  #isSkipped = false;

  /** `name`: of the benchmark. */
  constructor(name: string) {
    console.log(`${name}\n`);
  }

  get markdown(): string {
    return this.#blocks.join('\n\n');
  }

  /** True if there is nothing to keep. */
  get isSkipped(): boolean {
    return this.#isSkipped;
  }

  /** One paragraph: its beginning says what is measured, against what, and what is promised. */
  say(...lines: readonly string[]): void {
    this.#tell(lines.join('\n'));
  }

  table(header: readonly string[], rows: readonly (readonly string[])[]): void {
    this.#tell(markdownTable(header, rows));
  }

  /** The benchmark cannot run here. The reason names the remedy. */
  skip(reason: string): void {
    this.#isSkipped = true;
    this.#tell(`Skipped: ${reason}`);
  }

  #tell(text: string): void {
    console.log(`${text}\n`);
    this.#blocks.push(text);
  }
}

/** The document with this section in the place of the one with its title, or at its end. */
export function withSection(document: string, title: string, text: string): string {
  const section = `## ${title}\n\n${text}\n`;
  const [before = '', ...others] = document.split(/^(?=## )/m);
  const place = others.findIndex((other) => other.startsWith(`## ${title}\n`));
  const isLast = place < 0 || place === others.length - 1;
  others.splice(place < 0 ? others.length : place, 1, isLast ? section : `${section}\n`);
  return `${before}${others.join('')}`;
}
