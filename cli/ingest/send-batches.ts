/** Sends a file as batches, one part after the other, and reads their reports. */
import { createHash } from 'node:crypto';
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import { NDJSON_TYPE } from '../../contract/operations/ingest.ts';
import { poll } from '../http/poll.ts';
import { CommandError } from '../program/exit-codes.ts';
import { addCorrections, addReceived, addReportFaults, addRowFaults, type IngestRun, shareOf } from './ingest-run.ts';
import type { FilePart } from './parts.ts';

const BATCHES_PATH = '/api/v1/ingest/batches';

/**
 * The number of parts that are sent before the report of the first one is read. Parts are applied in the order in which they
 * arrive.
 */
const SENT_AHEAD = 4;
/** If the report of one batch takes longer, the worker is stopped or far behind. */
const REPORT_SECONDS = 600;

/** The part without its body, which is no longer needed. */
interface Sent extends Pick<FilePart, 'lines' | 'from'> {
  readonly id: string;
}

/**
 * Without `partial`, a part with a fault is refused as a whole, and no later part is sent. So each part waits for the report of
 * the previous one.
 *
 * @throws CommandError if a report is not finished in time, or a request fails
 */
export async function sendBatches(run: IngestRun, parts: AsyncIterable<FilePart> | Iterable<FilePart>): Promise<void> {
  const { partial, dryRun, totals } = run;
  showProgress(run);
  const isOneByOne = !partial && !dryRun;
  const ahead: Sent[] = [];
  let shown: string | null = null;
  const settle = async (most: number): Promise<void> => {
    while (ahead.length > most && totals.stoppedAtLine === null) {
      const sent = ahead.shift() as Sent;
      if ((await takeReport(run, sent)) > 0) shown = sent.id;
    }
  };
  for await (const part of parts) {
    addRowFaults(run, part.faults);
    if (isOneByOne && part.faults.length > 0) totals.stoppedAtLine = part.from;
    else if (part.body.length > 0) ahead.push({ lines: part.lines, from: part.from, id: await post(run, part) });
    await settle(isOneByOne ? 0 : SENT_AHEAD - 1);
    if (totals.stoppedAtLine !== null) break;
  }
  await settle(0);
  if (shown !== null && !dryRun) totals.generation = await generationOf(run, shown);
}

async function post(run: IngestRun, part: FilePart): Promise<string> {
  const { client, mode, partial, dryRun, runId } = run;
  // In a dry run, one faulty record must not prevent the check of the other records.
  const query = new URLSearchParams({ mode, partial: String(partial || dryRun), dryRun: String(dryRun) });
  const digest = createHash('sha256').update(`${query}\n`).update(part.body).digest('hex').slice(0, 20);
  const { id } = await client.resource<BatchReport>({
    method: 'POST',
    path: `${BATCHES_PATH}?${query}`,
    headers: { 'content-type': NDJSON_TYPE },
    body: part.body,
    idempotencyKey: `${runId}-${part.index}-${digest}`,
  });
  addReceived(run, id);
  return id;
}

/** Returns the number of records of the part that the service has, stored now or before. */
async function takeReport(run: IngestRun, { lines, from, id }: Sent): Promise<number> {
  const { totals } = run;
  const report = await poll(
    () => readBatch(run, id),
    ({ finishedAt }) => finishedAt !== null,
    REPORT_SECONDS,
  );
  if (report.finishedAt === null) {
    throw new CommandError(
      'unfinished',
      `The batch ${id} has waited for a worker for ${REPORT_SECONDS} s.`,
      `It will be applied. Read its report later: tidemark batches show ${id}`,
    );
  }
  const repeated = addReportFaults(run, report, (line) => lines[line - 1] ?? null);
  const { accepted, unchanged, refused, newMarkets = 0 } = report.counts;
  const repetitions = lines.filter((line) => line === null).length;
  // Most repeated definitions are unchanged. The report does not list single records, but the sum of both counts is exact.
  const known = Math.min(unchanged, repetitions - repeated);
  // In a dry run, the others count again as new or changed markets.
  const again = repetitions - repeated - known;
  totals.newMarkets -= Math.min(again, newMarkets);
  totals.changedMarkets -= again - Math.min(again, newMarkets);
  totals.records += report.records - repetitions;
  totals.accepted += accepted - again;
  totals.unchanged += unchanged - known;
  totals.refused += refused - repeated;
  addCorrections(run, report);
  if (report.state === 'refused') totals.stoppedAtLine = from;
  showProgress(run);
  return report.state === 'refused' ? 0 : accepted + unchanged;
}

function showProgress({ dryRun, input, progress, totals }: IngestRun): void {
  progress.at(dryRun ? 'Examining' : 'Sending', { share: shareOf(input), count: totals.records, unit: 'record' });
}

async function readBatch({ client }: IngestRun, id: string): Promise<BatchReport> {
  return await client.resource({ path: `${BATCHES_PATH}/${id}` });
}

/** Null: not published in time. */
async function generationOf(run: IngestRun, id: string): Promise<number | null> {
  run.progress.at('Waiting for the generation', { share: null });
  const report = await poll(
    () => readBatch(run, id),
    ({ generation }) => generation !== null,
    run.wait,
  );
  return report.generation;
}
