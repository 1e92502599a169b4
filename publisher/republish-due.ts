/**
 * What one invocation of the publisher does where publishing everything is more than it has time for. Two things then start
 * the state machine of the full republish, whoever started it before: a republish that has swapped HEAD and was left there,
 * which publications would apply in one process, from the start each time; and the mark of everything, which ordinary
 * publications leave alone.
 *
 * Nothing here is needed for safety: the swap of HEAD lets one commit, and a mark goes only with what took care of it. It
 * sees to it that everything is published in the end, and that little work is thrown away:
 *
 * - Stream and sweep at once, or an answer that was lost: the execution is named after the republish or the mark, so there
 *   is one.
 * - Started, and its plan does not hold publications back yet: they hold back because it runs, for as long as a plan would
 *   have them; then readers come first, and it may be superseded.
 * - Superseded by a publication that was under way when the mark was set; or done, but with the mark kept, because
 *   publications had to apply what it swapped: it is started again, under the next name.
 * - Failed in applying, with or without a mark: once its plan holds back no more, an execution that is named after the
 *   republish takes up what is left, as planning does, and a mark with it that the plan has seen. Any other mark comes after.
 * - Left, and applied by somebody after it was looked for: the execution plans anew, for nothing.
 * - The mark is set again while one runs: it is held back by that one. Afterwards the mark is there, unless the plan saw it,
 *   and has a name of its own. Where no plan held back yet, two run, and the later plan takes the other's place, which
 *   fails as superseded: an alarm too many, and nothing lost, since a plan takes care of the mark that it finds.
 * - The mark is set after it was looked for: no publication takes it, and its own ring of the stream brings the next.
 */

import type { Ledger } from '../storage/ledger.ts';
import { queryPages } from '../storage/paging.ts';
import { MARKET_INDEX } from '../storage/records/markets.ts';
import { DIRTY_EVERYTHING_KEY, HEAD_KEY, REPUBLISH_KEY, type RepublishValue } from '../storage/records/publication.ts';
import type { PublisherStorage, PublishScope } from './dependencies.ts';
import { HOLD_SECONDS, isRepublishing, isSwapped } from './republish.ts';

/** How often a mark, or a republish that was left, starts the state machine before it is left to a person. */
export const EXECUTIONS_OF_A_MARK = 3;

export type ExecutionState =
  /** Started now, or before. */
  { readonly kind: 'running'; readonly startedAtMs: number } | { readonly kind: 'ended' };

/** Starts the execution of this name, unless there has been one. */
export type StartExecution = (name: string) => Promise<ExecutionState>;

export type Turn =
  /** Nothing: a full republish is under way. */
  | { readonly kind: 'hold-back' }
  | { readonly kind: 'publish'; readonly scope: PublishScope }
  /** Publish the rest. All executions of the mark, or of the republish of this id, have ended, and it is still there. */
  | { readonly kind: 'given-up'; readonly scope: PublishScope; readonly cause: string }
  /** Publish the rest, and then tell that Step Functions could not be asked. */
  | { readonly kind: 'not-started'; readonly scope: PublishScope; readonly fault: unknown };

/**
 * Says what to do now, once the state machine is started if it is to be. Rejects only when the ledger does.
 *
 * @param maxMarkets of which one invocation publishes everything by itself
 */
export async function takeTurn(storage: PublisherStorage, start: StartExecution, maxMarkets: number): Promise<Turn> {
  const { ledger, nowMs } = storage;
  // An ordinary publication would take a republish's swap away. Safety does not hang on it: it need not hold a moment later.
  if (await isRepublishing(storage)) return { kind: 'hold-back' };
  const cause = await causeOf(ledger);
  // A mark that is set from here on brings its own invocation, which knows what it is for.
  const scope = 'marked-markets';
  if (cause === null) return { kind: 'publish', scope };
  if (!(await hasMoreMarkets(ledger, maxMarkets))) return { kind: 'publish', scope: 'changed' };
  for (let execution = 1; execution <= EXECUTIONS_OF_A_MARK; execution++) {
    // What has ended may have taken the cause with it since it was read.
    if (execution > 1 && (await causeOf(ledger)) !== cause) return { kind: 'publish', scope };
    let state: ExecutionState;
    try {
      state = await start(execution === 1 ? cause : `${cause}-${execution}`);
    } catch (fault) {
      return { kind: 'not-started', scope, fault };
    }
    if (state.kind === 'ended') continue;
    const isFresh = nowMs() < state.startedAtMs + HOLD_SECONDS * 1000;
    return isFresh ? { kind: 'hold-back' } : { kind: 'publish', scope };
  }
  return { kind: 'given-up', scope, cause };
}

/**
 * What the state machine is needed for, and its executions are named after: the republish that has swapped HEAD and was
 * left, or else the version of the mark of everything; null for nothing.
 */
async function causeOf(ledger: Ledger): Promise<string | null> {
  const [head, underWay, mark] = await ledger.getMany([HEAD_KEY, REPUBLISH_KEY, DIRTY_EVERYTHING_KEY]);
  const left = underWay?.value as RepublishValue | undefined;
  if (head && left && isSwapped(head, left)) return left.id;
  return mark?.attemptId ?? null;
}

/** Those that are defined, published or not. */
async function hasMoreMarkets(ledger: Ledger, than: number): Promise<boolean> {
  let markets = 0;
  for await (const some of queryPages(ledger, MARKET_INDEX)) {
    markets += some.length;
    if (markets > than) return true;
  }
  return false;
}
