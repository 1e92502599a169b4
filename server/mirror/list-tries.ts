/** The lists that one round reads, until one is in the copy with all its markets and is that of the snapshot. */
import type { Snapshot } from '../../contract/values/market.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { type AheadOfLog, type CopiedDue, CopiedList, copyDueMarkets } from './copy-list.ts';
import type { ListWorld } from './mirror-world.ts';

export class ListTries {
  /** Bodies that were newer than the log when they were last looked at. */
  readonly ahead: AheadOfLog = new Map();
  readonly #world: ListWorld;
  readonly #markets: number;
  readonly #lists: CopiedList[] = [];
  #due: CopiedDue = { copied: 0, stale: [], findings: [] };
  #dueCopied = 0;
  #whole: CopiedList | null = null;

  /** @param markets how many the snapshot counts */
  constructor(world: ListWorld, markets: number) {
    this.#world = world;
    this.#markets = markets;
  }

  /** Reads the list as it is now. */
  async readList(): Promise<void> {
    this.ahead.clear();
    this.#world.progress.begin('markets', this.#markets);
    this.#lists.push(await CopiedList.read(this.#world, this.ahead));
    await this.#copyDue();
  }

  /** Reads the log once more, and then everything for which the list waits. */
  async lookAgain(): Promise<void> {
    await this.#world.log?.follow(this.#world.generation);
    this.ahead.clear();
    await this.#newest?.retry();
    await this.#copyDue();
  }

  async #copyDue(): Promise<void> {
    const list = this.#newest;
    if (list === undefined) return;
    this.#due = await copyDueMarkets(this.#world, list, this.ahead);
    this.#dueCopied += this.#due.copied;
    if (list.walked !== null) this.#whole = list;
  }

  get #newest(): CopiedList | undefined {
    return this.#lists.at(-1);
  }

  /** The newest list whose markets are all there: where bodies change all the time, an earlier one. */
  get whole(): CopiedList | null {
    return this.#whole;
  }

  /** At the end of a round: what was stored for a list that is not whole. */
  async discardRest(): Promise<void> {
    if (this.#newest !== this.#whole) await this.#newest?.discard();
  }

  isWholeOf({ listDigest }: Snapshot): boolean {
    return this.#newest?.walked?.head.digest === listDigest && this.#due.stale.length === 0;
  }

  get findings(): readonly Finding[] {
    return [...(this.#newest?.findings ?? []), ...this.#due.findings];
  }

  /** Markets that were taken over. */
  get copied(): number {
    return this.#lists.reduce((sum, { copied }) => sum + copied, this.#dueCopied);
  }

  /** Markets whose bodies are older than the links to them, newer than the log, or missing. */
  get waiting(): readonly string[] {
    return [...new Set([...(this.#newest?.stale ?? []), ...this.#due.stale])];
  }
}
