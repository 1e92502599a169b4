/** `tidemark ingest`: files into the service, one after the other. */
import type { IngestMode } from '../../contract/ingest-records.ts';
import { endWith } from '../exit-codes.ts';
import type { Client } from '../http/client.ts';
import { note, printFields, printJson } from '../output.ts';
import { type FaultKind, FaultLog, ReportFile } from './fault-log.ts';
import { type IngestRun, type IngestTotals, newTotals } from './ingest-run.ts';
import { openInput } from './open-input.ts';
import { cutIntoParts, type FilePart } from './parts.ts';
import { openIngestProgress } from './progress.ts';
import { sendBatches } from './send-batches.ts';
import { sendUpload } from './send-upload.ts';
import { collecting } from './small-memory.ts';
import { readSource, type SourceForm } from './source-records.ts';

export interface IngestOptions {
  readonly formOf: (path: string) => SourceForm;
  readonly mode: IngestMode;
  readonly partial: boolean;
  readonly dryRun: boolean;
  readonly confirmOutliers: boolean;
  readonly runId: string;
  readonly wait: number;
  readonly report: string | undefined;
  readonly json: boolean;
}

/** A file with more parts goes as an upload, if refused records may be set aside: one request instead of hundreds. */
const BATCHES_MOST = 10;

interface FileSummary extends IngestTotals {
  readonly file: string;
  readonly dryRun: boolean;
  readonly faults: readonly FaultKind[];
}

/** Ends with `set-aside` if any row was refused. A later file is not begun after one that was refused. */
export async function ingestFiles(client: Client, paths: readonly string[], options: IngestOptions): Promise<void> {
  const { formOf, report: reportPath, runId, json, ...asked } = options;
  const sources = paths.map((path) => ({ path, source: formOf(path) }));
  const report = new ReportFile(reportPath);
  const progress = openIngestProgress(process.stderr);
  const summaries: FileSummary[] = [];
  try {
    for (const [index, { path, source }] of sources.entries()) {
      const input = await openInput(path);
      const faults = new FaultLog(input.name, report);
      const totals = newTotals();
      const run = { ...asked, client, input, source, faults, progress, totals, runId: `${runId}-${index}` };
      try {
        await ingestFile(run);
      } finally {
        progress.clear();
        for (const line of faults.lines()) note(line);
      }
      const summary = { file: input.name, dryRun: run.dryRun, ...totals, faults: faults.kinds() };
      report.write({ summary: { ...summary, faults: undefined } });
      summaries.push(summary);
      if (!json) await printSummary(summary);
      if (totals.refused > 0) endWith('set-aside');
      if (totals.stoppedAtLine !== null) break;
    }
  } finally {
    report.close();
  }
  if (json) await printJson(summaries);
}

async function ingestFile(run: IngestRun): Promise<void> {
  const { input, source, partial, dryRun, confirmOutliers } = run;
  const parts = collecting(cutIntoParts(readSource(input.bytes, source, confirmOutliers), dryRun));
  if (!partial || dryRun) return await sendBatches(run, parts);
  const first: FilePart[] = [];
  while (first.length <= BATCHES_MOST) {
    const { value, done } = await parts.next();
    if (done) return await sendBatches(run, first);
    first.push(value);
  }
  await sendUpload(run, chained(first, parts));
}

async function* chained(first: FilePart[], rest: AsyncIterable<FilePart>): AsyncGenerator<FilePart> {
  // Taken out, so that they do not stay in memory.
  for (let part = first.shift(); part !== undefined; part = first.shift()) yield part;
  yield* rest;
}

async function printSummary(summary: FileSummary): Promise<void> {
  const { file, dryRun, records, accepted, unchanged, refused, generation, stoppedAtLine } = summary;
  await printFields([
    ['file', file],
    ['records', records],
    [dryRun ? 'would be stored' : 'stored', accepted],
    ['known already', unchanged],
    ['refused', refused],
    ...(dryRun ? [] : [['generation', generation ?? (accepted > 0 ? 'not yet' : '')] as const]),
  ]);
  if (stoppedAtLine === null) return;
  note(
    `${file}: nothing from line ${stoppedAtLine} on was stored, because a part with a refused row is refused as a ` +
      'whole. Correct these rows, then run the command again. Records that are stored already are counted as known, ' +
      'and not stored twice. Or set refused rows aside with --partial. See all faults first with --dry-run.',
  );
}
