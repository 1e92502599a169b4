/** The write API behind the write server: completes the event of API Gateway with the body, once it is wanted. */
import type { HttpEvent } from '../../lambdas/http/event.ts';
import type { HandleWrite } from '../../lambdas/pipeline/handle.ts';
import { maxBodyBytesOf } from '../../lambdas/pipeline/validate.ts';
import type { AnswerWrite } from './write-server.ts';

/** The answers of the write API. */
export function answerWrites(handle: HandleWrite): AnswerWrite {
  return (head, readBody) =>
    handle(head, async ({ operation, actor }) => withBody(head, await readBody(actor, maxBodyBytesOf(operation))));
}

function withBody(head: HttpEvent, { buffer, byteOffset, length }: Uint8Array): HttpEvent {
  if (length === 0) return head;
  return { ...head, body: Buffer.from(buffer, byteOffset, length).toString('base64'), isBase64Encoded: true };
}
