/** Attack: go on writing through an upload after its key is revoked or its owner erased. */
import { expect, test } from 'vitest';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { createUploadRunner } from '../../lambdas/ingest/run-upload.ts';
import { PART_LIMITS } from '../../lambdas/ingest/upload-parts.ts';
import { mayReceive } from '../../lambdas/ingest/upload-sender.ts';
import { removeOldUploads } from '../../server/loops/expiry-loop.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { apiKeyKey, erasureKey } from '../../storage/records/accounts.ts';
import { uploadKey } from '../../storage/records/batches.ts';
import { queuedWork } from '../ingest/queued-batch.ts';
import { market, price } from '../publisher/world.ts';
import { type ApiWorld, openApiWorld } from '../write-api/world.ts';

const SENDER = 'acme/k_1';
const ROWS = [market('gold-usd'), price('gold-usd', 0, 1), price('gold-usd', 1, 2), price('gold-usd', 2, 3)];
const TEXT = ROWS.map((record) => `${JSON.stringify(record)}\n`).join('');
const BODY = { sha256: sha256Hex(TEXT), bytes: Buffer.byteLength(TEXT), records: ROWS.length };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The event that ends a credential, and that credential. */
const ENDS: readonly [string, string, (world: ApiWorld) => Promise<void>][] = [
  ['its key is revoked', SENDER, (world) => putKey(world, { revokedAt: '2026-10-01T12:00:00.000Z' })],
  ['its key has expired', SENDER, (world) => putKey(world, { expiresAt: new Date(world.nowMs).toISOString() })],
  [
    'its user is erased',
    'mallory',
    async (world) => {
      const requestedAt = new Date(world.nowMs).toISOString();
      const value = { id: 'era_1', subject: 'user:mallory', requestedAt, finishedAt: null };
      const key = erasureKey('era_1');
      await world.ledger.transact([{ kind: 'put', key, revision: 1, value, if: { kind: 'any' } }], { attemptId: 'e' });
    },
  ],
];

async function putKey({ ledger }: ApiWorld, ended: { revokedAt?: string; expiresAt?: string }): Promise<void> {
  const value = {
    id: 'k_1',
    subject: 'account:acme',
    label: 'feed',
    scopes: ['ingest:write' as const],
    secretHash: '0'.repeat(64),
    previousSecret: null,
    createdAt: '2026-10-01T12:00:00.000Z',
    expiresAt: null,
    revokedAt: null,
    ...ended,
  };
  const put = { kind: 'put', key: apiKeyKey('k_1'), revision: 0, value, if: { kind: 'any' } } as const;
  await ledger.transact([put], { attemptId: JSON.stringify(ended) });
}

async function announced(as: string) {
  const world = openApiWorld();
  await putKey(world, {});
  const { json } = await world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body: BODY, as });
  let attempts = 0;
  const dependencies = {
    ledger: world.ledger,
    uploads: world.uploads,
    nowMs: () => world.nowMs,
    newAttemptId: () => `worker-${++attempts}`,
    limits: { ...PART_LIMITS, maxLines: 2 },
  };
  const state = async () => (await world.call({ path: `/api/v1/ingest/uploads/${json.id}`, as })).json;
  return { world, id: json.id as string, dependencies, state };
}

test.each(ENDS)('%s: its file is not received', async (_, as, end) => {
  const { world, id, dependencies } = await announced(as);
  expect(await mayReceive(dependencies, id)).toBe(true);
  await end(world);
  expect(await mayReceive(dependencies, id)).toBe(false);
});

test.each(ENDS)('%s while the file comes: nothing is taken in, and the file may go', async (_, as, end) => {
  const { world, id, dependencies, state } = await announced(as);
  world.uploads.put(id, Buffer.from(TEXT));
  await end(world);
  expect(await queueUpload(dependencies, id)).toEqual({ isUnwanted: true });
  expect(await state()).toMatchObject({
    state: 'stopped',
    stoppedBecause: 'credential-ended',
    counts: { accepted: 0 },
  });
  expect(await queuedWork(world.ledger)).toEqual([]);
  // Told of the same file again.
  expect(await queueUpload(dependencies, id)).toEqual({ isUnwanted: true });
});

test.each(ENDS)('%s while the file is worked off: the rest is not taken in', async (_, as, end) => {
  const { world, id, dependencies, state } = await announced(as);
  world.uploads.put(id, Buffer.from(TEXT));
  expect(await queueUpload(dependencies, id)).toEqual({ isUnwanted: false });
  const run = createUploadRunner(dependencies);
  await run(id);
  await end(world);
  expect(await run(id)).toBe('done');
  expect(await state()).toMatchObject({
    state: 'stopped',
    stoppedBecause: 'credential-ended',
    counts: { accepted: 2 },
  });
  expect(await queuedWork(world.ledger)).toEqual([]);
});

test('files are removed some days after the end of their upload, and their digest stays', async () => {
  const { world, id, dependencies, state } = await announced(SENDER);
  const [waiting, unknown] = ['upl_01JD8N5W5XQ6M4T0VZ8R2K7C3B', 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3C'];
  world.uploads.put(id, Buffer.from(TEXT));
  await queueUpload(dependencies, id);
  const run = createUploadRunner(dependencies);
  while ((await run(id)) !== 'done');
  const files = new Set([id, waiting, unknown]);
  const uploads = { list: async () => [...files], remove: async (gone: string) => void files.delete(gone) };
  const sweep = (keptDays: number | null) => removeOldUploads({ ...dependencies, uploads, keptDays });
  world.nowMs += 30 * DAY_MS - 1;
  await sweep(30);
  world.nowMs++;
  await sweep(null);
  expect([...files]).toEqual([id, waiting, unknown]);
  await sweep(30);
  expect([...files]).toEqual([waiting, unknown]);
  expect(await state()).toMatchObject({ state: 'applied', sha256: BODY.sha256 });
  expect((await world.ledger.get(uploadKey(id)))?.value.sha256).toBe(BODY.sha256);
});
