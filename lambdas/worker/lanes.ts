/** One worker's view of the queue: its lanes, the lanes that the worker may take, and the next one. */

import { decodeTime, isValid } from 'ulid';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { workIdOf } from '../../storage/records/batches.ts';
import { overlap, union } from './affected-markets.ts';
import {
  giveBack,
  heldUntilMs,
  isHeld,
  LEASE_MS,
  type LeaseDependencies,
  takeLeases,
  type WorkItem,
  type WorkOf,
} from './leases.ts';
import { QUEUE_BEGIN, type QueueView, readQueue } from './queue.ts';

export type LaneDependencies = LeaseDependencies &
  Pick<Runtime, 'random'> & {
    readonly ledger: Pick<Ledger, 'query'>;
    /**
     * Awaited after each new lease, before the leased work. Rejects if a later version has changed the ledger's format. A
     * migration changes the format first, and then waits for the visible leases. So no worker of the earlier version is left.
     * Default: no other process can change the format.
     */
    readonly checkFormat?: () => Promise<unknown>;
    /** Receives the waiting time of each batch that is seen on the queue. */
    readonly waited?: (ms: number) => void;
  };

/** Small: a batch, which is done as a whole. Large: other work, which is done one part at a time. */
export type LaneSize = 'small' | 'large';

export interface Lane {
  readonly name: string;
  readonly size: LaneSize;
  /** The remaining items that this worker knows, in order. */
  items: readonly WorkItem[];
  /** The number of its batches to try together in its next turn: twice as many as the last turn has done. */
  together: number;
}

/**
 * Leasing ten items costs one transaction, as leasing one does. Ten batches of one row, with seven changes each, also fit one
 * transaction. In a new lane, a worker leases only the first item, so that several workers do not conflict on later items.
 */
export const LEASED_AT_ONCE = 10;

/**
 * The time for which the parts of one large lane are done without a break. Meanwhile other workers can take other large lanes.
 */
const LARGE_TURN_MS = 2_000;

/** A run does not end while other lanes get new work. So it also tries a failed lane again. */
const LEFT_ALONE_MS = 60_000;

export class Lanes {
  readonly #dependencies: LaneDependencies;
  #lanes: readonly Lane[] = [];
  /** Lanes whose first item failed, each with the time until which this worker does not take it. */
  readonly #leftAloneUntilMs = new Map<string, number>();
  /** Lanes of which this worker has leased items. */
  readonly #own = new Set<string>();
  /** The turn number of each lane's last turn. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** The place where the next look begins. */
  #from = QUEUE_BEGIN;
  #nextAtMs: number | null = null;

  constructor(dependencies: LaneDependencies) {
    this.#dependencies = dependencies;
  }

  /** The number of turns so far. */
  get turns(): number {
    return this.#turns;
  }

  /**
   * By the last look, the time when the first lane becomes free that this worker may not take yet; null if there is no such
   * lane.
   */
  get nextAtMs(): number | null {
    return this.#nextAtMs;
  }

  /**
   * Reads on in the queue until it finds a lane that this worker may take. If it finds none, there is no such lane in the whole
   * queue.
   */
  async look(): Promise<void> {
    const start = this.#from;
    let hasPassedEnd = false;
    this.#nextAtMs = null;
    for (;;) {
      const { ledger } = this.#dependencies;
      const view = await readQueue(ledger, this.#from);
      this.#show(view);
      hasPassedEnd ||= view.next <= this.#from;
      this.#from = view.next;
      if (view.isWhole || (hasPassedEnd && view.next >= start)) return;
      if (this.#mayBeTaken('small').length + this.#mayBeTaken('large').length > 0) return;
    }
  }

  /** Leased lanes of this worker stay, so that their leases are used or given back. */
  #show({ items, isWhole }: QueueView): void {
    const { owner, nowMs, random, waited } = this.#dependencies;
    for (const item of items) {
      const sentAtMs = sentAtMsOf(item);
      if (sentAtMs !== null) waited?.(nowMs() - sentAtMs);
    }
    const byLane = Map.groupBy(items, ({ value }) => value.lane);
    const stays = (lane: Lane) => !isWhole && this.#isOurs(lane.items[0]) && !byLane.has(lane.name);
    const kept = this.#lanes.filter(stays);
    const seen = [...byLane].map(([name, items]): Lane => {
      return { name, size: items[0]?.value.kind === 'ingest' ? 'small' : 'large', items, together: LEASED_AT_ONCE };
    });
    // Starts at a random lane, so that workers that begin at the same time take different lanes.
    const first = Math.floor(random() * seen.length);
    this.#lanes = [...kept, ...seen.slice(first), ...seen.slice(0, first)];
    const later = this.#open().map(({ items: [first] }) => (first ? heldUntilMs(first, owner) : 0));
    const times = [...later.filter((time) => time > nowMs()), this.#nextAtMs ?? Number.POSITIVE_INFINITY];
    const earliest = times.reduce((left, right) => Math.min(left, right));
    this.#nextAtMs = Number.isFinite(earliest) ? earliest : null;
  }

  /** The next free large lane: one that this worker has leased, or else the one that has waited longest. */
  nextLarge(): Lane | undefined {
    const lanes = this.#inTurn('large');
    return lanes.find(({ items: [first] }) => this.#isOurs(first)) ?? lanes[0];
  }

  /**
   * The next small lanes, with at most `count` batches to do. Returns several lanes only if the first batch of each has few
   * rows, because such batches share a transaction.
   *
   * @param atOnce the limit of batches of one lane that are done together
   */
  nextSmall(count: number, atOnce: number): readonly Lane[] {
    const lanes = this.#inTurn('small');
    const [first] = lanes;
    if (first === undefined || !hasFewRows(first.items[0])) return lanes.slice(0, 1);
    let left = count;
    return lanes.filter((lane) => {
      if (left <= 0 || !hasFewRows(lane.items[0])) return false;
      left -= this.#own.has(lane.name) ? Math.min(atOnce, lane.together, lane.items.length) : 1;
      return true;
    });
  }

  /** The leading items of the lane that can be done together. Empty: the first item is done alone. */
  heldTogether(lane: Lane, atOnce: number): readonly WorkOf<'ingest'>[] {
    const items = lane.items.slice(0, Math.min(atOnce, lane.together));
    const isOther = (item: WorkItem) =>
      item.value.kind !== 'ingest' || !hasFewRows(item) || !isHeld(item, this.#dependencies);
    const end = items.findIndex(isOther);
    return (end === -1 ? items : items.slice(0, end)) as readonly WorkOf<'ingest'>[];
  }

  /** Groups the lanes so that the batches of each group can be done together. */
  sharing(lanes: readonly Lane[], atOnce: number): readonly (readonly Lane[])[] {
    const groups: Lane[][] = [];
    let left = 0;
    for (const lane of lanes) {
      const count = Math.max(1, this.heldTogether(lane, atOnce).length);
      if (count > left) {
        groups.push([]);
        left = atOnce;
      }
      groups.at(-1)?.push(lane);
      left -= count;
    }
    return groups;
  }

  /** The lanes that may be taken, the longest waiting first. */
  #inTurn(size: LaneSize): Lane[] {
    return this.#mayBeTaken(size).sort((left, right) => this.#lastTurn(left) - this.#lastTurn(right));
  }

  #lastTurn({ name }: Lane): number {
    return this.#lastTurns.get(name) ?? 0;
  }

  /**
   * Leases the next items of the lane, unless this worker has them already. Returns the lane in its new state; null if another
   * worker was faster, or writes to the same markets.
   */
  async take(lane: Lane): Promise<Lane | null> {
    this.#lastTurns.set(lane.name, ++this.#turns);
    const [first] = lane.items;
    if (first !== undefined && isHeld(first, this.#dependencies)) return lane;
    const wanted = lane.items.slice(0, this.#own.has(lane.name) ? LEASED_AT_ONCE : 1);
    const leased = await takeLeases(this.#dependencies, wanted);
    // If another worker has some of the items, the next look reads the current state.
    lane.items = leased.length < wanted.length ? leased : [...leased, ...lane.items.slice(wanted.length)];
    if (leased.length === 0) return null;
    this.#own.add(lane.name);
    await this.#dependencies.checkFormat?.();
    if (leased.every(({ value }) => value.touches === undefined)) return lane;
    // Another worker may have leased work on the same markets at the same time.
    await this.look();
    return this.#mayBeTaken(lane.size).find(({ name }) => name === lane.name) ?? null;
  }

  /** Call it when the first items of the lane are done: by default, one. */
  done(lane: Lane, count = 1): void {
    lane.items = lane.items.slice(count);
    lane.together = 2 * count;
  }

  /**
   * Call it when a part of a large lane is done, with the markets that the part wrote to. After some time, it gives the lease
   * back, so that another large lane has its turn.
   */
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

  /** Call it when the first item of the lane failed. If the item still exists, this worker takes the lane later. */
  async leave(lane: Lane): Promise<void> {
    const [first] = lane.items;
    const [left] = await giveBack(this.#dependencies, lane.items);
    if (left?.sort === first?.sort) {
      this.#leftAloneUntilMs.set(lane.name, this.#dependencies.nowMs() + LEFT_ALONE_MS);
    }
    lane.items = [];
  }

  /** Gives back all leases; returns whether there were any. */
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
    const nowMs = this.#dependencies.nowMs();
    const isLeftAlone = ({ name }: Lane) => (this.#leftAloneUntilMs.get(name) ?? 0) > nowMs;
    return this.#lanes.filter((lane) => lane.items.length > 0 && !isLeftAlone(lane));
  }

  #mayBeTaken(size: LaneSize): Lane[] {
    const { owner, nowMs } = this.#dependencies;
    const isFree = ({ items: [first] }: Lane) => first !== undefined && heldUntilMs(first, owner) <= nowMs();
    const others = this.#lanes.flatMap(({ items }) => items.filter((item) => this.#isAnothers(item)));
    return this.#open().filter((lane) => lane.size === size && isFree(lane) && !this.#isBlocked(lane, others));
  }

  /**
   * Whether another worker writes to the same markets. If two workers lease such work at the same time, the lane whose name
   * sorts first is continued.
   */
  #isBlocked({ name, items: [first] }: Lane, others: readonly WorkItem[]): boolean {
    return others.some(
      ({ value }) => (!this.#isOurs(first) || value.lane < name) && overlap(value.touches, first?.value.touches),
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

function hasFewRows(item: WorkItem | undefined): boolean {
  return item?.value.touches === undefined;
}

/** The time in the id of a batch. Null for other work, and for an id without a time, which must not be delayed. */
function sentAtMsOf({ sort, value }: WorkItem): number | null {
  const ulid = workIdOf({ sort }).replace(/^bat_/, '');
  return value.kind === 'ingest' && isValid(ulid) ? decodeTime(ulid) : null;
}
