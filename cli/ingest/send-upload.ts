/** Sends a large file as an upload: it is written to a temporary file as NDJSON, announced, put, and watched. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import { REFUSED_BATCHES_MAX, type Upload } from '../../contract/ingest/ingest-uploads.ts';
import { poll } from '../http/poll.ts';
import { putFile } from '../http/put-file.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note } from '../program/output.ts';
import type { Contradictions } from './contradictions.ts';
import { addCorrections, addReceived, addReportFaults, addRowFaults, type IngestRun, shareOf } from './ingest-run.ts';
import { readLines } from './lines.ts';
import { cutIntoParts, type FilePart } from './parts.ts';
import type { SourceFault, SourceRecord } from './source-records.ts';
import { inTemporaryFolder, noRoom } from './temporary-folder.ts';

const UPLOADS_PATH = '/api/v1/ingest/uploads';

interface Spooled {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The line of the person's file for each line of the spooled one. */
  readonly lines: readonly (number | null)[];
}

/**
 * Sends the parts as one upload. Refused records are set aside, because the beginning is public before the end is read. A dry
 * run changes nothing.
 */
export async function sendUpload(
  run: IngestRun,
  parts: AsyncIterable<FilePart>,
  contradictions: Contradictions,
): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    const whole = await spool(run, parts, join(folder, 'records.ndjson'));
    const isConsistent = contradictions.size === 0;
    const file = isConsistent
      ? whole
      : await spool(run, consistent(whole, contradictions), join(folder, 'consistent.ndjson'));
    await watch(run, file, await announce(run, file));
  });
}

async function spool(run: IngestRun, parts: AsyncIterable<FilePart>, path: string): Promise<Spooled> {
  const { input, progress } = run;
  const digest = createHash('sha256');
  const file = await open(path, 'wx', 0o600).catch(noRoom);
  const lines: (number | null)[] = [];
  let bytes = 0;
  for await (const part of parts) {
    addRowFaults(run, part.faults);
    const { body } = part;
    digest.update(body);
    bytes += body.length;
    lines.push(...part.lines);
    await file.appendFile(body).catch(noRoom);
    progress.at('Reading', { share: shareOf(input), count: lines.length, unit: 'record' });
  }
  await file.close();
  return { path, sha256: digest.digest('hex'), bytes, lines };
}

/** The records of the file that no later row contradicts. All of its rows are known by now. */
async function* consistent({ path, lines }: Spooled, contradictions: Contradictions): AsyncGenerator<FilePart> {
  const records = async function* (): AsyncGenerator<SourceRecord | SourceFault> {
    for await (const { line: at, text } of readLines(createReadStream(path), Number.MAX_SAFE_INTEGER)) {
      const line = lines[at - 1] ?? at;
      yield contradictions.faultAt(text, line) ?? {
        kind: 'record',
        line,
        text,
        defines: null,
        market: null,
        isRounded: false,
      };
    }
  };
  yield* cutIntoParts(records(), false);
}

/** If a run with the same name has announced the file before, the idempotency key returns that announcement. */
async function announce(run: IngestRun, { path, sha256, bytes, lines }: Spooled): Promise<string> {
  const { client, mode, dryRun, runId } = run;
  const { id } = await client.resource<Upload>({
    method: 'POST',
    path: UPLOADS_PATH,
    body: JSON.stringify({ sha256, bytes, records: lines.length, mode, dryRun }),
    idempotencyKey: `${runId}-${dryRun ? 'dry-' : ''}upload-${sha256.slice(0, 20)}`,
  });
  addReceived(run, id);
  for (let attempt = 1; ; attempt++) {
    const { put } = await readUpload(run, id);
    // The file has arrived, from this run or the one before.
    if (put === null) return id;
    const target = uploadTarget(put.url, client.profile.writeUrl, client.profile.uploadHost);
    const sent = await putFile(target, put.headers, path, (sentBytes) => {
      const records = Math.floor((sentBytes / bytes) * lines.length);
      run.progress.at('Sending', { share: sentBytes / bytes, count: records, unit: 'record' });
    }).catch((error: unknown) => {
      if (attempt === PUT_ATTEMPTS) throw error;
      return null;
    });
    if (sent !== null && sent.status >= 300 && sent.status < 400) {
      throw new CommandError('refused', `The upload host redirects (${sent.status}). Uploads do not follow redirects.`);
    }
    // Storage may answer without a problem document. 412: a file is there already; the next read shows it.
    if (sent !== null && sent.status >= 400 && sent.status !== 412 && (sent.status < 500 || attempt === PUT_ATTEMPTS)) {
      const exit = sent.status < 500 ? 'refused' : 'unreachable';
      throw new CommandError(exit, `The storage refused the file: ${sent.status}.`, sent.text.slice(0, 500));
    }
    if (attempt === PUT_ATTEMPTS)
      throw new CommandError('unreachable', 'Storage acknowledged the upload, but the file is missing.');
    if (sent === null || sent.status >= 500) await sleep(PUT_PAUSE_MS * attempt);
  }
}

const PUT_ATTEMPTS = 4;
const PUT_PAUSE_MS = 1_000;

async function watch(run: IngestRun, { lines }: Spooled, id: string): Promise<void> {
  const { progress, totals, wait, dryRun } = run;
  const before = totals.refused;
  const isWorkedOff = ({ finishedAt }: Upload) => finishedAt !== null;
  const read = async (): Promise<Upload> => {
    const upload = await readUpload(run, id);
    progress.at(dryRun ? 'Examining' : 'Applying', {
      share: upload.done.records / lines.length,
      count: upload.done.records,
      unit: 'record',
    });
    return upload;
  };
  let upload = await read();
  for (let doneRecords = -1; !isWorkedOff(upload) && upload.done.records > doneRecords; ) {
    doneRecords = upload.done.records;
    upload = await poll(read, (now) => isWorkedOff(now) || now.done.records > doneRecords, STANDSTILL_SECONDS);
  }
  totals.records = upload.done.records;
  totals.accepted = upload.counts.accepted;
  totals.unchanged = upload.counts.unchanged;
  totals.refused = before + upload.counts.refused;
  addCorrections(run, upload);
  if (!isWorkedOff(upload)) {
    const hint = `It goes on when a worker runs. Look again: tidemark uploads show ${id}`;
    throw new CommandError('unfinished', `The upload ${id} has made no progress for ${STANDSTILL_SECONDS} s.`, hint);
  }
  for (const { batch } of upload.refusedIn) {
    const report = await run.client.resource<BatchReport>({ path: `/api/v1/ingest/batches/${batch}` });
    addReportFaults(run, report, (line) => lines[line - 1] ?? null);
  }
  if (upload.state === 'stopped') {
    throw new CommandError('unfinished', `The upload ${id} was stopped: ${upload.stoppedBecause}.`, 'Use another key.');
  }
  if (upload.refusedIn.length === REFUSED_BATCHES_MAX) {
    note(
      `Only the faults of the first ${REFUSED_BATCHES_MAX} batches are known here. Correct them, and send the file again.`,
    );
  }
  if (dryRun) return;
  progress.at('Waiting for the generation', { share: null });
  const shown = await poll(
    () => readUpload(run, id),
    ({ generation }) => generation !== null,
    wait,
  );
  totals.generation = shown.generation;
}

const STANDSTILL_SECONDS = 600;

async function readUpload({ client }: IngestRun, id: string): Promise<Upload> {
  return await client.resource({ path: `${UPLOADS_PATH}/${id}` });
}

// The allowed targets of an upload. The service names the target in its answer, which must not direct the file to any other
// place.

/**
 * @param named the target in the answer: a path, or a URL
 * @param storageHost the host of the deployment's storage, which the user has declared
 * @throws CommandError unless the target is at the service itself, or at the declared host by https
 */
function uploadTarget(named: string, writeUrl: URL, storageHost: string | null): URL {
  if (!URL.canParse(named, writeUrl.href))
    throw new CommandError('unreachable', 'The service names no target for the file.');
  const url = new URL(named, writeUrl);
  const isBare = url.username === '' && url.password === '';
  const isDeclared = url.protocol === 'https:' && url.host === storageHost;
  if (isBare && (url.origin === writeUrl.origin || isDeclared)) return url;
  const hint =
    url.protocol === 'https:'
      ? `If this is the storage of the deployment, declare it: --upload-host ${url.host}, or "uploadHost" in the profile.`
      : 'Files are uploaded to the service itself, or over https to a host that you have declared.';
  throw new CommandError('usage', `The service sends the file to ${url.origin}, so it was not sent.`, hint);
}
