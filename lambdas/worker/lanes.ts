/** The queue as one worker sees it: which lanes there are, which of them it may work on, and which is next. */
import type { Ledger } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';
import { giveBack, heldUntilMs, isHeld, type LeaseDependencies, takeLeases, type WorkItem } from './leases.ts';

export interface LaneDependencies extends LeaseDependencies, Pick<Runtime, 'random'> {
  readonly ledger: Pick<Ledger, 'query' | 'transact'>;
}

/** Batches are small: each is done as a whole. Of anything else one part is done at a time. */
export type LaneSize = 'small' | 'large';

export interface Lane {
  readonly name: string;
  readonly size: LaneSize;
  /** What is left of it as this worker knows it, in order. */
  items: readonly WorkItem[];
}

/** Of one lane: to lease several items costs one transaction, as one does. */
const LEASED_AT_ONCE = 10;

export class Lanes {
  readonly #dependencies: LaneDependencies;
  #lanes: readonly Lane[] = [];
  readonly #leftAlone = new Set<string>();
  /** When each lane had its last turn, counted in turns. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;

  constructor(dependencies: LaneDependencies) {
    this.#dependencies = dependencies;
  }

  /** How often a lane was taken. */
  get turns(): number {
    return this.#turns;
  }

  /** When the first of the lanes that this worker may not take yet may be taken; null where there is none. */
  get nextAtMs(): number | null {
    const times = this.#open().map(({ items: [first] }) => (first ? heldUntilMs(first, this.#dependencies.owner) : 0));
    const later = times.filter((time) => time > this.#dependencies.nowMs());
    return later.length === 0 ? null : Math.min(...later);
  }

  /** Reads the queue. */
  async look(): Promise<void> {
    const { ledger, random } = this.#dependencies;
    const items = Map.groupBy(await readAll(ledger, WORK_QUEUE), ({ value }) => value.lane);
    const lanes = [...items].map(([name, items]): Lane => {
      return { name, size: items[0]?.value.kind === 'ingest' ? 'small' : 'large', items };
    });
    // Workers that begin at the same time begin with different lanes.
    const first = Math.floor(random() * lanes.length);
    this.#lanes = [...lanes.slice(first), ...lanes.slice(0, first)];
  }

  /** Of the lanes that may be taken, the one that has waited for its turn for longest. */
  next(size: LaneSize): Lane | undefined {
    const last = ({ name }: Lane) => this.#lastTurns.get(name) ?? 0;
    return this.#mayBeTaken(size).sort((left, right) => last(left) - last(right))[0];
  }

  /** Leases what is next in the lane, unless it has it; null where other workers were quicker. */
  async take(lane: Lane): Promise<WorkItem | null> {
    this.#lastTurns.set(lane.name, ++this.#turns);
    const [first] = lane.items;
    if (first !== undefined && isHeld(first, this.#dependencies)) return first;
    const wanted = lane.items.slice(0, LEASED_AT_ONCE);
    const leased = await takeLeases(this.#dependencies, wanted);
    // Where not all of them were there to be had, the next look shows how things stand.
    lane.items = leased.length < wanted.length ? leased : [...leased, ...lane.items.slice(wanted.length)];
    return lane.items[0] ?? null;
  }

  /** The first item of the lane has been done. */
  done(lane: Lane): void {
    lane.items = lane.items.slice(1);
  }

  /** A part of a large lane is done. Its lease is kept, unless this worker would keep several large lanes from other ones. */
  async pause(lane: Lane): Promise<void> {
    if (this.#mayBeTaken('large').length > 1) lane.items = await giveBack(this.#dependencies, lane.items);
  }

  /** The first item of the lane was not done. Where it is still there, this worker leaves the lane alone from now on. */
  async leave(lane: Lane): Promise<void> {
    const [first] = lane.items;
    const [left] = await giveBack(this.#dependencies, lane.items);
    if (left?.sort === first?.sort) this.#leftAlone.add(lane.name);
    lane.items = [];
  }

  async giveBackAll(): Promise<void> {
    for (const { items } of this.#lanes) await giveBack(this.#dependencies, items);
  }

  #open(): Lane[] {
    return this.#lanes.filter(({ name, items }) => items.length > 0 && !this.#leftAlone.has(name));
  }

  #mayBeTaken(size: LaneSize): Lane[] {
    const { owner, nowMs } = this.#dependencies;
    const isFree = ({ items: [first] }: Lane) => first !== undefined && heldUntilMs(first, owner) <= nowMs();
    return this.#open().filter((lane) => lane.size === size && isFree(lane));
  }
}
