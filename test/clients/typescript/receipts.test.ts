/** Proofs and receipts of the client. The tree that appends, and its synchronous hashes, are the judge. */
import { beforeAll, describe, expect, test } from 'vitest';
import { fromBase64, leafHashOf } from '../../../clients/typescript/hashes.ts';
import { isIncluded } from '../../../clients/typescript/inclusion.ts';
import { openReceipt } from '../../../clients/typescript/receipts.ts';
import { LogVerificationError } from '../../../clients/typescript/signed-log.ts';
import { openCheckpoint } from '../../../contract/log/checkpoint.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { verifierKey } from '../../../contract/log/notes.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { testSigner } from '../../publisher/log/test-log.ts';
import { market, price } from '../../publisher/world.ts';
import { receiptParts } from './receipt-parts.ts';
import { collected, serveWorld, serveWorldForTest } from './served-world.ts';

const { vkey } = testSigner();

describe('a receipt', () => {
  let receipt: string;
  let row: PublicObservation;
  let served: Awaited<ReturnType<typeof serveWorld>>;

  beforeAll(async () => {
    served = await serveWorld();
    await served.publish([market('a'), ...Array.from({ length: 270 }, (_, day) => price('a', day, day + 1))]);
    const tidemark = served.client({ vkeys: [vkey] });
    row = (await collected(tidemark.history('a', { from: '2026-02-01', to: '2026-02-01' })))[0] as PublicObservation;
    receipt = await tidemark.receipt('a', row);
    return () => served.close();
  });

  test('is one by the contract, and by the client', async () => {
    const { extra, index, proof, checkpoint } = receiptParts(receipt);
    const { size, root } = openCheckpoint(checkpoint, [verifierKey(vkey)]);
    const [leaf, signed] = [new Uint8Array(leafHash(extra)), new Uint8Array(root)];
    expect(await isIncluded({ size, root: signed }, index, leaf, proof)).toBe(true);
    const opened = await openReceipt(receipt, [vkey]);
    expect(opened).toMatchObject({ index, checkpoint: { origin: 'tidemark.test/log', size, vkey } });
    expect(opened.entry).toMatchObject({ id: row.id, observedAt: row.observedAt, market: 'a' });
    expect(await leafHashOf(new TextEncoder().encode(opened.text))).toEqual(new Uint8Array(leafHash(opened.text)));
  });

  test.each<[string, (text: string) => string]>([
    ['another first line', (text) => text.replace('@v1', '@v2')],
    ['another entry', (text) => text.replace(/extra \S+/, `extra ${btoa('{"format":1}')}`)],
    ['no entry', (text) => text.replace(/extra \S+\n/, '')],
    ['another place', (text) => text.replace(/index (\d+)/, (_, index) => `index ${Number(index) ^ 1}`)],
    ['a place beyond the log', (text) => text.replace(/index \d+/, 'index 99999')],
    ['a hash too few', (text) => text.replace(/\n[A-Za-z0-9+/]{43}=\n\n/, '\n\n')],
    ['another size', (text) => text.replace(/\n272\n/, '\n271\n')],
    ['no signature', (text) => text.replace(/\n— .*/, '\n')],
  ])('with %s proves nothing', async (_, change) => {
    expect(change(receipt)).not.toBe(receipt);
    await expect(openReceipt(change(receipt), [vkey])).rejects.toThrow(LogVerificationError);
  });

  test('proves nothing to a reader with another key', async () => {
    await expect(openReceipt(receipt, [testSigner(2).vkey])).rejects.toThrow(LogVerificationError);
    await expect(openReceipt(receipt, [])).rejects.toThrow(LogVerificationError);
  });

  test('is refused for a row that says something else, and for one of another market', async () => {
    const tidemark = served.client({ vkeys: [vkey] });
    for (const said of [
      { decimal: '7' },
      { decimal: null },
      { confidence: 'low' },
      { announced: true },
      { publicReason: 'Nobody signed this.' },
    ]) {
      await expect(tidemark.prove('a', { ...row, ...said } as PublicObservation)).rejects.toThrow(LogVerificationError);
    }
    await expect(tidemark.prove('b', row)).rejects.toThrow(LogVerificationError);
    const unknown = { ...row, id: 'obs_000000000000000000000000' };
    await expect(tidemark.prove('a', unknown)).rejects.toMatchObject({ code: 'not-in-log-yet' });
    const old = { ...unknown, recordedAt: '2026-01-01T00:00:00Z' };
    await expect(tidemark.prove('a', old)).rejects.toThrow(LogVerificationError);
    await expect(served.client().prove('a', row)).rejects.toThrow(RangeError);
  });
});

test('a log that is switched off proves nothing, and says so', async () => {
  const served = await serveWorldForTest();
  await served.publish([market('a'), price('a', 0, 1)]);
  const away: typeof fetch = async (...request) =>
    String(request[0]).includes('/log/')
      ? new Response('{"code":"not-found"}', { status: 404 })
      : await fetch(...request);
  const tidemark = served.client({ vkeys: [vkey], system: { fetch: away, nowMs: Date.now } });
  const [row] = await collected(tidemark.history('a'));
  await expect(tidemark.prove('a', row as PublicObservation)).rejects.toMatchObject({ code: 'not-found', status: 404 });
  expect(fromBase64('%')).toBeNull();
});
