/** The uses of the deployment's secret. Each use has a key of its own (HKDF, RFC 5869). */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync } from 'node:crypto';

export const MASTER_SECRET_BYTES = 32;
export const SEAL_IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Secrets {
  /** Authenticates cursors. */
  readonly cursorKey: Uint8Array;
  /** Signs the targets of uploads, unless the store signs them. */
  readonly uploadKey: Uint8Array;
  /** A keyed digest, so that the audit's digest of a text cannot confirm a guess of the text. */
  fingerprint(parts: readonly (string | Uint8Array)[]): string;
  /**
   * Encrypts (AES-256-GCM) the body of a stored answer, which may hold the secret of a new key. `context` is
   * authenticated: the body opens only in the same place.
   */
  seal(text: string, context: string, iv: Uint8Array): string;
  /** @throws Error if it was sealed with another secret or context, or was altered */
  open(sealed: string, context: string): string;
}

const USER_WITH_ADDRESS = /user:[^/]*@[^/]*/;

/** The text for an audit record or a log. A user whose `sub` is an address gets a keyed pseudonym, which is always the same. */
export function pseudonymised({ fingerprint }: Pick<Secrets, 'fingerprint'>, text: string): string {
  return text.replace(USER_WITH_ADDRESS, (user) => `user:~${fingerprint(['pseudonym', user]).slice(0, 32)}`);
}

/** @throws RangeError for a secret that does not have {@link MASTER_SECRET_BYTES} */
export function createSecrets(master: Uint8Array): Secrets {
  if (master.length !== MASTER_SECRET_BYTES) {
    throw new RangeError(`the secret of a deployment has ${MASTER_SECRET_BYTES} bytes, not ${master.length}`);
  }
  const derive = (use: string) => new Uint8Array(hkdfSync('sha256', master, '', `tidemark/${use}`, 32));
  // Made once: making a key from bytes for each use would take longer than the use.
  const fingerprintKey = createSecretKey(derive('fingerprint'));
  const sealKey = createSecretKey(derive('seal'));
  return {
    cursorKey: derive('cursor'),
    uploadKey: derive('upload'),
    fingerprint(parts) {
      const mac = createHmac('sha256', fingerprintKey);
      // Each part is hashed separately, so that two different lists of parts never give the same input.
      for (const part of parts) mac.update(hash('sha256', part, 'buffer'));
      return mac.digest('hex');
    },
    seal(text, context, iv) {
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(context));
      const bytes = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return bytes.toString('base64');
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64');
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, SEAL_IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(end));
      return Buffer.concat([decipher.update(bytes.subarray(SEAL_IV_BYTES, end)), decipher.final()]).toString('utf8');
    },
  };
}
