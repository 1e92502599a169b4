/**
 * The publisher as a Lambda function: woken by the table's stream, and once a minute by a schedule. Any number of them
 * may run: the swap of HEAD lets one commit.
 */
import { answerDoorbell, type StreamAnswer } from '../../storage/table-stream.ts';
import { Superseded } from '../errors.ts';
import { publish } from '../publish.ts';
import { isRepublishing } from '../republish.ts';
import { faultText, log } from './log.ts';
import { openPublisher } from './open-publisher.ts';

const dependencies = openPublisher();

export async function handler(event: unknown): Promise<StreamAnswer> {
  return await answerDoorbell(event, publishOnce, (error) =>
    log('error', 'publishing failed', { fault: faultText(error) }),
  );
}

async function publishOnce(): Promise<void> {
  const startedMs = Date.now();
  try {
    // A full republish would lose its swap to us. Safety does not hang on this, so it need not hold a moment later.
    if (await isRepublishing(dependencies)) return log('info', 'not published: a full republish is under way');
    const { kind, generation } = await publish(dependencies);
    log('info', kind, { generation, durationMs: Date.now() - startedMs });
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    // The work is being done by whoever was quicker.
    log('info', 'superseded', { reason: error.message });
  }
}
