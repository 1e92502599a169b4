/** Starting the state machine of the full republish, in Step Functions. */
import { ExecutionAlreadyExists, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { StartExecution } from './republish-due.ts';

/** The definition reads nothing of it. Always the same: with another input, a name that is in use would be refused. */
const INPUT = '{}';

export interface StartExecutionOptions {
  readonly client: SFNClient;
  readonly stateMachineArn: string;
}

/** A client with explicit timeouts and tries; the region is that of the function. */
export function createStepFunctionsClient(): SFNClient {
  return new SFNClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
}

/**
 * Rejects with Step Functions' own error when it is not known to be started: throttling and an answer that does not come go
 * away by themselves, and asking again under the same name starts no second one; `AccessDenied` and
 * `StateMachineDoesNotExist` are for whoever deployed.
 */
export function openStartExecution({ client, stateMachineArn }: StartExecutionOptions): StartExecution {
  return async (name) => {
    try {
      const { startDate } = await client.send(new StartExecutionCommand({ stateMachineArn, name, input: INPUT }));
      return { kind: 'running', startedAtMs: (startDate as Date).getTime() };
    } catch (error) {
      // While it runs the same request succeeds, so it runs no more.
      if (error instanceof ExecutionAlreadyExists) return { kind: 'ended' };
      throw error;
    }
  };
}
