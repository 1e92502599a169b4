/** Reads JSON lines while they come in: a long file never stands in memory as a whole, and the page answers between two pieces. */
import { PageTurns } from './turns.ts';

export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #turns = new PageTurns();
  readonly #values: unknown[] = [];
  #rest = '';

  /** @param piece some of the bytes, which may end within a character. Rejects if a line is no JSON */
  async take(piece: Uint8Array): Promise<void> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#values.push(JSON.parse(line));
    if (this.#turns.isOver) await this.#turns.next();
  }

  /** The value of each line. @throws SyntaxError if the last line is cut off */
  end(): unknown[] {
    if (this.#rest + this.#decoder.decode() !== '') throw new SyntaxError('the last line is cut off');
    return this.#values;
  }
}
