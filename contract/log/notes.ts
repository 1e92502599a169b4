/** Signed notes (C2SP signed-note v1.0.0) with Ed25519, as Go's `golang.org/x/mod/sumdb/note` writes and reads them. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { strictBase64 } from './base64.ts';
import { LogFaultError } from './log-fault-error.ts';

/** Signs the text of a note. The key may be stored elsewhere. */
export interface NoteSigner {
  /** The name in signature lines. For a log: its origin. */
  readonly name: string;
  readonly keyId: number;
  /** The verifier key as text, which is public. */
  readonly vkey: string;
  /** The signature over the UTF-8 bytes of the text, without the key id. Rejects if the key cannot be used. */
  readonly sign: (text: string) => Promise<Buffer>;
}

/** Checks signatures of one key. */
export interface VerifierKey {
  readonly name: string;
  readonly keyId: number;
  readonly vkey: string;
  /** @param signature without the key id */
  readonly verify: (text: string, signature: Buffer) => boolean;
}

/** The type of plain Ed25519 signatures. */
const ED25519 = 0x01;
const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const KEY_ID_BYTES = 4;

/** PKCS #8 before a seed, and SPKI before a public key (RFC 8410, sections 4 and 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** One or more characters, without Unicode spaces, control characters and plus signs. */
const NAME = /^[^\s\p{White_Space}\p{Cc}+]+$/u;

/** Go's reader has the same limit. C2SP requires at least 16. */
const SIGNATURES_MAX = 100;

/** Whether the text can name a key. The origin of a log is the name of its key. */
function isKeyName(text: string): boolean {
  return NAME.test(text) && text.isWellFormed();
}

/** The first four bytes of SHA-256 over name, newline, type and key, as a number. */
export function noteKeyId(name: string, type: number, publicKey: Uint8Array): number {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]);
  return hash('sha256', bytes, 'buffer').readUInt32BE(0);
}

function hexId(keyId: number): string {
  return keyId.toString(16).padStart(2 * KEY_ID_BYTES, '0');
}

/**
 * The verifier key of an Ed25519 key of 32 bytes: `<name>+<key id>+<base64>`.
 *
 * @throws RangeError for a name that a note cannot have
 */
export function vkeyOf(name: string, publicKey: Uint8Array, type: number = ED25519): string {
  if (!isKeyName(name)) throw new RangeError('the name of a key has no spaces and no plus sign');
  const material = Buffer.concat([Buffer.from([type]), publicKey]).toString('base64');
  return `${name}+${hexId(noteKeyId(name, type, publicKey))}+${material}`;
}

/** @throws LogFaultError if the text is not a verifier key, or its id does not follow from its key */
export function parseVkey(vkey: string) {
  const [, name = '', id = '', material = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const bytes = strictBase64(material);
  if (!isKeyName(name) || bytes === null || bytes.length < 2) {
    throw new LogFaultError('not a verifier key: it must be <name>+<8 hex digits>+<base64>');
  }
  const [type, publicKey] = [bytes.readUInt8(0), bytes.subarray(1)];
  const keyId = noteKeyId(name, type, publicKey);
  if (hexId(keyId) !== id) throw new LogFaultError(`the id of the verifier key is ${id}, and its key has another`);
  return { name, keyId, type, publicKey };
}

/** Reads an Ed25519 verifier key. @throws LogFaultError for any other text */
export function verifierKey(vkey: string): VerifierKey {
  const { name, keyId, type, publicKey } = parseVkey(vkey);
  if (type !== ED25519 || publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new LogFaultError(`the verifier key is of type ${type}: only Ed25519 keys (1) are read`);
  }
  const key = ed25519PublicKey(publicKey);
  return { name, keyId, vkey, verify: (text, signature) => verifyEd25519(key, text, signature) };
}

/** @param publicKey 32 bytes (RFC 8032) */
export function ed25519PublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' });
}

/** The name and the hash of a verifier key, for people. The key itself is left out. */
export function nameOfKey(vkey: string): string {
  return vkey.split('+').slice(0, 2).join('+');
}

/** A signature of another length is just wrong, not an error. */
export function verifyEd25519(key: KeyObject, text: string, signature: Buffer): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, Buffer.from(text), key, signature);
}

/** The private key of a log as one line, in Go's form: `PRIVATE+KEY+<name>+<key id>+<base64>`. It is a secret. */
export function privateNoteKey(name: string, seed: Uint8Array): string {
  const material = Buffer.concat([Buffer.from([ED25519]), seed]).toString('base64');
  return `PRIVATE+KEY+${name}+${hexId(signerParts(name, seed).keyId)}+${material}`;
}

function signerParts(name: string, seed: Uint8Array) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI.length);
  return { key, vkey: vkeyOf(name, publicKey), keyId: noteKeyId(name, ED25519, publicKey) };
}

/**
 * Signs with a {@link privateNoteKey}.
 *
 * @throws LogFaultError for any other text. The message contains no part of the text.
 */
export function ed25519Signer(privateKey: string): NoteSigner {
  const [, name = '', id = '', material = ''] = /^PRIVATE\+KEY\+([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(privateKey) ?? [];
  const bytes = strictBase64(material);
  if (!isKeyName(name) || bytes?.length !== 1 + SEED_BYTES || bytes.readUInt8(0) !== ED25519) {
    throw new LogFaultError('not a private key of a log: it must be PRIVATE+KEY+<name>+<8 hex digits>+<base64>');
  }
  const { key, vkey, keyId } = signerParts(name, bytes.subarray(1));
  if (hexId(keyId) !== id) throw new LogFaultError('the id of the private key does not follow from it');
  return { name, keyId, vkey, sign: async (text) => sign(null, Buffer.from(text), key) };
}

/** Whether a signed note can have this text: lines without control characters, and a newline at the end. */
function isNoteText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids them.
  return text.endsWith('\n') && text.isWellFormed() && !/[\x00-\x09\x0b-\x1f]/.test(text);
}

/**
 * The note with the signature of each signer, in their order.
 *
 * @param text must end with a newline
 * @throws RangeError for a text that a note cannot have
 */
export async function signNote(text: string, signers: readonly NoteSigner[]): Promise<string> {
  if (!isNoteText(text)) throw new RangeError('the text of a note must end with a newline, without control characters');
  const lines: string[] = [];
  for (const { name, keyId, sign } of signers) lines.push(signatureLine(name, keyId, await sign(text)));
  return `${text}\n${lines.join('')}`;
}

/** One line of a note, with its newline. */
export function signatureLine(name: string, keyId: number, signature: Uint8Array): string {
  const id = Buffer.alloc(KEY_ID_BYTES);
  id.writeUInt32BE(keyId);
  return `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: number;
  /** The signature without the key id. */
  readonly signature: Buffer;
  /** The whole line of the note, with its newline. */
  readonly line: string;
}

export interface ParsedNote {
  /** The signed text, with its last newline. Do not use it before a signature is verified. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** Splits a note into its parts. Verifies nothing. @throws LogFaultError for a text that is not a note */
export function parseNote(note: string): ParsedNote {
  const split = note.lastIndexOf('\n\n');
  if (!isNoteText(note) || split < 0) throw new LogFaultError('not a signed note: there is no line of signatures');
  const lines = note.slice(split + 2).split(/(?<=\n)/);
  if (lines.length > SIGNATURES_MAX) throw new LogFaultError(`the note has more than ${SIGNATURES_MAX} signatures`);
  return { text: note.slice(0, split + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [, name = '', encoded = ''] = /^— ([^ ]+) ([^ ]+)\n$/.exec(line) ?? [];
  const bytes = strictBase64(encoded);
  if (!isKeyName(name) || bytes === null || bytes.length <= KEY_ID_BYTES) {
    throw new LogFaultError('a line of signatures of the note is malformed');
  }
  return { name, keyId: bytes.readUInt32BE(0), signature: bytes.subarray(KEY_ID_BYTES), line };
}

/**
 * The text of a note that at least one of these keys has signed, and which keys have. Signatures of other keys are
 * ignored, even if they share the name or the id.
 *
 * @throws LogFaultError for a malformed note, a wrong signature of one of the keys, or no signature of any
 */
export function openNote(
  note: string,
  keys: readonly VerifierKey[],
): { readonly text: string; readonly signedBy: readonly VerifierKey[] } {
  const { text, signatures } = parseNote(note);
  const signedBy = new Set<VerifierKey>();
  for (const { name, keyId, signature } of signatures) {
    const key = keys.find((known) => known.name === name && known.keyId === keyId);
    if (key === undefined || signedBy.has(key)) continue;
    if (!key.verify(text, signature)) throw new LogFaultError(`the signature of ${name} on the note is wrong`);
    signedBy.add(key);
  }
  if (signedBy.size === 0) throw new LogFaultError('no known key has signed the note');
  return { text, signedBy: [...signedBy] };
}
