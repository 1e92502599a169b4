/**
 * Deferred markets: since when, and why. Each generation decides again which markets it defers. These records are for
 * operators: a market that stays deferred needs a repair.
 */
import { created, dropped } from '../../storage/ports/changes.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { DEFERRED, deferredKey, type HeadValue } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { changeMany } from './change-many.ts';
import type { LeftMarks } from './marks.ts';

/** After this time an alarm is raised. */
const DEFERRED_TOO_LONG_MS = 5 * 60 * 1000;

const MARKETS_SHOWN = 3;

interface Planned extends LeftMarks {
  readonly planned: Pick<ReadonlySet<string>, 'has'>;
  /** The reason, by slug. */
  readonly deferred: ReadonlyMap<string, string>;
}

export interface Deferred {
  readonly slug: string;
  readonly sinceMs: number;
  readonly reason: string;
}

/** Whether the market needs a repair, because waiting longer does not help. */
export function isDeferredTooLong({ sinceMs }: Pick<Deferred, 'sinceMs'>, nowMs: number): boolean {
  return nowMs - sinceMs > DEFERRED_TOO_LONG_MS;
}

/** The first markets with their reasons, in one line. */
export function firstOf(deferred: readonly Deferred[]): string {
  const shown = deferred.slice(0, MARKETS_SHOWN).map(({ slug, reason }) => `${slug}: ${reason}`);
  return [...shown, ...(deferred.length > MARKETS_SHOWN ? ['…'] : [])].join('; ');
}

/** Projections that HEAD names as deferred, for the same alarms. */
export function deferredProjections({ deferred = {} }: HeadValue): readonly Deferred[] {
  return Object.entries(deferred).map(([name, { sinceMs, reason }]) => ({
    slug: `projection ${name}`,
    sinceMs,
    reason,
  }));
}

export async function readDeferred({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly Deferred[]> {
  return (await readAll(ledger, DEFERRED)).map(({ sort, value }) => ({ slug: sort, ...value }));
}

/**
 * Records the markets that a generation has deferred, and removes the records of those that it has planned. Returns all
 * deferred markets.
 *
 * @param before must be read before the marks: a market that no longer has a mark was published by another publisher, and
 *   its record is removed too
 */
export async function recordDeferred(
  storage: PublisherStorage,
  before: readonly Deferred[],
  { planned, deferred, isFreshLeft, isRefreshLeft }: Planned,
): Promise<readonly Deferred[]> {
  const known = new Set(before.map(({ slug }) => slug));
  const areAllRead = !isFreshLeft && !isRefreshLeft;
  const isDone = ({ slug }: Deferred) => planned.has(slug) || (areAllRead && !deferred.has(slug));
  const sinceMs = storage.nowMs();
  const added = [...deferred].flatMap(([slug, reason]) => (known.has(slug) ? [] : [{ slug, sinceMs, reason }]));
  await changeMany(storage, [
    ...added.map(({ slug, ...value }): Change => created(deferredKey(slug), value)),
    ...before.filter(isDone).map(({ slug }) => dropped(deferredKey(slug))),
  ]);
  return [...before.filter((market) => !isDone(market)), ...added];
}
