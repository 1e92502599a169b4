/** An inclusion proof with its checkpoint, for use without a network (C2SP tlog-proof@v1). */
import { strictBase64 } from './base64.ts';
import { LogFaultError } from './log-fault-error.ts';
import { HASH_BYTES } from './merkle.ts';

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';

export interface TlogProof {
  /** Data that nothing authenticates, until the reader finds its hash in the tree. Null: the line is left out. */
  readonly extra: Buffer | null;
  /** Of the entry, from 0. */
  readonly index: number;
  /** From the leaf's neighbour up to the root's child. */
  readonly proof: readonly Buffer[];
  /** The signed checkpoint, byte for byte. */
  readonly checkpoint: string;
}

export function tlogProofText({ extra, index, proof, checkpoint }: TlogProof): string {
  const lines = [
    FIRST_LINE,
    ...(extra === null ? [] : [`extra ${extra.toString('base64')}`]),
    `index ${index}`,
    ...proof.map((hash) => hash.toString('base64')),
  ];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/** A tree of 2^53 entries has no longer path. */
const PROOF_MAX = 53;

/** @throws LogFaultError for any other text. The proof itself is not verified. */
export function parseTlogProof(text: string): TlogProof {
  const split = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, split).split('\n');
  if (split < 0 || first !== FIRST_LINE) throw new LogFaultError(`not a proof: its first line must be ${FIRST_LINE}`);
  const extra = lines[0]?.startsWith('extra ') ? lines.shift()?.slice('extra '.length) : undefined;
  const bytes = extra === undefined ? null : strictBase64(extra);
  if (extra !== undefined && bytes === null) throw new LogFaultError('the extra data of the proof is not base64');
  const index = /^index (0|[1-9]\d{0,15})$/.exec(lines.shift() ?? '')?.[1];
  if (index === undefined || !Number.isSafeInteger(Number(index))) {
    throw new LogFaultError('the proof does not say the index of its entry');
  }
  if (lines.length > PROOF_MAX) throw new LogFaultError(`the proof has more than ${PROOF_MAX} hashes`);
  const proof = lines.map((line) => {
    const hash = strictBase64(line);
    if (hash?.length !== HASH_BYTES) throw new LogFaultError('a line of the proof is not a hash');
    return hash;
  });
  return { extra: bytes, index: Number(index), proof, checkpoint: text.slice(split + 2) };
}
