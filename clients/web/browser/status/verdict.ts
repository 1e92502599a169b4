/** The state of the service in one line, from what it says of itself and from what a browser sees. Pure. */
import type { Snapshot } from '../../../../contract/values/market.ts';
import { agoText, many, staleDays } from '../market/words.ts';
import type { ServiceHealth } from './service-health.ts';
import type { SourceFreshness } from './source-freshness.ts';

export interface ServiceVerdict {
  readonly state: 'operational' | 'old' | 'delayed' | 'failing';
  /** The gravest first; of an operational service, what was looked at. */
  readonly reasons: readonly string[];
}

export interface VerdictFacts {
  /** Why the newest snapshot could not be read. Null: it was. */
  readonly problem: string | null;
  /** Null: none was read yet. */
  readonly snapshot: Snapshot | null;
  /** Of a copy that is shown because the service behind it fails. Null: there is no such copy. */
  readonly copySeconds: number | null;
  /** Null: no server answers for itself, as on a static host. */
  readonly health: ServiceHealth | null;
  readonly sources: readonly SourceFreshness[];
  /** The faults that a check of the log has found. */
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

/** A source without a cadence has promised no new price, so that its age is no delay. */
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
