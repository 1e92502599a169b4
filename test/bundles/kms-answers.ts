/** As much of KMS as signing needs: one Ed25519 key of this process, whatever ARN is asked for. */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

const { privateKey } = generateKeyPairSync('ed25519');

/** By operation, over the JSON protocol of the SDK: bytes are in base64. */
export const KMS_ANSWERS = {
  GetPublicKey: () => ({
    PublicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
  }),
  Sign: ({ Message = '' }: { readonly Message?: string }) => ({
    Signature: sign(null, Buffer.from(Message, 'base64'), privateKey).toString('base64'),
  }),
} as const;

/** @throws RangeError for an operation that is not here */
export async function serveKms(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = String(request.headers['x-amz-target']);
  const answer = Object.entries(KMS_ANSWERS).find(([operation]) => target === `TrentService.${operation}`)?.[1];
  if (answer === undefined) throw new RangeError(`a function has called something that is not here: ${target}`);
  const input = (await json(request)) as { readonly Message?: string };
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(answer(input)));
}
