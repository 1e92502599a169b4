/** Cosignatures of witnesses on checkpoints: Ed25519, version 1 (C2SP tlog-cosignature). */
import { LogFaultError } from './log-fault-error.ts';
import { ed25519PublicKey, parseVkey, verifyEd25519 } from './notes.ts';

/** The type of timestamped Ed25519 cosignatures. */
export const COSIGNATURE_TYPE = 0x04;
const TIMESTAMP_BYTES = 8;
const PUBLIC_KEY_BYTES = 32;

/** A witness, by its verifier key. */
export interface Cosigner {
  readonly name: string;
  readonly keyId: number;
  /**
   * When the witness signed, in seconds since the epoch; null if it did not sign this text.
   *
   * @param text the text of the checkpoint, without signatures
   * @param signature the signature without the key id
   */
  readonly signedAt: (text: string, signature: Buffer) => number | null;
}

/** @throws LogFaultError unless the text is the verifier key of an Ed25519 cosigner */
export function cosigner(vkey: string): Cosigner {
  const { name, keyId, type, publicKey } = parseVkey(vkey);
  if (type !== COSIGNATURE_TYPE || publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new LogFaultError(`the verifier key of ${name} is of type ${type}: Ed25519 cosigners have 4`);
  }
  const key = ed25519PublicKey(publicKey);
  return {
    name,
    keyId,
    signedAt(text, signature) {
      if (signature.length <= TIMESTAMP_BYTES) return null;
      const seconds = Number(signature.readBigUInt64BE(0));
      const isSigned = verifyEd25519(key, cosignedText(seconds, text), signature.subarray(TIMESTAMP_BYTES));
      return isSigned && Number.isSafeInteger(seconds) ? seconds : null;
    },
  };
}

/** The message that a cosigner signs. */
export function cosignedText(seconds: number, text: string): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`;
}
