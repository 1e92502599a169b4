/**
 * The publisher as a Lambda function: woken by the table's stream, and once a minute by a schedule. Any number of them
 * may run: the swap of HEAD lets one commit.
 */
import { setTimeout } from 'node:timers/promises';
import type { LambdaInvocation } from '../../contract/aws.ts';
import { claimFormat } from '../../storage/format.ts';
import { retriedOnce } from '../../storage/retried-once.ts';
import { handleStreamEvent, type StreamAnswer } from '../../storage/table-stream.ts';
import { Superseded } from '../errors.ts';
import { isPutOffTooLong } from '../plan/put-off.ts';
import { type PublishOutcome, publish } from '../publish.ts';
import { faultText, log, logOutcome } from './log.ts';
import { openPublisher } from './open-publisher.ts';

/** What another generation may take. */
const LONGEST_GENERATION_MS = 150_000;
/** A transaction that is being committed is visible within much less: then its market is tried again, so often. */
const PUT_OFF_PAUSE_MS = 500;
const PUT_OFF_RETRIES = 4;

const dependencies = openPublisher();
const formatIsOurs = retriedOnce(() => claimFormat(dependencies));

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_GENERATION_MS;
  return await handleStreamEvent(
    event,
    () => publishDue(hasTime),
    (error) => log('error', 'publishing failed', { fault: faultText(error) }),
  );
}

/** What is left when the time is over, the next sweep goes on with. */
async function publishDue(hasTime: () => boolean): Promise<void> {
  await formatIsOurs();
  for (let retries = 0; ; ) {
    const outcome = await publishOnce();
    if (outcome === null || !hasTime()) return;
    if (outcome.isMoreDue) continue;
    if (outcome.putOff.every((market) => isPutOffTooLong(market, Date.now())) || retries === PUT_OFF_RETRIES) return;
    retries++;
    await setTimeout(PUT_OFF_PAUSE_MS);
  }
}

/** Null where another publisher was quicker. Each generation is reported by itself: while many are due, alarms hear of them. */
async function publishOnce(): Promise<PublishOutcome | null> {
  const startedMs = Date.now();
  try {
    const outcome = await publish(dependencies);
    const { kind: what, generation, isMoreDue, putOff } = outcome;
    const tooLong = putOff.filter((market) => isPutOffTooLong(market, Date.now()));
    for (const { slug, reason } of tooLong) log('error', 'a market is put off', { slug, reason });
    logOutcome({ what, startedMs, putOffTooLong: tooLong.length }, { generation, isMoreDue, putOff: putOff.length });
    return outcome;
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    // The work is being done by whoever was quicker.
    logOutcome({ what: 'superseded', startedMs }, { reason: error.message });
    return null;
  }
}
