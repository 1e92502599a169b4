/**
 * Asks witnesses to cosign the published checkpoint (C2SP tlog-witness, add-checkpoint), and adds their lines to it.
 *
 * Publishing never waits for this. The checkpoint is replaced only while it is still the one that was sent, and keeps its
 * generation. So a later generation replaces it as usual. A cosignature that is lost in this way is requested again for the
 * later checkpoint.
 */

import { publicKey } from '../../../contract/files/public-objects.ts';
import { parseCheckpoint } from '../../../contract/log/checkpoint.ts';
import type { Cosigner } from '../../../contract/log/cosignature.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { type ParsedNote, parseNote } from '../../../contract/log/notes.ts';
import { consistencyProof } from '../../../contract/log/proofs.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { ledgerTiles } from './log-edge.ts';

export interface Witness {
  readonly cosigner: Cosigner;
  /** Sends the body of `add-checkpoint`. Rejects if there is no answer. */
  readonly addCheckpoint: (body: string) => Promise<{ readonly status: number; readonly body: string }>;
}

/** A witness refuses, or its answer is not a cosignature of the checkpoint. */
export class WitnessFault extends Error {
  override readonly name = 'WitnessFault';
}

/** A witness's clock may be this far ahead of ours. */
const AHEAD_SECONDS = 300;

/** The published checkpoint, parsed, and the witnesses that have not cosigned it yet. Null if no cosignature is missing. */
export async function readCosigned(
  { objects }: Pick<PublisherStorage, 'objects'>,
  witnesses: readonly Witness[],
): Promise<{ readonly note: string; readonly size: number; readonly missing: readonly Witness[] } | null> {
  const found = await objects.get(publicKey({ kind: 'log-checkpoint' }));
  if (found.kind !== 'found') return null;
  const note = Buffer.from(found.body).toString('utf8');
  const { text, signatures } = parseNote(note);
  const { size } = parseCheckpoint(text);
  const missing = witnesses.filter(({ cosigner: { name, keyId } }) => {
    return !signatures.some((signature) => signature.name === name && signature.keyId === keyId);
  });
  return size === 0 ? null : { note, size, missing };
}

/**
 * One witness's line for a checkpoint. The request names the size that the witness has cosigned last. If the witness knows
 * another size, it answers with it, and is asked once more.
 *
 * @param seen the last size that this witness is known to have cosigned; 0: unknown
 * @throws WitnessFault if it refuses, or gives something else
 */
export async function askWitness(
  { ledger, nowMs }: Pick<PublisherStorage, 'ledger' | 'nowMs'>,
  { cosigner, addCheckpoint }: Witness,
  note: string,
  seen: number,
): Promise<string> {
  const { text } = parseNote(note);
  const { size } = parseCheckpoint(text);
  const ask = async (old: number) => {
    const proof = await consistencyProof(old, size, ledgerTiles(ledger));
    const lines = [`old ${old}`, ...proof.map((hash) => hash.toString('base64')), ''];
    return await addCheckpoint(`${lines.join('\n')}\n${note}`);
  };
  let answer = await ask(Math.min(seen, size));
  if (answer.status === 409) {
    const known = /^(0|[1-9]\d{0,15})\n$/.exec(answer.body)?.[1];
    if (known === undefined) throw new WitnessFault(`${cosigner.name} answered 409 without a size`);
    if (Number(known) > size) {
      throw new WitnessFault(`${cosigner.name} has cosigned size ${known} of this log, which has only ${size} now`);
    }
    answer = await ask(Number(known));
  }
  if (answer.status !== 200) throw new WitnessFault(`${cosigner.name} answered ${answer.status}`);
  const line = cosignatureIn(answer.body, text, cosigner, nowMs() / 1000 + AHEAD_SECONDS);
  if (line === null) throw new WitnessFault(`${cosigner.name} gave no valid cosignature`);
  return line;
}

function cosignatureIn(body: string, text: string, { name, keyId, signedAt }: Cosigner, latest: number): string | null {
  let answered: ParsedNote;
  try {
    answered = parseNote(`${text}\n${body}`);
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
  for (const signature of answered.signatures) {
    // Lines of unknown keys are ignored, as the specification asks.
    if (signature.name !== name || signature.keyId !== keyId) continue;
    const seconds = signedAt(text, signature.signature);
    if (seconds !== null && seconds > 0 && seconds <= latest) return signature.line;
  }
  return null;
}

/** Adds lines to the checkpoint. Returns false, and changes nothing, if the checkpoint has been replaced in the meantime. */
export async function addCosignatures(
  { objects }: Pick<PublisherStorage, 'objects'>,
  note: string,
  lines: readonly string[],
): Promise<boolean> {
  const key = publicKey({ kind: 'log-checkpoint' });
  const found = await objects.get(key);
  if (found.kind !== 'found' || Buffer.from(found.body).toString('utf8') !== note) return false;
  const { etag, metadata } = found;
  const body = Buffer.from(note + lines.join(''));
  return (await objects.put(key, body, metadata, { kind: 'matches', etag })).kind === 'stored';
}
