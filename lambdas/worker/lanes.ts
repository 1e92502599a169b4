/** The queue as one worker sees it: its lanes, the lanes that the worker may take, and the next one. */

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
     * Awaited after each new lease, before any work under it; rejects if a later version has changed the ledger's format. A
     * migration changes the format first, and then waits for the leases that it sees: so no worker of the version before is
     * left. Default: no other process can change the format.
     */
    readonly checkFormat?: () => Promise<unknown>;
    /** Receives, of each batch that is seen on the queue, how long it has waited. */
    readonly waited?: (ms: number) => void;
  };

/** Batches are small: each is done as a whole. Other work is done one part at a time. */
export type LaneSize = 'small' | 'large';

export interface Lane {
  readonly name: string;
  readonly size: LaneSize;
  /** Its remaining items, as far as this worker knows, in order. */
  items: readonly WorkItem[];
  /** So many of its batches are tried together in its next turn: twice as many as its last turn has done. */
  together: number;
}

/**
 * Leasing ten items costs one transaction, like leasing one. Ten batches of one row, with seven changes each, also fit one
 * transaction. In a lane that is new to it, a worker leases only the first item: if several workers meet there, they do not
 * conflict on later items.
 */
export const LEASED_AT_ONCE = 10;

/** The parts of one large lane follow one another for this long. Meanwhile other workers can take other large lanes. */
const LARGE_TURN_MS = 2_000;

export class Lanes {
  readonly #dependencies: LaneDependencies;
  #lanes: readonly Lane[] = [];
  readonly #leftAlone = new Set<string>();
  /** Lanes of which this worker has leased items. */
  readonly #own = new Set<string>();
  /** When each lane had its last turn, counted in turns. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  /** Where the next look begins. */
  #from = QUEUE_BEGIN;
  #nextAtMs: number | null = null;

  constructor(dependencies: LaneDependencies) {
    this.#dependencies = dependencies;
  }

  /** How often a lane was taken. */
  get turns(): number {
    return this.#turns;
  }

  /** When the first lane becomes free that this worker may not take yet, by the last look; null if there is no such lane. */
  get nextAtMs(): number | null {
    return this.#nextAtMs;
  }

  /**
   * Reads the next part of the queue in which this worker may take a lane. If it shows no such lane, no lane of the queue may be
   * taken.
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

  /** Lanes that this worker has leased stay, so that their leases are used or given back. */
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
    // Workers that begin at the same time begin with different lanes.
    const first = Math.floor(random() * seen.length);
    this.#lanes = [...kept, ...seen.slice(first), ...seen.slice(0, first)];
    const later = this.#open().map(({ items: [first] }) => (first ? heldUntilMs(first, owner) : 0));
    const times = [...later.filter((time) => time > nowMs()), this.#nextAtMs ?? Number.POSITIVE_INFINITY];
    const earliest = times.reduce((left, right) => Math.min(left, right));
    this.#nextAtMs = Number.isFinite(earliest) ? earliest : null;
  }

  /**
   * Of the free large lanes, one that this worker has leased, else the one that has waited longest for its turn.
   */
  nextLarge(): Lane | undefined {
    const lanes = this.#inTurn('large');
    return lanes.find(({ items: [first] }) => this.#isOurs(first)) ?? lanes[0];
  }

  /**
   * The next small lanes, with at most this many batches to do. Returns several only if each first batch has few rows,
   * because these share a transaction.
   *
   * @param atOnce batches of one lane that are done together, at most
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

  /** The leading items of the lane that can be done together. Empty: its first item is done alone. */
  heldTogether(lane: Lane, atOnce: number): readonly WorkOf<'ingest'>[] {
    const items = lane.items.slice(0, Math.min(atOnce, lane.together));
    const isOther = (item: WorkItem) =>
      item.value.kind !== 'ingest' || !hasFewRows(item) || !isHeld(item, this.#dependencies);
    const end = items.findIndex(isOther);
    return (end === -1 ? items : items.slice(0, end)) as readonly WorkOf<'ingest'>[];
  }

  /** The lanes in groups of which so many batches can be done together. */
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

  /** Those that may be taken, the one that has waited longest first. */
  #inTurn(size: LaneSize): Lane[] {
    return this.#mayBeTaken(size).sort((left, right) => this.#lastTurn(left) - this.#lastTurn(right));
  }

  #lastTurn({ name }: Lane): number {
    return this.#lastTurns.get(name) ?? 0;
  }

  /**
   * Leases the next items of the lane, unless this worker has them already. Returns the lane as it is then; null if
   * another worker was faster, or writes to the same markets.
   */
  async take(lane: Lane): Promise<Lane | null> {
    this.#lastTurns.set(lane.name, ++this.#turns);
    const [first] = lane.items;
    if (first !== undefined && isHeld(first, this.#dependencies)) return lane;
    const wanted = lane.items.slice(0, this.#own.has(lane.name) ? LEASED_AT_ONCE : 1);
    const leased = await takeLeases(this.#dependencies, wanted);
    // If it did not get all of them, the next look shows the current state.
    lane.items = leased.length < wanted.length ? leased : [...leased, ...lane.items.slice(wanted.length)];
    if (leased.length === 0) return null;
    this.#own.add(lane.name);
    await this.#dependencies.checkFormat?.();
    if (leased.every(({ value }) => value.touches === undefined)) return lane;
    // Another worker may have leased work on the same markets at the same time.
    await this.look();
    return this.#mayBeTaken(lane.size).find(({ name }) => name === lane.name) ?? null;
  }

  /** To be called when the first items of the lane are done: by default, one. */
  done(lane: Lane, count = 1): void {
    lane.items = lane.items.slice(count);
    lane.together = 2 * count;
  }

  /**
   * To be called when a part of a large lane is done, with the markets that it wrote to. After a while another large
   * lane gets its turn.
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

  /**
   * To be called when the first item of the lane failed. If the item still exists, this worker no longer takes the
   * lane.
   */
  async leave(lane: Lane): Promise<void> {
    const [first] = lane.items;
    const [left] = await giveBack(this.#dependencies, lane.items);
    if (left?.sort === first?.sort) this.#leftAlone.add(lane.name);
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
    return this.#lanes.filter(({ name, items }) => items.length > 0 && !this.#leftAlone.has(name));
  }

  #mayBeTaken(size: LaneSize): Lane[] {
    const { owner, nowMs } = this.#dependencies;
    const isFree = ({ items: [first] }: Lane) => first !== undefined && heldUntilMs(first, owner) <= nowMs();
    const others = this.#lanes.flatMap(({ items }) => items.filter((item) => this.#isAnothers(item)));
    return this.#open().filter((lane) => lane.size === size && isFree(lane) && !this.#isBlocked(lane, others));
  }

  /**
   * Whether another worker writes to the same markets. If two workers lease such work at the same time, the lane with
   * the first name stays.
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

/** The time in the id of a batch. Null: it is other work, or has no such id, which must not hold it up. */
function sentAtMsOf({ sort, value }: WorkItem): number | null {
  const ulid = workIdOf({ sort }).replace(/^bat_/, '');
  return value.kind === 'ingest' && isValid(ulid) ? decodeTime(ulid) : null;
}
