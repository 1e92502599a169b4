/**
 * Signs the log with a key that never leaves AWS KMS. Its spec is ECC_NIST_EDWARDS25519. The algorithm ED25519_SHA_512 over
 * a raw message is plain Ed25519 (RFC 8032), as signed notes require.
 */
import { GetPublicKeyCommand, KMSClient, type KMSClientConfig, SignCommand } from '@aws-sdk/client-kms';
import { type NoteSigner, verifierKey, vkeyOf } from '../../contract/log/notes.ts';

/** Timeouts are short, because a generation waits for each signature. */
const KMS_CLIENT: KMSClientConfig = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
};

/** SPKI of an Ed25519 key (RFC 8410, section 4): a fixed beginning, and the 32 bytes of the key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_KEY_BYTES = 32;

/**
 * Reads the public key from KMS.
 *
 * @param name the name of the log
 * @throws TypeError for a key of another kind
 */
export async function openKmsSigner(
  client: Pick<KMSClient, 'send'>,
  keyArn: string,
  name: string,
): Promise<NoteSigner> {
  const { PublicKey: der = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyArn }));
  const spki = Buffer.from(der);
  if (spki.length !== SPKI.length + PUBLIC_KEY_BYTES || !spki.subarray(0, SPKI.length).equals(SPKI)) {
    throw new TypeError(`The key ${keyArn} cannot sign the log: it must have the spec ECC_NIST_EDWARDS25519.`);
  }
  const key = verifierKey(vkeyOf(name, spki.subarray(SPKI.length)));
  return {
    name,
    keyId: key.keyId,
    vkey: key.vkey,
    async sign(text) {
      const { Signature: signature = new Uint8Array() } = await client.send(
        new SignCommand({
          KeyId: keyArn,
          Message: Buffer.from(text),
          MessageType: 'RAW',
          SigningAlgorithm: 'ED25519_SHA_512',
        }),
      );
      const bytes = Buffer.from(signature);
      // A checkpoint that readers would refuse must not be published.
      if (!key.verify(text, bytes)) throw new TypeError(`The key ${keyArn} gave a signature that is wrong.`);
      return bytes;
    },
  };
}

/** The signers of the log, newest first, from the ARNs of their keys. Throws the errors of {@link openKmsSigner}. */
export async function openKmsSigners(keyArns: readonly string[], name: string): Promise<readonly NoteSigner[]> {
  const client = new KMSClient(KMS_CLIENT);
  return await Promise.all(keyArns.map((keyArn) => openKmsSigner(client, keyArn, name)));
}
