/** The end of a run: its record, the state of its source, and the time of the next run, in one transaction. */
import { IDLE_RUN_KEPT_DAYS, type RunOutcome } from '../../../contract/operations/sources.ts';
import { parseRecipe, type Recipe } from '../../../mapping/recipe/recipe.ts';
import { nextRunAt } from '../../../mapping/recipe/schedule.ts';
import { replaced } from '../../../storage/ports/changes.ts';
import type { Change } from '../../../storage/ports/ledger.ts';
import {
  type RunValue,
  runWorkKey,
  type SourceStateValue,
  type SourceValue,
  sourceKey,
  sourceStateKey,
  type TakenInValue,
} from '../../../storage/records/sources.ts';
import type { FetchFailure } from '../fetch/fetch-failure.ts';
import type { ClaimedRun } from './claimed-run.ts';
import type { SourceDependencies } from './dependencies.ts';
import { retryAtMs } from './next-run.ts';

export interface RunEnd extends Partial<Omit<RunValue, 'state' | 'finishedAt'>> {
  readonly outcome: RunOutcome;
}

export interface AfterRun {
  /** The answer that is now the last one that was applied. */
  readonly takenIn?: TakenInValue;
  /** For a list: the answers to compare with. */
  readonly listed?: NonNullable<SourceStateValue['listed']>;
  /** The failure of the source or of the network. */
  readonly failure?: Pick<FetchFailure, 'isRetryable' | 'retryAfterSeconds'>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The source has answered, but its answer was not applied. A later answer may be. */
const FAILED_HERE = { isRetryable: true, retryAfterSeconds: null };
/** An operator changes a source much less often than this during one transaction. */
const TRIES = 8;

/** Returns whether this call has ended the run. If not, another process has it, or the next round ends it. */
export async function endRun(
  dependencies: SourceDependencies,
  { id, source: name, work, run }: ClaimedRun,
  end: RunEnd,
  after: AfterRun = {},
): Promise<boolean> {
  const { ledger, nowMs, newAttemptId } = dependencies;
  for (let tries = 1; tries <= TRIES; tries++) {
    const [source, state] = await ledger.getMany([sourceKey(name), sourceStateKey(name)]);
    const finishedAt = new Date(nowMs()).toISOString();
    const isOwn = state?.value.run === id && source !== null;
    const outcome: EndedRun = { id, ...run.value, ...end, finishedAt };
    const next = isOwn ? stateAfter(dependencies, source.value, state.value, outcome, after) : null;
    const ended: RunValue = { ...run.value, ...end, state: 'ended', finishedAt, nextRunAt: next?.nextRunAt ?? null };
    const isIdle = ended.upload === null;
    const changes: Change[] = [
      { ...replaced(run, ended), ...(isIdle && { expiresAtMs: nowMs() + IDLE_RUN_KEPT_DAYS * DAY_MS }) },
      { kind: 'delete', key: runWorkKey(id), if: { kind: 'revision-is', revision: work.revision } },
    ];
    if (isOwn && next !== null) {
      changes.push(replaced(state, next));
      // The next run depends on the recipe and the pause that were read, so they must be unchanged.
      changes.push({ kind: 'check', key: sourceKey(name), if: { kind: 'revision-is', revision: source.revision } });
    }
    const result = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (result.committed) {
      dependencies.ended(name, id, ended);
      return true;
    }
    if (result.refusals.some(({ index }) => index < 2)) return false;
  }
  return false;
}

type EndedRun = RunEnd & RunValue & { readonly id: string; readonly finishedAt: string };

function stateAfter(
  { nowMs, random }: SourceDependencies,
  source: SourceValue,
  before: SourceStateValue,
  { id, outcome, cause, sha256, bytes, startedAt, counts, finishedAt }: EndedRun,
  after: AfterRun,
): SourceStateValue {
  const { takenIn, listed = before.listed, failure = FAILED_HERE } = after;
  const failures = outcome === 'failed' ? before.failures + 1 : 0;
  const parsed = parseRecipe(source.recipe);
  const nextMs = (): number => {
    // Only a later version understands this recipe. Its schedule is unknown, so the source is tried once a day.
    if ('faults' in parsed) return nowMs() + DAY_MS;
    const { schedule } = parsed.recipe;
    if (failures === 0) return nextRunAt(schedule, nowMs());
    return retryAtMs(schedule, nowMs(), failures, failure, random());
  };
  const isNewAnswer = cause !== 'replay' && sha256 !== null && sha256 !== before.archived?.sha256;
  const archived = isNewAnswer ? { bytes: (before.archived?.bytes ?? 0) + (bytes ?? 0), sha256 } : before.archived;
  const isNews = (counts?.accepted ?? 0) > 0;
  const isFetched = failures === 0 && 'recipe' in parsed && startedAt !== null;
  const fetched =
    isFetched && (isNews || dayOf(startedAt) !== dayOf(before.fetched?.at ?? ''))
      ? { at: startedAt, labels: labelsOf(parsed.recipe) }
      : before.fetched;
  return {
    nextRunAt: source.paused ? null : new Date(nextMs()).toISOString(),
    run: null,
    failures,
    lastRun: { id, outcome, finishedAt },
    lastSuccessAt: failures === 0 ? finishedAt : before.lastSuccessAt,
    takenIn: takenIn ?? before.takenIn,
    ...(fetched && { fetched }),
    ...(archived && { archived }),
    ...(listed && { listed }),
    ...(before.past && { past: before.past }),
  };
}

/** The date part of an instant. */
function dayOf(instant: string): string {
  return instant.slice(0, 'YYYY-MM-DD'.length);
}

/** The labels that do not depend on rows, by which readers recognise the source. */
function labelsOf({ mapping: { observation, market } }: Recipe): string[] {
  const labels = [observation.sourceLabel, ...(market?.sources.map(({ label }) => label) ?? [])];
  return [...new Set(labels)].filter((label) => !label.includes('{')).sort();
}
