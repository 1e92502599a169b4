/** The state of the service in one line, from its own statements and from the browser's observations. Pure. */
import type { Snapshot } from '../../../../contract/values/market.ts';
import { agoText, many, staleDays } from '../market/words.ts';
import type { ServiceHealth } from './service-health.ts';
import type { SourceFreshness } from './source-freshness.ts';

export interface ServiceVerdict {
  readonly state: 'operational' | 'old' | 'delayed' | 'failing';
  /** The most serious first; for an operational service, the checks that were made. */
  readonly reasons: readonly string[];
}

export interface VerdictFacts {
  /** Why the newest snapshot could not be read. Null: it was read. */
  readonly problem: string | null;
  /** Null: none has been read yet. */
  readonly snapshot: Snapshot | null;
  /** The age of a copy that is shown because the service behind it fails. Null: there is no such copy. */
  readonly copySeconds: number | null;
  /** Null: there is no server, as on a static host. */
  readonly health: ServiceHealth | null;
  readonly sources: readonly SourceFreshness[];
  /** The fault that a check of the log has found. */
  readonly logFault: string | null;
  /** Since the epoch. */
  readonly nowMs: number;
}

export function verdictOf(facts: VerdictFacts): ServiceVerdict {
  const failures = failuresOf(facts);
  const delays = delaysOf(facts);
  if (failures.length > 0) return { state: 'failing', reasons: [...failures, ...delays] };
  if (delays.length > 0) return { state: 'delayed', reasons: delays };
  const isOld = facts.sources.some(({ staleDays: days }) => days !== null);
  return { state: isOld ? 'old' : 'operational', reasons: ageOf(facts.sources) };
}

/** A source without a cadence has no due times, so the age of its prices is not a delay. */
function ageOf(sources: readonly SourceFreshness[]): readonly string[] {
  const old = sources.flatMap(({ staleDays: days }) => days ?? []);
  const fresh = sources.length - old.length;
  return [
    ...(fresh === 0 && old.length > 0 ? [] : [`Prices of ${many(fresh, 'source')} are as new as expected.`]),
    ...(old.length === 0
      ? []
      : [
          `${many(old.length, 'source')} of ${sources.length} without a new price, for up to ${Math.max(...old)} days.`,
        ]),
  ];
}

function failuresOf({ problem, health, logFault }: VerdictFacts): readonly string[] {
  return [
    ...(problem === null ? [] : [`The public files cannot be read: ${problem}.`]),
    ...(health?.status === 'failing' ? (health.faults.length > 0 ? health.faults : [health.detail]) : []),
    ...(logFault === null ? [] : [`A check of the signed log failed: ${logFault}.`]),
  ];
}

function delaysOf({ snapshot, copySeconds, health, sources, nowMs }: VerdictFacts): readonly string[] {
  const late = sources.filter(({ late }) => late > 0);
  const silentDays = snapshot === null ? null : staleDays(snapshot.publishedAt, nowMs);
  return [
    ...(copySeconds === null
      ? []
      : [`This is a copy from ${agoText(copySeconds * 1000)}: the service behind it does not answer.`]),
    ...(health?.status === 'starting' ? [health.detail] : []),
    ...(snapshot?.deferred === undefined ? [] : [`Files that could not be made: ${snapshot.deferred.join(', ')}.`]),
    ...(late.length === 0 ? [] : [`${many(late.length, 'source')} of ${sources.length} late.`]),
    ...(silentDays === null ? [] : [`Nothing was published for ${silentDays} days.`]),
  ];
}
