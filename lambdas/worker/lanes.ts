/** The queue as one worker sees it: which lanes there are, which of them it may work on, and which is next. */
import type { Ledger } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';
import {
  giveBack,
  heldUntilMs,
  isHeld,
  LEASE_MS,
  type LeaseDependencies,
  takeLeases,
  type WorkItem,
} from './leases.ts';
import { overlap, union } from './touches.ts';

export type LaneDependencies = LeaseDependencies & Pick<Runtime, 'random'> & { readonly ledger: Pick<Ledger, 'query'> };

/** Batches are small: each is done as a whole. Of anything else one part is done at a time. */
export type LaneSize = 'small' | 'large';

export interface Lane {
  readonly name: string;
  readonly size: LaneSize;
  /** Its items that are left, as far as this worker knows, in order. */
  items: readonly WorkItem[];
}

/**
 * It costs one transaction to lease several items, as it does to lease one. Of a lane that is new to it, a worker leases the first
 * item alone: workers that meet there must not be in each other's way further on.
 */
const LEASED_AT_ONCE = 10;

/** For so long the parts of one large lane follow one another. Meanwhile other workers find the other large lanes free. */
const LARGE_TURN_MS = 2_000;

export class Lanes {
  readonly #dependencies: LaneDependencies;
  #lanes: readonly Lane[] = [];
  readonly #leftAlone = new Set<string>();
  /** Lanes of which this worker has leased something. */
  readonly #own = new Set<string>();
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

  /** Of the lanes that may be taken, the one that has waited for its turn for longest; a large one that it has comes first. */
  next(size: LaneSize): Lane | undefined {
    const lanes = this.#mayBeTaken(size).sort((left, right) => this.#lastTurn(left) - this.#lastTurn(right));
    return (size === 'large' ? lanes.find(({ items: [first] }) => this.#isOurs(first)) : undefined) ?? lanes[0];
  }

  #lastTurn({ name }: Lane): number {
    return this.#lastTurns.get(name) ?? 0;
  }

  /**
   * Leases what is next in the lane, unless it has it. Gives the lane as it is then; null where other workers were quicker, or
   * are in the way.
   */
  async take(lane: Lane): Promise<Lane | null> {
    this.#lastTurns.set(lane.name, ++this.#turns);
    const [first] = lane.items;
    if (first !== undefined && isHeld(first, this.#dependencies)) return lane;
    const wanted = lane.items.slice(0, this.#own.has(lane.name) ? LEASED_AT_ONCE : 1);
    const leased = await takeLeases(this.#dependencies, wanted);
    // If it did not get all of them, the next look shows how things stand.
    lane.items = leased.length < wanted.length ? leased : [...leased, ...lane.items.slice(wanted.length)];
    if (leased.length === 0) return null;
    this.#own.add(lane.name);
    if (leased.every(({ value }) => value.touches === undefined)) return lane;
    // Another worker may have leased work on the same markets at the same time.
    await this.look();
    return this.#mayBeTaken(lane.size).find(({ name }) => name === lane.name) ?? null;
  }

  /** The first item of the lane has been done. */
  done(lane: Lane): void {
    lane.items = lane.items.slice(1);
  }

  /** A part of a large lane is done, which has written to these markets. After a while it is the turn of another large one. */
  async pause(lane: Lane, touched: readonly string[]): Promise<void> {
    const before = lane.items[0]?.value.touches ?? [];
    const touches = union(before, touched);
    const leasedAtMs = (lane.items[0]?.value.lease?.untilMs ?? 0) - LEASE_MS;
    if (this.#dependencies.nowMs() - leasedAtMs > LARGE_TURN_MS && this.#mayBeTaken('large').length > 1) {
      lane.items = await giveBack(this.#dependencies, lane.items, { touches });
    } else if (this.#lanes.length > 1 && touches.join() !== before.join()) {
      lane.items = await takeLeases(this.#dependencies, lane.items, { touches });
    }
  }

  /** The first item of the lane was not done. If it is still there, this worker leaves the lane alone from now on. */
  async leave(lane: Lane): Promise<void> {
    const [first] = lane.items;
    const [left] = await giveBack(this.#dependencies, lane.items);
    if (left?.sort === first?.sort) this.#leftAlone.add(lane.name);
    lane.items = [];
  }

  /** Gives back all leases; says whether there were any. */
  async giveBackAll(): Promise<boolean> {
    let had = false;
    for (const lane of this.#lanes) {
      if (!lane.items.some((item) => this.#isOurs(item))) continue;
      had = true;
      lane.items = await giveBack(this.#dependencies, lane.items);
    }
    return had;
  }

  #open(): Lane[] {
    return this.#lanes.filter(({ name, items }) => items.length > 0 && !this.#leftAlone.has(name));
  }

  #mayBeTaken(size: LaneSize): Lane[] {
    const { owner, nowMs } = this.#dependencies;
    const isFree = ({ items: [first] }: Lane) => first !== undefined && heldUntilMs(first, owner) <= nowMs();
    return this.#open().filter((lane) => lane.size === size && isFree(lane) && !this.#isInTheWay(lane));
  }

  /** Whether another worker is on the same markets. Of two workers who lease such work at the same time, the lane with the first name stays. */
  #isInTheWay({ name, items: [first] }: Lane): boolean {
    return this.#lanes.some(
      (other) =>
        (!this.#isOurs(first) || other.name < name) &&
        other.items.some((item) => this.#isAnothers(item) && overlap(item.value.touches, first?.value.touches)),
    );
  }

  #isOurs(item: WorkItem | undefined): boolean {
    return item?.value.lease?.owner === this.#dependencies.owner;
  }

  #isAnothers(item: WorkItem): boolean {
    const { owner, nowMs } = this.#dependencies;
    return item.value.lease?.owner !== null && heldUntilMs(item, owner) > nowMs();
  }
}
