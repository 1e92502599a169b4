/**
 * What one invocation of the publisher does where publishing everything is more than it has time for: the mark of
 * everything then starts the state machine of the full republish, and ordinary publications leave that mark alone.
 *
 * Nothing here is needed for safety: the swap of HEAD lets one commit, and a mark goes only with what took care of it. It
 * sees to it that everything is published in the end, and that little work is thrown away:
 *
 * - Stream and sweep at once, or an answer that was lost: the execution is named after the mark, so there is one.
 * - Started, and its plan does not hold publications back yet: they hold back because it runs, for as long as a plan would
 *   have them; then readers come first, and it may be superseded.
 * - Superseded by a publication that was under way when the mark was set; or done, but with the mark kept, because
 *   publications had to apply what it swapped: it is started again, under the next name.
 * - Failed in applying: the next execution takes up what is left, as planning does, or finds that publications have.
 * - The mark is set again while one runs: it is held back by that one. Afterwards the mark is there, unless the plan saw it,
 *   and has a name of its own. Where no plan held back yet, two run, and the later plan takes the other's place, which
 *   fails as superseded: an alarm too many, and nothing lost, since a plan takes care of the mark that it finds.
 * - It took up what an earlier one had swapped and left, so its own mark is still there: again, the next name.
 * - The mark is set after it was looked for: no publication takes it, and its own ring of the stream brings the next.
 */
import type { Ledger } from '../storage/ledger.ts';
import { DIRTY_EVERYTHING_KEY, MARKETS_PARTITION } from '../storage/records.ts';
import type { PublisherStorage, PublishScope } from './dependencies.ts';
import { readPieces } from './read-market.ts';
import { HOLD_SECONDS, isRepublishing } from './republish.ts';

/** How often a mark starts the state machine before it is left to a person. */
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
  /** Publish the rest. All executions of the mark have ended, and it is still there. */
  | { readonly kind: 'given-up'; readonly scope: PublishScope; readonly mark: string }
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
  const mark = await markOfEverything(ledger);
  // A mark that is set from here on brings its own invocation, which knows what it is for.
  const scope = 'marked-markets';
  if (mark === null) return { kind: 'publish', scope };
  if (!(await hasMoreMarkets(ledger, maxMarkets))) return { kind: 'publish', scope: 'changed' };
  for (let execution = 1; execution <= EXECUTIONS_OF_A_MARK; execution++) {
    // What has ended may have taken the mark with it since it was read.
    if (execution > 1 && (await markOfEverything(ledger)) !== mark) return { kind: 'publish', scope };
    let state: ExecutionState;
    try {
      state = await start(execution === 1 ? mark : `${mark}-${execution}`);
    } catch (fault) {
      return { kind: 'not-started', scope, fault };
    }
    if (state.kind === 'ended') continue;
    const isFresh = nowMs() < state.startedAtMs + HOLD_SECONDS * 1000;
    return isFresh ? { kind: 'hold-back' } : { kind: 'publish', scope };
  }
  return { kind: 'given-up', scope, mark };
}

/** The version of the mark of everything; null when there is none. */
async function markOfEverything(ledger: Ledger): Promise<string | null> {
  return (await ledger.get(DIRTY_EVERYTHING_KEY))?.attemptId ?? null;
}

/** Those that are defined, published or not. */
async function hasMoreMarkets(ledger: Ledger, than: number): Promise<boolean> {
  let markets = 0;
  for await (const some of readPieces(ledger, MARKETS_PARTITION, {})) {
    markets += some.length;
    if (markets > than) return true;
  }
  return false;
}
