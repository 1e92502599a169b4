/** The calls that our functions make to CloudFront and to Step Functions, over HTTP as the SDK sends them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Executions } from './executions.ts';

export interface ControlPlane {
  readonly distributionId: string;
  /** Paths, or tags after a `#`. */
  readonly invalidate: (items: readonly string[]) => void;
  readonly startExecution: Executions['start'];
}

export async function serveControlPlane(
  { distributionId, invalidate, startExecution }: ControlPlane,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const call = `${request.method} ${request.url}`;
  if (call === `POST /2020-05-31/distribution/${distributionId}/invalidation`) {
    const items = [...body.matchAll(/<Path>([^<]*)<\/Path>/g)].map((match) => match[1] as string);
    invalidate(items);
    response.writeHead(201, { 'content-type': 'text/xml' });
    response.end(`<Invalidation><Id>${randomUUID()}</Id><Status>InProgress</Status></Invalidation>`);
  } else if (request.headers['x-amz-target'] === 'AWSStepFunctions.StartExecution') {
    const { stateMachineArn, name } = JSON.parse(body);
    const { status, answer } = started(() => startExecution(stateMachineArn, name));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer));
  } else {
    throw new RangeError(`a function has called something that is not here: ${call}`);
  }
}

function started(start: () => ReturnType<Executions['start']>): { status: number; answer: object } {
  try {
    const { executionArn, startedAtMs } = start();
    return { status: 200, answer: { executionArn, startDate: startedAtMs / 1000 } };
  } catch (error) {
    return { status: 400, answer: { __type: (error as Error).message } };
  }
}
