/** The handlers of ingest batches. A batch is stored unchanged and queued. The worker checks its records. */

import { BATCH_RECORDS_MAX, type IngestMode } from '../../contract/ingest/ingest-records.ts';
import { DRY_RUN_KEPT_DAYS, NDJSON_TYPE } from '../../contract/operations/ingest.ts';
import { parseNdjson } from '../../contract/values/strict-json.ts';
import { created } from '../../storage/ports/changes.ts';
import type { PutChange } from '../../storage/ports/ledger.ts';
import { type BatchValue, batchKey, type WorkValue, workKey } from '../../storage/records/batches.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';
import { refusal } from '../http/refused-request.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { affectedMarkets } from '../worker/affected-markets.ts';
import { authorityOf, checkMode } from './authority.ts';
import { readReport, reportOf } from './read-report.ts';
import { newBatch } from './stored-batch.ts';

/** The id is new; an existing one fails the condition. */
export const createIngestBatch = writeHandler<'createIngestBatch'>()({
  decide(request) {
    const read = readBatch(request);
    checkMode(request.principal, read.mode);
    const { touches, ...sent } = read;
    const { bytes, mediaType } = request.raw as NonNullable<typeof request.raw>;
    const { subject } = request.principal;
    const id = request.newId('bat');
    const described = {
      id,
      subject,
      actor: request.principal.actor,
      ...sent,
      ...authorityOf(request.principal),
      mediaType: mediaType as BatchValue['mediaType'],
      receivedAt: request.now,
    };
    const { batch, changes } = newBatch(described, bytes);
    const [record, ...parts] = changes;
    return {
      target: `batch/${id}`,
      changes: [
        record as PutChange,
        ...parts.map((part) => ({ ...part, ...expiry(sent, request.nowMs) })),
        created(workKey(id, subject), { kind: 'ingest', batch: id, lane: subject, lease: null, ...touches }),
      ],
      uses: [
        { feature: 'ingest-rows-per-day', amount: sent.records },
        { feature: 'ingest-bytes-per-day', amount: bytes.length },
      ],
      response: { body: reportOf(batch), location: `/api/v1/ingest/batches/${id}` },
    };
  },
});

export const getIngestBatch: ReadHandler<'getIngestBatch'> = async ({ params, principal }, { reader }) => {
  const batch = (await reader.get(batchKey(params.id)))?.value;
  const mayRead = batch?.subject === principal.subject || principal.subject === OPERATOR_SUBJECT;
  const report = mayRead ? await readReport(reader, params.id) : null;
  if (report === null) throw refusal('not-found', 'No such batch, or not one of yours.');
  return { body: report };
};

/** The options and the number of records in a request. The worker checks the records themselves. */
interface SentBatch {
  readonly records: number;
  readonly touches: Pick<WorkValue, 'touches'>;
  readonly dryRun: boolean;
  readonly mode: IngestMode;
  readonly partial: boolean;
}

type Request = OperationRequest<'createIngestBatch'>;

/** An option has one place: in a JSON body, or in the query of an NDJSON body. */
function readBatch(request: Request): SentBatch {
  if (request.raw?.mediaType === NDJSON_TYPE) return readLines(request);
  const misplaced = Object.keys(request.query);
  if (misplaced.length > 0) {
    const detail = 'A JSON body has no options in the query: put them into the body.';
    const errors = misplaced.map((name) => ({ pointer: `/${name}`, code: 'invalid', detail: 'belongs in the body' }));
    throw refusal('invalid-request', detail, { errors });
  }
  const { records, dryRun, mode, partial } = request.body;
  return { records: records.length, touches: affectedMarkets(records), dryRun, mode, partial };
}

function readLines({ raw, query }: Request): SentBatch {
  const parsed = parseNdjson(raw?.text ?? '', { maxRecords: BATCH_RECORDS_MAX });
  if ('faults' in parsed) {
    // The limit is the same as for a JSON body, with the same problem above it.
    const isTooMany = parsed.faults.some(({ code }) => code === 'json.too-many-records');
    const detail = 'Some lines are not valid I-JSON (RFC 7493): see errors.';
    throw refusal(isTooMany ? 'validation-failed' : 'malformed-body', detail, { errors: parsed.faults });
  }
  const { records } = parsed;
  if (records.length === 0) throw refusal('validation-failed', 'There are no records: send one on each line.');
  const { dryRun, mode = 'append', partial } = query;
  const touches = affectedMarkets(records);
  return { records: records.length, touches, dryRun: dryRun === 'true', mode, partial: partial === 'true' };
}

/**
 * The body of an applied batch is kept permanently, so that each observation can be traced to its request. A dry run stores no
 * observation, so its body expires.
 */
function expiry({ dryRun }: Pick<SentBatch, 'dryRun'>, nowMs: number): { expiresAtMs?: number } {
  return dryRun ? { expiresAtMs: nowMs + DRY_RUN_KEPT_DAYS * 24 * 60 * 60 * 1000 } : {};
}
