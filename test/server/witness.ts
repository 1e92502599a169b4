/** A witness by C2SP's tlog-witness, for tests: over HTTP, with the refusals of the specification. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type LogCheckpoint, parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { COSIGNATURE_TYPE, cosignedText } from '../../contract/log/cosignature.ts';
import { EMPTY_ROOT } from '../../contract/log/merkle.ts';
import { noteKeyId, openNote, parseNote, signatureLine, verifierKey, vkeyOf } from '../../contract/log/notes.ts';
import { verifyConsistency } from '../contract/log/verify-consistency.ts';

export interface TestWitness {
  readonly vkey: string;
  readonly url: string;
  /** The status of each answer. */
  readonly statuses: number[];
  /** Of the latest cosigned checkpoint. */
  cosigned: { size: number; root: Buffer };
  /** Takes the place of every answer. */
  broken: { readonly status: number; readonly body: string } | null;
}

/** @param logVkey of the one log that it knows */
export async function startWitness(
  logVkey: string,
  nowMs: () => number,
  name = 'witness.test/w1',
): Promise<TestWitness> {
  const pair = generateKeyPairSync('ed25519');
  const privateKey = createPrivateKey(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  const log = verifierKey(logVkey);

  function answer(body: string): { readonly status: number; readonly body: string } {
    const split = body.indexOf('\n\n');
    const [first = '', ...lines] = body.slice(0, split).split('\n');
    const note = body.slice(split + 2);
    const old = Number(/^old (0|[1-9]\d*)$/.exec(first)?.[1] ?? Number.NaN);
    const plain = (status: number) => ({ status, body: '' });
    if (!Number.isSafeInteger(old) || lines.length > 63) return plain(400);
    let checkpoint: LogCheckpoint;
    try {
      checkpoint = parseCheckpoint(parseNote(note).text);
    } catch {
      return plain(400);
    }
    if (checkpoint.origin !== log.name) return plain(404);
    try {
      openNote(note, [log]);
    } catch {
      return plain(403);
    }
    const { size, root } = checkpoint;
    if (old > size) return plain(400);
    if (old !== witness.cosigned.size) return { status: 409, body: `${witness.cosigned.size}\n` };
    const proof = lines.map((line) => Buffer.from(line, 'base64'));
    const consistency = { oldSize: old, oldRoot: witness.cosigned.root, newSize: size, newRoot: root, proof };
    if (!verifyConsistency(consistency)) return plain(422);
    witness.cosigned = { size, root };
    const { text } = parseNote(note);
    const seconds = Math.floor(nowMs() / 1000);
    const timestamp = Buffer.alloc(8);
    timestamp.writeBigUInt64BE(BigInt(seconds));
    const signature = Buffer.concat([timestamp, sign(null, Buffer.from(cosignedText(seconds, text)), privateKey)]);
    // With a line of a name that nobody knows, which must not be taken although its signature is right.
    const lineOf = (key: string, bytes: Buffer) =>
      signatureLine(key, noteKeyId(key, COSIGNATURE_TYPE, publicKey), bytes);
    return { status: 200, body: lineOf('other.test/w', signature) + lineOf(name, signature) };
  }

  const server = createServer(async (request, response) => {
    const body = await readText(request);
    const found =
      request.url !== '/add-checkpoint' || request.method !== 'POST' ? { status: 404, body: '' } : answer(body);
    const { status, body: answered } = witness.broken ?? found;
    witness.statuses.push(status);
    response.writeHead(status, status === 409 ? { 'content-type': 'text/x.tlog.size' } : {}).end(answered);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const witness: TestWitness = {
    vkey: vkeyOf(name, publicKey, COSIGNATURE_TYPE),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses: [],
    cosigned: { size: 0, root: EMPTY_ROOT },
    broken: null,
  };
  return witness;
}
