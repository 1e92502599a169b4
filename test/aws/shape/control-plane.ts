/** The calls that our functions make to CloudFront, over HTTP as the SDK sends them. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ControlPlane {
  readonly distributionId: string;
  /** Paths, or tags after a `#`. */
  readonly invalidate: (items: readonly string[]) => void;
}

export async function serveControlPlane(
  { distributionId, invalidate }: ControlPlane,
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
  } else {
    throw new RangeError(`a function has called something that is not here: ${call}`);
  }
}
