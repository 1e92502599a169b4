/**
 * The publisher as a Lambda function: woken by the table's stream, and once a minute by a schedule. Any number of them
 * may run: the swap of HEAD lets one commit. Everything at once is for the state machine, where there is much of it.
 */
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { answerDoorbell, type StreamAnswer } from '../../storage/table-stream.ts';
import type { PublishScope } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { publish } from '../publish.ts';
import { type ExecutionState, takeTurn } from '../republish-due.ts';
import { faultText, log } from './log.ts';
import { openPublisher } from './open-publisher.ts';

const dependencies = openPublisher();
const { republishArn } = readLambdaEnvironment(process.env, { required: ['republishArn'] });

export async function handler(event: unknown): Promise<StreamAnswer> {
  return await answerDoorbell(event, publishOnce, (error) =>
    log('error', 'publishing failed', { fault: faultText(error) }),
  );
}

async function publishOnce(): Promise<void> {
  const turn = await takeTurn(dependencies, startExecution);
  if (turn.kind === 'hold-back') return log('info', 'not published: a full republish is under way');
  if (turn.kind === 'given-up') {
    log('error', 'everything is marked, and no full republish has come to its end', { mark: turn.mark });
  }
  await publishMarked(turn.scope);
  // Only now, so that nobody waits for Step Functions but who asked for everything.
  if (turn.kind === 'not-started') throw turn.fault;
}

async function publishMarked(scope: PublishScope): Promise<void> {
  const startedMs = Date.now();
  try {
    const { kind, generation } = await publish(dependencies, scope);
    log('info', kind, { generation, durationMs: Date.now() - startedMs });
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    // The work is being done by whoever was quicker.
    log('info', 'superseded', { reason: error.message });
  }
}

/** A full republish is rare: what it takes to start one is loaded for it, and not for every publication. */
async function startExecution(name: string): Promise<ExecutionState> {
  const { createStepFunctionsClient, openStartExecution } = await import('../start-execution.ts');
  return await openStartExecution({ client: createStepFunctionsClient(), stateMachineArn: republishArn })(name);
}
