/** As much of KMS as signing and its runbook need: one Ed25519 key of this process, whatever ARN is asked for. */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

const { privateKey } = generateKeyPairSync('ed25519');

interface Asked {
  readonly KeyId?: string;
  readonly Message?: string;
}

/** By operation, over the JSON protocol of the SDK: bytes are in base64. */
export const KMS_ANSWERS = {
  GetPublicKey: () => ({
    PublicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
  }),
  Sign: ({ Message = '' }: Asked) => ({
    Signature: sign(null, Buffer.from(Message, 'base64'), privateKey).toString('base64'),
  }),
} as const;

/** By operation: the state in which the key is afterwards. */
const STATES = {
  ScheduleKeyDeletion: 'PendingDeletion',
  CancelKeyDeletion: 'Disabled',
  EnableKey: 'Enabled',
} as const;

/** A KMS whose key can be scheduled for deletion: then, and until it is enabled again, the key does nothing. */
export function openKms(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let state: (typeof STATES)[keyof typeof STATES] = 'Enabled';

  /** @throws RangeError for an operation that is not here */
  const answerOf = (operation: string, asked: Asked): [status: number, answer: object] => {
    if (operation in STATES) {
      state = STATES[operation as keyof typeof STATES];
      return [200, { KeyId: asked.KeyId, KeyState: state }];
    }
    if (!(operation in KMS_ANSWERS)) throw new RangeError(`a call of something that is not here: ${operation}`);
    if (state !== 'Enabled') return [400, { __type: 'KMSInvalidStateException', message: `the key is ${state}` }];
    return [200, KMS_ANSWERS[operation as keyof typeof KMS_ANSWERS](asked)];
  };

  return async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
    const [status, answer] = answerOf(operation, (await json(request)) as Asked);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(answer));
  };
}
