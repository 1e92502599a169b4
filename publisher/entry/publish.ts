/**
 * The publisher as a Lambda function: woken by the table's stream, and once a minute by a schedule. Any number of them
 * may run: the swap of HEAD lets one commit.
 */
import type { LambdaInvocation } from '../../contract/aws.ts';
import { answerDoorbell, type StreamAnswer } from '../../storage/table-stream.ts';
import { Superseded } from '../errors.ts';
import { isPutOffTooLong } from '../plan/put-off.ts';
import { publish } from '../publish.ts';
import { faultText, log, logOutcome } from './log.ts';
import { openPublisher } from './open-publisher.ts';

/** What another generation may take. */
const LONGEST_GENERATION_MS = 150_000;
/** Of the markets that are put off: more lines than this help nobody. */
const MOST_NAMED = 20;

const dependencies = openPublisher();

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_GENERATION_MS;
  return await answerDoorbell(
    event,
    () => publishDue(hasTime),
    (error) => log('error', 'publishing failed', { fault: faultText(error) }),
  );
}

/** What is left when the time is over, the next sweep goes on with. */
async function publishDue(hasTime: () => boolean): Promise<void> {
  while ((await publishOnce()) && hasTime());
}

/** Whether more is due. Each generation has a line of its own: while many are due, alarms hear that they come. */
async function publishOnce(): Promise<boolean> {
  const startedMs = Date.now();
  try {
    const { kind, generation, isMoreDue, putOff } = await publish(dependencies);
    const tooLong = putOff.filter((market) => isPutOffTooLong(market, Date.now()));
    for (const { slug, reason } of tooLong.slice(0, MOST_NAMED)) {
      log('error', 'a market is put off', { market: slug, reason });
    }
    const counts = { isMoreDue, putOff: putOff.length };
    logOutcome({ what: kind, startedMs, putOffTooLong: tooLong.length }, { generation, ...counts });
    return isMoreDue;
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    // The work is being done by whoever was quicker.
    logOutcome({ what: 'superseded', startedMs }, { reason: error.message });
    return false;
  }
}
