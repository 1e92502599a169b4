/** Signatures of the log by AWS KMS: the calls, and that notes signed so are those that readers open. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { GetPublicKeyCommand, SignCommand } from '@aws-sdk/client-kms';
import { expect, test } from 'vitest';
import { openNote, signNote, verifierKey } from '../../contract/log/notes.ts';
import { openKmsSigner } from '../../publisher/entry/kms-signer.ts';

const ARN = 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d';
const NAME = 'data.example.com/prices';

/** As much of KMS as signing needs. `damage` changes the signature. */
function kms(publicKey: KeyObject, privateKey: KeyObject, damage = (signature: Buffer) => signature) {
  const calls: object[] = [];
  const send = async (command: { readonly input: { readonly Message?: Uint8Array } }) => {
    calls.push(command.input);
    if (command instanceof GetPublicKeyCommand) {
      return { PublicKey: new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })) };
    }
    if (!(command instanceof SignCommand)) throw new RangeError('an unknown call');
    return { Signature: new Uint8Array(damage(sign(null, command.input.Message as Uint8Array, privateKey))) };
  };
  return { calls, client: { send } as never };
}

test('a note that KMS has signed is opened with the key that it gave', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { calls, client } = kms(publicKey, privateKey);
  const signer = await openKmsSigner(client, ARN, NAME);
  const note = await signNote(`${NAME}\n0\n`, [signer]);
  expect(openNote(note, [verifierKey(signer.vkey)]).text).toBe(`${NAME}\n0\n`);
  expect(calls).toEqual([
    { KeyId: ARN },
    { KeyId: ARN, Message: Buffer.from(`${NAME}\n0\n`), MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' },
  ]);
});

test.each([
  ['an ECDSA key', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['an Ed448 key', () => generateKeyPairSync('ed448')],
])('%s is refused', async (_, make) => {
  const { publicKey, privateKey } = make();
  await expect(openKmsSigner(kms(publicKey, privateKey).client, ARN, NAME)).rejects.toThrow(TypeError);
});

test.each([
  ['another key', () => sign(null, Buffer.from('x'), generateKeyPairSync('ed25519').privateKey)],
  ['half', (signature: Buffer) => signature.subarray(32)],
])('a signature of %s is not published', async (_, damage) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signer = await openKmsSigner(kms(publicKey, privateKey, damage).client, ARN, NAME);
  await expect(signer.sign('text\n')).rejects.toThrow(TypeError);
});
