import { ExecutionAlreadyExists, SFNClient, SFNServiceException, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStepFunctionsClient, openStartExecution } from '../../publisher/start-execution.ts';

const ARN = 'arn:aws:states:eu-west-1:123456789012:stateMachine:tidemark-republish';
const NAME = '2f1c7f6e-52f5-4c57-9d0c-3f1f6f6b1c11';

vi.stubEnv('AWS_REGION', 'eu-west-1');

function openStart() {
  const mock = mockClient(SFNClient);
  onTestFinished(() => mock.restore());
  const start = openStartExecution({ client: createStepFunctionsClient(), stateMachineArn: ARN });
  return { mock, start, sent: () => mock.calls().map(({ args: [command] }) => command.input) };
}

const refusal = (name: string) =>
  new SFNServiceException({ name, message: 'refused', $fault: 'client', $metadata: { httpStatusCode: 400 } });

describe('starting an execution', () => {
  test('asks for this state machine and name, with the same input each time', async () => {
    const { mock, start, sent } = openStart();
    const startDate = new Date('2026-11-20T12:00:00Z');
    mock.on(StartExecutionCommand).resolves({ executionArn: `${ARN}:${NAME}`, startDate });
    for (let time = 0; time < 2; time++) {
      expect(await start(NAME)).toEqual({ kind: 'running', startedAtMs: startDate.getTime() });
    }
    const input = { stateMachineArn: ARN, name: NAME, input: '{}' };
    expect(sent()).toEqual([input, input]);
  });

  test('says so when the one of this name has ended', async () => {
    const { mock, start } = openStart();
    mock.on(StartExecutionCommand).rejects(new ExecutionAlreadyExists({ message: 'there is', $metadata: {} }));
    expect(await start(NAME)).toEqual({ kind: 'ended' });
  });

  test.each([
    ['it is throttled', refusal('ThrottlingException')],
    ['there are too many', refusal('ExecutionLimitExceeded')],
    ['it may not', refusal('AccessDeniedException')],
    ['no answer comes', Object.assign(new Error('connect ETIMEDOUT'), { name: 'TimeoutError' })],
    ['an error only reads like one that has ended', new Error('ExecutionAlreadyExists')],
  ])('rejects with what Step Functions says when %s', async (_, error) => {
    const { mock, start } = openStart();
    mock.on(StartExecutionCommand).rejects(error);
    await expect(start(NAME)).rejects.toBe(error);
  });

  test('gives up after a time and a number of tries that are said', async () => {
    const client = createStepFunctionsClient();
    const handler = client.config.requestHandler as NodeHttpHandler;
    // The handler resolves its configuration with the first request.
    const abortSignal = AbortSignal.abort();
    await handler.handle({ protocol: 'https:' } as never, { abortSignal }).catch(() => undefined);
    expect(handler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 2_000,
      requestTimeout: 5_000,
      throwOnRequestTimeout: true,
    });
    expect([await client.config.maxAttempts(), await client.config.region()]).toEqual([3, 'eu-west-1']);
  });
});
