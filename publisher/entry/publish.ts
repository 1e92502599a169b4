/**
 * The publisher as a Lambda function: invoked by the table's stream, and once a minute by a schedule. Any number of
 * them may run: the swap of HEAD lets one commit.
 */
import { setTimeout } from 'node:timers/promises';
import { logLine } from '../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { changedAuditRecords, handleStreamEvent, type StreamAnswer } from '../../storage/dynamodb/table-stream.ts';
import { faultText } from '../../storage/ports/fault-text.ts';
import { claimFormat } from '../../storage/ports/format.ts';
import type { LogSettings } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { isDeferredTooLong } from '../kernel/deferred.ts';
import { type PublishOutcome, publish } from '../publish.ts';
import { logAuditChanged, logOutcome } from './log.ts';
import { logOpener, openPublisher } from './open-publisher.ts';

/** The longest that another generation may take. */
const LONGEST_GENERATION_MS = 150_000;
/**
 * The number of times that a deferred market is tried again, each after this pause, which is much longer than a transaction
 * needs to become visible.
 */
const DEFERRED_PAUSE_MS = 500;
const DEFERRED_RETRIES = 4;
const LOSSES_AT_MOST = 3;

const dependencies = openPublisher();
const formatIsOurs = retriedOnce(() => claimFormat(dependencies));
const openLog = retriedOnce(logOpener(dependencies));

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  // This function cannot write audit records, so its report about changed ones can be trusted.
  const changed = changedAuditRecords(event);
  if (changed.length > 0) logAuditChanged(changed);
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_GENERATION_MS;
  return await handleStreamEvent(
    event,
    () => publishDue(hasTime),
    (error) => logLine('error', 'publishing failed', { fault: faultText(error) }),
  );
}

/** When the time is over, the next scheduled invocation continues. */
async function publishDue(hasTime: () => boolean): Promise<void> {
  await formatIsOurs();
  const log = await openLog();
  for (let retries = 0, losses = 0; ; ) {
    const outcome = await publishOnce(log);
    if (!hasTime()) return;
    if (outcome === null) {
      // The faster publisher may have published the batch of this invocation without answering it, because it read the
      // waiting items before.
      if (++losses > LOSSES_AT_MOST) return;
      continue;
    }
    if (outcome.isMoreDue) continue;
    if (outcome.deferred.every((market) => isDeferredTooLong(market, Date.now())) || retries === DEFERRED_RETRIES)
      return;
    retries++;
    await setTimeout(DEFERRED_PAUSE_MS);
  }
}

/**
 * Null if another publisher was faster. Each generation is logged separately, so that the metrics show progress while many
 * are due.
 */
async function publishOnce(log: LogSettings | null): Promise<PublishOutcome | null> {
  const startedMs = Date.now();
  try {
    const outcome = await publish({ ...dependencies, ...(log === null ? {} : { log }) });
    const { kind: what, generation, isMoreDue, behindMs, deferred } = outcome;
    const deferredTooLong = deferred.filter((market) => isDeferredTooLong(market, Date.now()));
    logOutcome({ what, startedMs, behindMs, deferredTooLong }, { generation, isMoreDue, deferred: deferred.length });
    return outcome;
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    logOutcome({ what: 'superseded', startedMs }, { reason: error.message });
    return null;
  }
}
