/**
 * The counters of quotas. Two DynamoDB transactions on the same item at the same time conflict. So the counter of a busy
 * feature gives parts of a large limit to reserves in advance, and most writes take from one reserve alone. The counter
 * includes what was used and what the reserves hold, so together they never exceed the limit. A writer of an earlier version,
 * which knows no reserves, only counts too much as used. Pure, except for reading.
 */
import { FEATURES, type Feature } from '../../contract/values/features.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { CheckChange, CountChange, Item, ItemKey, LedgerReader } from '../../storage/ports/ledger.ts';
import { readMany } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { RESERVES, reserveKey, usageKey } from '../../storage/records/accounts.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The owner of a counter, and the moment. */
export interface CounterOwner {
  readonly subject: string;
  /** The credential whose use is counted. */
  readonly actor: string;
  readonly nowMs: number;
}

const BUSY: ReadonlySet<Feature> = new Set<Feature>([
  'ingest-batches-per-day',
  'ingest-rows-per-day',
  'ingest-bytes-per-day',
]);

/** Smaller limits have no reserves, because each share would be too small. */
const RESERVED_FROM = 100_000;

/** The share of the rest of the limit that a refill gives to a reserve. A full counter takes back what the reserves hold. */
const SHARE = 1 / (2 * RESERVES.length);

/** Whether writes take from reserves. */
export function isReserved(feature: Feature, limit: number): boolean {
  return BUSY.has(feature) && limit >= RESERVED_FROM;
}

/**
 * A feature with a daily limit has a counter for each day. The keys of operators and of their feeds share one subject. Each of
 * these keys has its own counters, so that a stolen key of one feed cannot use up the limit of the others.
 */
export function counterKey(owner: CounterOwner, feature: Feature): ItemKey<number> {
  if (FEATURES[feature].kind !== 'rate') return usageKey(owner.subject, feature, null);
  return usageKey(holderOf(owner), feature, dayOf(owner));
}

const reserveKeyOf = (owner: CounterOwner, feature: Feature, reserve: number) =>
  reserveKey(holderOf(owner), feature, dayOf(owner), reserve);
const holderOf = ({ subject, actor }: CounterOwner) => (subject === OPERATOR_SUBJECT ? actor : subject);
const dayOf = ({ nowMs }: CounterOwner) => new Date(nowMs).toISOString().slice(0, 10);

/** Distributes the writes of a credential evenly, because each has another idempotency key. */
export function reserveOf(idempotencyKey: string): number {
  return Number.parseInt(sha256Hex(idempotencyKey).slice(0, 4), 16) % RESERVES.length;
}

/** The counter of a feature and its reserves, read one by one. */
export interface Counters {
  readonly counter: Item<number> | null;
  /** Empty for features without reserves. */
  readonly reserves: readonly (Item<number> | null)[];
}

const count = (item: Item<number> | null | undefined) => item?.value ?? 0;
const inReserves = ({ reserves }: Counters) => reserves.reduce((sum, item) => sum + count(item), 0);

/** The use of a quota. */
export function usedOf(counters: Counters): number {
  return count(counters.counter) - inReserves(counters);
}

/** The keys of a feature: its counter first, then its reserves. */
function keysOf(owner: CounterOwner, feature: Feature): readonly ItemKey<number>[] {
  const reserves = BUSY.has(feature) ? RESERVES.map((reserve) => reserveKeyOf(owner, feature, reserve)) : [];
  return [counterKey(owner, feature), ...reserves];
}

/** Whether a transaction was refused by its counter or a reserve. */
export function hasRefused(owner: CounterOwner, feature: Feature, found: ConflictItems): boolean {
  return keysOf(owner, feature).some((key) => found.get(key) !== undefined);
}

/** Reads the counters of these features. The items are read one by one, so they may show different moments. */
export async function readCounters(
  ledger: Pick<LedgerReader, 'getMany'>,
  owner: CounterOwner,
  features: Iterable<Feature>,
): Promise<ReadonlyMap<Feature, Counters>> {
  const keys = [...new Set(features)].map((feature) => [feature, keysOf(owner, feature)] as const);
  const items = (
    await readMany(
      ledger,
      keys.flatMap(([, own]) => own),
    )
  ).values();
  const next = () => items.next().value ?? null;
  return new Map(
    keys.map(([feature, own]) => {
      const [counter = null, ...reserves] = own.map(next);
      return [feature, { counter, reserves }];
    }),
  );
}

export interface Use {
  readonly feature: Feature;
  /** A negative amount returns used quota. */
  readonly amount: number;
  readonly limit: number;
}

/**
 * The changes that take this amount within the limit.
 *
 * @param reserve the reserve to take from; null: this ledger uses no reserves
 * @param found the counters that were read after a refusal of such changes; undefined: no refusal yet
 */
export function changesOfUse(
  owner: CounterOwner,
  { feature, amount, limit }: Use,
  reserve: number | null,
  found: Counters | undefined,
): readonly CountChange[] {
  // A daily counter is not used after its day.
  const expiry = FEATURES[feature].kind === 'rate' ? { expiresAtMs: owner.nowMs + 2 * DAY_MS } : {};
  const add = (key: ItemKey<number>, by: number, atMost = Number.MAX_SAFE_INTEGER): CountChange[] =>
    by === 0 ? [] : [{ kind: 'count', key, by, atLeast: 0, atMost, ...expiry }];
  const counter = counterKey(owner, feature);
  const own = reserve === null || !isReserved(feature, limit) ? null : reserveKeyOf(owner, feature, reserve);
  if (amount < 0) return add(counter, amount);
  if (found === undefined) return own === null ? add(counter, amount, limit) : add(own, -amount);
  const rest = limit - count(found.counter);
  if (rest >= amount) {
    const taken = own === null ? amount : Math.max(amount, Math.floor(rest * SHARE));
    return [...add(counter, taken, limit), ...(own === null ? [] : add(own, taken - amount))];
  }
  // The counter is full, so it takes back what the reserves hold.
  const returned = found.reserves.flatMap((item, index) => add(reserveKeyOf(owner, feature, index), -count(item)));
  return [
    { kind: 'count', key: counter, by: amount - inReserves(found), atLeast: 0, atMost: limit, ...expiry },
    ...returned,
  ];
}

/** Checks that the counter and its reserves still have the values that were read. They change nothing. */
export function areAsRead(
  owner: CounterOwner,
  feature: Feature,
  { counter, reserves }: Counters,
): readonly [CheckChange, ...CheckChange[]] {
  const check = (key: ItemKey<number>, item: Item<number> | null = null): CheckChange => {
    const condition = item === null ? ({ kind: 'absent' } as const) : versionOf(item);
    return { kind: 'check', key, if: condition };
  };
  const [first, ...others] = keysOf(owner, feature) as [ItemKey<number>, ...ItemKey<number>[]];
  return [check(first, counter), ...others.map((key, index) => check(key, reserves[index]))];
}

const versionOf = ({ attemptId }: Item<number>) => ({ kind: 'written-by', attemptId }) as const;
