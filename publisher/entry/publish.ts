/**
 * The publisher as a Lambda function: woken by the table's stream, and once a minute by a schedule. Any number of them
 * may run: the swap of HEAD lets one commit. Everything at once is for the state machine, where there is much of it.
 */
import type { LambdaInvocation } from '../../contract/aws.ts';
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { answerDoorbell, type StreamAnswer } from '../../storage/table-stream.ts';
import type { PublishScope } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { publish } from '../publish.ts';
import { type ExecutionState, takeTurn } from '../republish-due.ts';
import { faultText, log, logTurn } from './log.ts';
import { openPublisher } from './open-publisher.ts';

/** What another generation may take. */
const LONGEST_GENERATION_MS = 150_000;

const { republishArn } = readLambdaEnvironment(process.env, { required: ['republishArn'] });

const dependencies = openPublisher();

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<StreamAnswer> {
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_GENERATION_MS;
  return await answerDoorbell(
    event,
    () => takeItsTurn(hasTime),
    (error) => log('error', 'publishing failed', { fault: faultText(error) }),
  );
}

async function takeItsTurn(hasTime: () => boolean): Promise<void> {
  const startedMs = Date.now();
  const turn = await takeTurn(dependencies, startExecution, dependencies.maxMarkedMarkets);
  if (turn.kind === 'hold-back') return logTurn('not published: a full republish is under way', startedMs);
  if (turn.kind === 'given-up') {
    log('error', 'no full republish has come to its end, however often it was started', { cause: turn.cause });
  }
  // What fails in the end is no turn to be counted, or nobody would be told of it.
  const tell = turn.kind === 'not-started' ? logUncounted : logTurn;
  // What is left when the time is over, the next sweep goes on with.
  while ((await publishOnce(turn.scope, tell)) && hasTime());
  // Only now, so that nobody waits for Step Functions but who asked for everything.
  if (turn.kind === 'not-started') throw turn.fault;
}

const logUncounted: typeof logTurn = (what, _startedMs, fields) => log('info', what, fields);

/** Whether more is due. Each generation is a turn by itself: while many are due, alarms hear that they come. */
async function publishOnce(scope: PublishScope, tell: typeof logTurn): Promise<boolean> {
  const startedMs = Date.now();
  try {
    const { kind, generation, moreIsDue = false } = await publish(dependencies, scope);
    tell(kind, startedMs, { generation, moreIsDue });
    return moreIsDue;
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
    // The work is being done by whoever was quicker.
    tell('superseded', startedMs, { reason: error.message });
    return false;
  }
}

/** A full republish is rare: what it takes to start one is loaded for it, and not for every publication. */
async function startExecution(name: string): Promise<ExecutionState> {
  const { createStepFunctionsClient, openStartExecution } = await import('../start-execution.ts');
  return await openStartExecution({ client: createStepFunctionsClient(), stateMachineArn: republishArn })(name);
}
