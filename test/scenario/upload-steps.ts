/** A large file: announced, put to its target, applied in the background. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { MARKETS_PAGE_SIZE, OBSERVATIONS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { historyUrl } from '../../contract/files/routes.ts';
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { fieldOf, succeeded } from './answers.ts';
import { ndjson } from './ingest-steps.ts';
import { marketRecord, priceRecord } from './records.ts';
import { DONE_WITHIN_MS, poll, type Session, type Step } from './session.ts';

const UPLOADS = '/api/v1/ingest/uploads';

/** More than a page of the list, so that there is a second page. */
const MARKETS = MARKETS_PAGE_SIZE + 1;
/** More than a batch of the worker holds, and more than a page of a history. */
const DAYS = 1_000;
const FIRST_DAY_MS = Date.parse('2022-01-01T00:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;

export function uploadedSlugs(session: Session): readonly string[] {
  return Array.from({ length: MARKETS }, (_, index) => session.slug(`shop-${String(index).padStart(3, '0')}`));
}

/** All markets with a price of the first day; the first market with one of each day; and one row of no market. */
function fileOf(session: Session): { readonly bytes: Buffer; readonly records: number } {
  const slugs = uploadedSlugs(session);
  const priced = (slug: string, index: number) => {
    const day = new Date(FIRST_DAY_MS + index * DAY_MS).toISOString().slice(0, 10);
    return priceRecord(slug, 'USD', { day, amountMinor: 20_000 + index, sourceValue: null });
  };
  const [first = ''] = slugs;
  const days = Array.from({ length: DAYS - 1 }, (_, index) => priced(first, index + 1));
  const records = [
    ...slugs.map((slug) => marketRecord(slug, 'USD')),
    ...slugs.map((slug) => priced(slug, 0)),
    ...days,
    priced(session.slug('nowhere'), 0),
  ];
  return { bytes: ndjson(records), records: records.length };
}

async function put(session: Session, target: Upload['put'], bytes: Buffer): Promise<number> {
  assert.ok(target !== null, 'no target');
  session.keepPrivate(target.url);
  const url = new URL(target.url, `${session.deployment.writeBaseUrl}${UPLOADS}`);
  const response = await fetch(url, { method: 'PUT', headers: target.headers, body: bytes });
  await response.text();
  return response.status;
}

export const uploadSteps: readonly Step[] = [
  {
    says: 'a large file is accepted at the announced target, and no other file',
    async run(session) {
      const { bytes, records } = fileOf(session);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const announced = await session.write('POST', UPLOADS, { body: { sha256, bytes: bytes.length, records } });
      const { id, put: target, state } = succeeded('createIngestUpload', announced);
      assert.equal(state, 'awaiting-content');
      const location = fieldOf(announced, 'location');
      assert.equal(location, `${UPLOADS}/${id}`);
      session.keepPrivate(id);
      session.note('upload', id);

      const other = Buffer.from(bytes);
      other.write('[', 0);
      const refusal = await put(session, target, other);
      assert.ok(refusal >= 400 && refusal < 500, `other bytes were answered ${refusal}`);
      const waiting = succeeded('getIngestUpload', await session.write('GET', location));
      assert.equal(waiting.state, 'awaiting-content');

      const taken = await put(session, waiting.put, bytes);
      assert.ok(taken === 200 || taken === 204, `the file was answered ${taken}`);
      const finished = await poll(
        DONE_WITHIN_MS,
        async () => succeeded('getIngestUpload', await session.write('GET', location)),
        ({ finishedAt, generation }) => finishedAt !== null && generation !== null,
      );
      assert.equal(finished.state, 'applied');
      assert.deepEqual(finished.counts, { accepted: records - 1, unchanged: 0, refused: 1, newMarkets: MARKETS });
      assert.deepEqual([finished.done.bytes, finished.done.records], [bytes.length, records]);
      const [{ batch = '', firstLine = 0 } = {}] = finished.refusedIn;
      session.keepPrivate(batch);
      const report = succeeded('getIngestBatch', await session.write('GET', `/api/v1/ingest/batches/${batch}`));
      assert.deepEqual(
        report.errors.map(({ index, pointer, code }) => [firstLine + index, pointer, code]),
        [[records, '/market', 'market.unknown']],
      );
    },
  },
  {
    says: 'its longest history is read page by page: every observation once, the newest first',
    async run(session) {
      const [slug = ''] = uploadedSlugs(session);
      const observations: Observation[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? '' : `?cursor=${cursor}`;
        const page = succeeded('getMarketHistory', await session.read(`${historyUrl(slug)}${query}`));
        assert.ok(page.data.length <= OBSERVATIONS_PAGE_SIZE);
        observations.push(...page.data);
        cursor = page.page.nextCursor;
      } while (cursor !== null);
      const amounts = observations.map((one) => (one.kind === 'money' ? one.amountMinor : null));
      assert.deepEqual(
        amounts,
        Array.from({ length: DAYS }, (_, index) => 20_000 + DAYS - 1 - index),
      );
    },
  },
];
