/**
 * The handlers of uploads. A client announces a large file, and the answer names the URL to which to send it. The worker checks
 * its contents.
 */
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import { FEED_SCOPES } from '../../contract/operations/scopes.ts';
import { created } from '../../storage/ports/changes.ts';
import { UPLOAD_AWAITED_MS, type UploadTarget } from '../../storage/ports/upload-store.ts';
import { type UploadValue, uploadKey } from '../../storage/records/batches.ts';
import { type GenerationOfValue, generationOfKey } from '../../storage/records/publication.ts';
import { sourcePrincipal } from '../../storage/records/sources.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';
import { refusal } from '../http/refused-request.ts';
import { countsOf, NO_ROWS } from '../markets/tally.ts';
import { type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { authorityOf, checkMode } from './authority.ts';

const NO_PLACE = 'This deployment has no place for large files: send batches.';

/** Signing a target makes no request and changes nothing. If the write is not committed, the URL is never sent. */
export const createIngestUpload = writeHandler<'createIngestUpload'>()({
  async read({ body, newId }, _, { uploads }) {
    const id = newId('upl');
    return { id, target: (await uploads?.presign(id, body)) ?? null };
  },
  decide({ principal, body: { dryRun, ...body }, now, nowMs }, { id, target }) {
    if (target === null) throw refusal('service-unavailable', NO_PLACE);
    checkMode(principal, body.mode);
    const upload = newUpload({
      id,
      subject: principal.subject,
      actor: principal.actor,
      ...authorityOf(principal),
      ...body,
      ...(dryRun && { dryRun }),
      createdAt: now,
    });
    return {
      target: `upload/${id}`,
      // Later states have no expiry: `replaced` puts the item without one.
      changes: [{ ...created(uploadKey(id), upload), expiresAtMs: nowMs + UPLOAD_AWAITED_MS }],
      uses: [
        { feature: 'ingest-rows-per-day', amount: body.records },
        { feature: 'ingest-bytes-per-day', amount: body.bytes },
      ],
      response: { body: toUpload(upload, target, null), location: `/api/v1/ingest/uploads/${id}` },
    };
  },
});

/** An upload as it was announced. */
export function newUpload(
  announced: Pick<
    UploadValue,
    'id' | 'subject' | 'actor' | 'authority' | 'mode' | 'dryRun' | 'sha256' | 'bytes' | 'records' | 'createdAt'
  >,
): UploadValue {
  const nothingDone = {
    bytesDone: 0,
    linesDone: 0,
    partsDone: 0,
    recordsDone: 0,
    ...NO_ROWS,
  };
  return {
    ...announced,
    state: 'awaiting-content',
    ...nothingDone,
    refusedIn: [],
    lastBatch: null,
    finishedAt: null,
  };
}

/** An upload with the records of a source. */
export function uploadOfSource(
  source: string,
  announced: Pick<UploadValue, 'id' | 'sha256' | 'bytes' | 'records' | 'createdAt'>,
): UploadValue {
  const principal = sourcePrincipal(source);
  const authority = { scopes: [...FEED_SCOPES], markets: null };
  return newUpload({ ...announced, subject: principal, actor: principal, authority, mode: 'correct' });
}

export const getIngestUpload: ReadHandler<'getIngestUpload'> = async ({ params, principal }, { reader, uploads }) => {
  const upload = (await reader.get(uploadKey(params.id)))?.value;
  const mayRead = upload?.subject === principal.subject || principal.subject === OPERATOR_SUBJECT;
  if (upload === undefined || !mayRead) throw refusal('not-found', 'No such upload, or not one of yours.');
  const { id, state, lastBatch, finishedAt } = upload;
  const target = state === 'awaiting-content' ? ((await uploads?.presign(id, upload)) ?? null) : null;
  const isAll = finishedAt !== null && lastBatch !== null;
  const published = isAll ? await reader.get(generationOfKey(`batch/${lastBatch}`)) : null;
  return { body: toUpload(upload, target, published?.value ?? null) };
};

function toUpload(upload: UploadValue, put: UploadTarget | null, published: GenerationOfValue | null): Upload {
  const { id, state, mode, sha256, bytes, records, createdAt, finishedAt, refusedIn } = upload;
  const { bytesDone, recordsDone, partsDone } = upload;
  return {
    id,
    state,
    stoppedBecause: state === 'stopped' ? (upload.stoppedBecause ?? 'too-many-records') : null,
    mode,
    dryRun: upload.dryRun === true,
    sha256,
    bytes,
    records,
    put,
    done: { bytes: bytesDone, records: recordsDone, batches: partsDone },
    ...countsOf(upload),
    refusedIn,
    createdAt,
    finishedAt,
    generation: published?.generation ?? null,
    publishedAt: published?.publishedAt ?? null,
  };
}
