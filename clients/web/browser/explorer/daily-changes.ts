/**
 * The price changes of all markets, for a service with too many markets for one file of last prices. The daily files for other
 * programs have the changes in parts. They are read when a reader sorts by change, each part once. Only the shares stay in
 * memory.
 */
import type { MarketChanges } from '../../../../contract/bodies/compat.ts';
import type { ChangeSpan } from '../../../../contract/bodies/price-before.ts';
import { CHANGE_SPANS, changeShare } from '../../../../contract/bodies/price-change.ts';
import { COMPAT_URL } from '../../../../contract/files/routes.ts';
import { type PublicAnswers, UnreachableError } from '../history/public-answers.ts';

/** By span: 0.01 is one percent. Null: not known. */
export type ChangeShares = Readonly<Record<ChangeSpan, number | null>>;

const AT_ONCE = 6;

export class DailyChanges {
  state: 'idle' | 'reading' | 'failed' | 'read' = 'idle';
  /** Why the last try failed. */
  problem = '';
  /** The number of parts. 0: unknown. */
  parts = 0;
  /** The number of parts that have been read. */
  partsRead = 0;
  /** The newest day with a price, in UTC. */
  newestDay = '';
  readonly #answers: Pick<PublicAnswers, 'readAgain'>;
  readonly #onStep: () => void;
  readonly #shares = new Map<string, ChangeShares>();
  #unread: Set<string> | null = null;

  /** @param onStep called after each part, after the last one, or when the reading has failed */
  constructor(answers: Pick<PublicAnswers, 'readAgain'>, onStep: () => void) {
    this.#answers = answers;
    this.#onStep = onStep;
  }

  /** By slug. Null: not all parts are read. */
  get shares(): ReadonlyMap<string, ChangeShares> | null {
    return this.state === 'read' ? this.#shares : null;
  }

  /** Reads the parts that have not been read yet. */
  read(): void {
    if (this.state === 'reading') return;
    this.state = 'reading';
    this.#begin(() => this.#readAll());
  }

  /** If one reader fails, the others stop after their current part. */
  #begin(work: () => Promise<void>): void {
    work().catch((cause: unknown) => {
      const isKnown = cause instanceof UnreachableError;
      [this.state, this.problem] = ['failed', isKnown ? cause.message : 'an answer cannot be read'];
      this.#onStep();
    });
  }

  async #readAll(): Promise<void> {
    const unread =
      this.#unread ?? new Set(Object.values(await this.#file<Readonly<Record<string, string>>>('parts.json')));
    if (this.#unread === null) [this.#unread, this.parts] = [unread, unread.size];
    if (this.parts === 0) this.state = 'read';
    this.#onStep();
    for (let reader = 0; reader < AT_ONCE; reader++) this.#begin(() => this.#readParts(unread));
  }

  async #readParts(unread: Set<string>): Promise<void> {
    for (const part of unread) {
      if (this.state !== 'reading') return;
      unread.delete(part);
      try {
        this.#take(await this.#file(`changes/${part}.json`));
      } catch (cause) {
        unread.add(part);
        throw cause;
      }
      if (++this.partsRead === this.parts) this.state = 'read';
      this.#onStep();
    }
  }

  #take(part: Readonly<Record<string, MarketChanges>>): void {
    for (const [slug, market] of Object.entries(part)) {
      const { newest } = market;
      const shares = CHANGE_SPANS.map((span) => [
        span,
        changeShare(market[span]?.decimal ?? null, newest?.decimal ?? null),
      ]);
      this.#shares.set(slug, Object.fromEntries(shares) as ChangeShares);
      if (newest !== null && newest.date > this.newestDay) this.newestDay = newest.date;
    }
  }

  async #file<Body>(path: string): Promise<Body> {
    const answer = await this.#answers.readAgain(`${COMPAT_URL}/${path}`);
    if (answer.kind === 'found') return answer.body as Body;
    throw new UnreachableError('the service has not made its daily files yet');
  }
}
