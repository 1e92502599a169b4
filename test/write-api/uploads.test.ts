/** Large files: announced, put to their target, applied by the worker, and reported to their sender. */
import { beforeEach, describe, expect, test } from 'vitest';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { UPLOAD_TARGET_SECONDS } from '../../storage/ports/upload-store.ts';
import { uploadKey } from '../../storage/records/batches.ts';
import { generationOfKey } from '../../storage/records/publication.ts';
import { workOff } from '../ingest/work-off.ts';
import { market, price } from '../publisher/world.ts';
import { putItem } from '../storage/put-item.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

let world: ApiWorld;

beforeEach(() => {
  world = heldToSchemas(openApiWorld({ scopes: { reader: ['watchlists:read'] } }));
});

const TEXT = [market('gold-usd'), price('gold-usd', 0, 1), price('unknown', 0, 1)]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('');
const BODY = { sha256: sha256Hex(TEXT), bytes: Buffer.byteLength(TEXT), records: 3 };

const announce = (more: object = {}) =>
  world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body: BODY, ...more });
const get = (id: string, as = 'alice') => world.call({ path: `/api/v1/ingest/uploads/${id}`, as });

function dependencies() {
  let attempts = 0;
  return {
    ledger: world.ledger,
    uploads: world.uploads,
    nowMs: () => world.nowMs,
    newAttemptId: () => `worker-${world.nowMs}-${++attempts}`,
  };
}

describe('announcing a file', () => {
  test('answers where to put it, and where to read of it', async () => {
    const answer = await announce();
    const { id } = answer.json;
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe(`/api/v1/ingest/uploads/${id}`);
    expect(answer.json).toMatchObject({ ...BODY, mode: 'append', state: 'awaiting-content', refusedIn: [] });
    expect(answer.json.put).toEqual(await world.uploads.presign(id, BODY));
    expect((await get(id)).json).toEqual(answer.json);
  });

  test('is forgotten after 30 days without the file, and never with it', async () => {
    const [{ json: waiting }, { json: arrived }] = [await announce(), await announce()];
    world.uploads.put(arrived.id, Buffer.from(TEXT));
    await queueUpload(dependencies(), arrived.id);
    const expiryOf = async (id: string) => (await world.ledger.get(uploadKey(id)))?.expiresAtMs;
    const days30 = 30 * 24 * 60 * 60 * 1000;
    expect(await expiryOf(waiting.id)).toBe(Date.parse(waiting.createdAt) + days30);
    expect(await expiryOf(arrived.id)).toBeNull();
  });

  test.each([
    ['records', { ...BODY, records: 1_000_001 }],
    ['bytes', { ...BODY, bytes: 2 ** 30 + 1 }],
  ])('is bounded by the %s of a day', async (_, body) => {
    expect(await announce({ body })).toMatchObject({ status: 429, json: { code: 'daily-quota-exceeded' } });
    expect((await announce()).status).toBe(201);
  });
});

describe('an upload', () => {
  test('has another target each time it is read, until its file is there', async () => {
    const { id, put } = (await announce()).json;
    world.nowMs += UPLOAD_TARGET_SECONDS * 1000;
    const { json } = await get(id);
    expect(Date.parse(json.put.expiresAt)).toBeGreaterThan(Date.parse(put.expiresAt));
    world.uploads.put(id, Buffer.from(TEXT));
    await queueUpload(dependencies(), id);
    expect((await get(id)).json).toMatchObject({ state: 'queued', put: null });
  });

  test('is shown with its outcome and the outcome of each of its batches', async () => {
    const { id } = (await announce()).json;
    world.uploads.put(id, Buffer.from(TEXT));
    await queueUpload(dependencies(), id);
    await workOff(dependencies());
    const { json } = await get(id);
    expect(json).toMatchObject({
      state: 'applied',
      done: { bytes: BODY.bytes, records: 3, batches: 1 },
      counts: { accepted: 2, unchanged: 0, refused: 1 },
      generation: null,
    });
    const [{ batch, firstLine }] = json.refusedIn;
    expect(firstLine).toBe(1);
    const report = await world.call({ path: `/api/v1/ingest/batches/${batch}` });
    expect(report.json).toMatchObject({ state: 'applied', errors: [{ line: 3, code: 'market.unknown' }] });

    const value = { generation: 7, publishedAt: '2026-11-20T12:00:00.000Z' };
    await putItem(world.ledger, generationOfKey(`batch/${batch}`), value, 7);
    expect((await get(id)).json).toMatchObject(value);
  });
});
