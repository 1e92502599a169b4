/**
 * `--complete`: finds the published observations that a file should have and does not, and withdraws them if asked. A
 * source that takes a value back often says nothing: the row is no longer in its file.
 */
import type { RetractionRecord } from '../../contract/ingest-records.ts';
import type { PublicObservation } from '../../contract/metric.ts';
import { historyUrl } from '../../contract/routes.ts';
import { endWith } from '../exit-codes.ts';
import { note } from '../output.ts';
import { walkCollection } from '../reads/walk.ts';
import { FaultLog, faultLines, type ReportFile } from './fault-log.ts';
import type { FileContents } from './file-contents.ts';
import { type IngestRun, newTotals } from './ingest-run.ts';
import { cutIntoParts } from './parts.ts';
import { sendBatches } from './send-batches.ts';
import type { SourceRecord } from './source-records.ts';

/** The others are in the report. */
const MISSING_NAMED = 10;

export interface MissingRows {
  readonly missing: number;
  /** Null: nothing was to be withdrawn. */
  readonly withdrawn: number | null;
}

/**
 * Compares the file with the published histories of its markets, one after the other. Null: it cannot be compared.
 *
 * @param retract whether to withdraw them; a dry run only counts
 */
export async function settleMissing(
  run: IngestRun,
  contents: FileContents,
  report: ReportFile,
  retract: boolean,
): Promise<MissingRows | null> {
  const { input, totals, dryRun, runId } = run;
  if (totals.stoppedAtLine !== null) {
    note(`${input.name} was not taken in as a whole, so it was not compared with what is published.`);
    return null;
  }
  contents.end();
  const count = { missing: 0 };
  const rows = missingOf(run, contents, report, count);
  const isWithdrawing = retract && !dryRun && totals.withoutRecord === 0;
  if (retract && totals.withoutRecord > 0) {
    note(
      `Nothing was withdrawn: ${totals.withoutRecord} rows gave no record, so it is not known which observations they mean. Mend them, or the mapping.`,
    );
  }
  if (!isWithdrawing) {
    for await (const _ of rows);
    return { missing: count.missing, withdrawn: null };
  }
  const faults = new FaultLog(`${input.name} (withdrawals)`, report);
  const withdrawals = { ...run, partial: true, faults, totals: newTotals(), runId: `${runId}-withdraw` };
  await sendBatches(withdrawals, cutIntoParts(rows, false));
  for (const line of faultLines(`${input.name} (withdrawals)`, faults.groups())) note(line);
  const { accepted, refused, generation } = withdrawals.totals;
  totals.generation = generation ?? totals.generation;
  if (refused > 0) endWith('set-aside');
  return { missing: count.missing, withdrawn: accepted };
}

/** A retraction for each missing observation. */
async function* missingOf(
  { client, input, progress, runId }: IngestRun,
  contents: FileContents,
  report: ReportFile,
  count: { missing: number },
): AsyncGenerator<SourceRecord> {
  let [done, read] = [0, 0];
  for (const market of contents.markets) {
    const path = historyUrl(encodeURIComponent(market));
    done += 1;
    // A market that the file has defined may not be public yet, and has nothing to withdraw then. A removed one has no history.
    const isPublic = (await client.read(path, [404, 410])).status === 200;
    const history = isPublic ? walkCollection<PublicObservation>(client, path, ({ id }) => id) : [];
    for await (const observation of history) {
      progress.at('Comparing', { share: done / contents.markets.length, count: ++read, unit: 'row' });
      const { metric, observedAt, sourceUrl, sourceLabel, supersededBy, retraction } = observation;
      if (supersededBy !== null || retraction !== null || !contents.lacks(market, observation)) continue;
      const identity = { market, metric, observedAt, sourceUrl };
      report.write({ file: input.name, missing: { ...identity, sourceLabel } });
      if (count.missing++ < MISSING_NAMED) {
        note(`${input.name}: no row for ${market} ${metric} ${observedAt}, which is published, of ${sourceUrl}`);
      }
      const reason = `The complete file ${input.name.slice(0, 200)} has no row for it (run ${runId}).`;
      const record: RetractionRecord = { type: 'retraction', ...identity, kind: 'withdrawn', reason };
      yield {
        kind: 'record',
        line: count.missing,
        text: JSON.stringify(record),
        defines: null,
        market,
        isRounded: false,
        isTimeCut: false,
      };
    }
  }
  if (count.missing > MISSING_NAMED) {
    note(`  and ${count.missing - MISSING_NAMED} more; --report FILE names all of them`);
  }
}
