/**
 * `--complete`: finds the published observations that the files should have but do not, and withdraws them on request. A
 * source that withdraws a value often only removes its row.
 */

import type { RetractionRecord } from '../../contract/ingest/ingest-records.ts';
import { FirstValue } from '../../mapping/check/first-value.ts';
import { endWith } from '../program/exit-codes.ts';
import { note } from '../program/output.ts';
import { allVersions, hasHistory } from '../reads/walk.ts';
import { FaultLog, faultLines, type ReportFile } from './fault-log.ts';
import type { FileContents } from './file-contents.ts';
import { type IngestRun, type IngestTotals, newTotals } from './ingest-run.ts';
import { cutIntoParts } from './parts.ts';
import { sendBatches } from './send-batches.ts';
import type { SourceRecord } from './source-records.ts';

/** The number of observations of each kind that are named on the terminal. The report file has all. */
const NAMED = 10;

export interface MissingRows {
  readonly missing: number;
  /**
   * The number of withdrawn observations; in a dry run, of those that would be. Null: no withdrawal was requested, or it was
   * not possible.
   */
  readonly withdrawn: number | null;
  /** The number of observations that were withdrawn earlier and are in the file again. They stay withdrawn. */
  readonly returned: number;
  /** Whether requested withdrawals were not made: the files have too few observations or a fault, or the service refused some. */
  readonly isHeldBack: boolean;
}

/**
 * Compares the files with the published histories of their markets, one after the other. Withdraws missing observations on
 * request; a dry run only counts them. Null: the comparison is not possible.
 *
 * @param all the totals of all files in `contents`. Those of `run`, the last file, get the batches of the withdrawals
 */
export async function withdrawMissing(
  run: IngestRun,
  contents: FileContents,
  report: ReportFile,
  all: readonly IngestTotals[],
): Promise<MissingRows | null> {
  const { input, totals, partial, inBatches, dryRun, runId, minimumShare = 0, retractMissing: retract = false } = run;
  if (all.some(({ stoppedAtLine }) => stoppedAtLine !== null)) {
    note(`${input.name} was not taken in as a whole, so it was not compared with what is published.`);
    return null;
  }
  const withoutRecord = all.reduce((sum, each) => sum + each.withoutRecord, 0);
  // Without `partial`, a file with a refused row would not be ingested completely. So a dry run must not announce withdrawals
  // for it.
  const doubt =
    withoutRecord > 0
      ? `${withoutRecord} rows gave no record, so it is unknown which observations they mean. Correct them, or the mapping.`
      : inBatches && minimumShare > 0 && all.some(({ records }) => records === 0)
        ? `a file of ${input.name} has no rows, and its former rows may only be lost. If the files are right, use --minimum-share 0.`
        : null;
  const isWithdrawing = retract && doubt === null && (partial || all.every(({ refused }) => refused === 0));
  if (retract && doubt !== null) note(`Nothing ${dryRun ? 'would be' : 'was'} withdrawn: ${doubt}`);
  // All missing ones are counted before the first withdrawal.
  const count = newCount();
  for await (const _ of missingOf(run, contents, report, count));
  const { missing, returned } = count;
  const kept = isWithdrawing ? shrunkMarkets(run, count) : null;
  if (kept === null) return { missing, returned, withdrawn: null, isHeldBack: retract };
  const left = [...kept].reduce((sum, market) => sum + (count.markets.get(market)?.missing ?? 0), 0);
  // Without anything to withdraw, the histories are read only once.
  if (dryRun || missing === left) return { missing, returned, withdrawn: missing - left, isHeldBack: kept.size > 0 };
  const faults = new FaultLog(`${input.name} (withdrawals)`, report);
  const withdrawals = {
    ...run,
    partial: true,
    faults,
    totals: newTotals(),
    first: new FirstValue(),
    runId: `${runId}-withdraw`,
  };
  const rows = missingOf(run, contents, null, newCount(), kept);
  await sendBatches(withdrawals, cutIntoParts(rows, false));
  for (const line of faultLines(`${input.name} (withdrawals)`, faults.groups())) note(line);
  const { accepted, refused, generation } = withdrawals.totals;
  totals.generation = generation ?? totals.generation;
  totals.sentAs.push(...withdrawals.totals.sentAs);
  if (refused > 0) endWith('set-aside');
  return { missing, returned, withdrawn: accepted, isHeldBack: kept.size > 0 || refused > 0 };
}

interface Counted {
  published: number;
  missing: number;
}

interface Count extends Counted {
  returned: number;
  readonly markets: Map<string, Counted>;
}

const newCount = (): Count => ({ published: 0, missing: 0, returned: 0, markets: new Map() });

/**
 * The markets of which nothing is withdrawn, because the files have too few of their observations: a download may be cut off.
 * Null: nothing at all is withdrawn, because the file as a whole has too few.
 */
function shrunkMarkets(run: IngestRun, { markets, ...whole }: Count): ReadonlySet<string> | null {
  const { input, inBatches, dryRun, totals, minimumShare = 0 } = run;
  // The file's own new observations are public by now. They do not count, because they would reduce the share of missing ones.
  const added = dryRun || totals.generation === null ? 0 : totals.accepted;
  const isShrunk = ({ published, missing }: Counted, name: string) => {
    const before = Math.max(published - added, missing);
    if (before - missing >= minimumShare * before) return false;
    note(
      `list-shrunk: ${name} has ${before - missing} of the ${before} observations that were published, so nothing ${dryRun ? 'would be' : 'was'} withdrawn. If the file is right, use --minimum-share 0.`,
    );
    endWith('set-aside');
    return true;
  };
  // `tidemark run` publishes later, so the share of each market is known. In a folder, one short file must not hide among others.
  if (!inBatches) return isShrunk(whole, input.name) ? null : new Set();
  return new Set([...markets].flatMap(([slug, each]) => (isShrunk(each, `${input.name}: ${slug}`) ? [slug] : [])));
}

/**
 * A retraction for each missing observation. It reports observations that are in the file again, too.
 *
 * @param report null: they were reported before
 * @param kept markets that are skipped
 */
async function* missingOf(
  { client, input, progress, publicReason, runId }: IngestRun,
  contents: FileContents,
  report: ReportFile | null,
  count: Count,
  kept: ReadonlySet<string> = new Set(),
): AsyncGenerator<SourceRecord> {
  let [done, read] = [0, 0];
  const { markets } = contents;
  for (const market of markets) {
    done += 1;
    if (kept.has(market)) continue;
    const ofMarket = { published: 0, missing: 0 };
    count.markets.set(market, ofMarket);
    // A market that the file defines may not be public yet, so nothing can be missing. A removed market has no history.
    const history = (await hasHistory(client, market)) ? allVersions(client, market) : [];
    for await (const observation of history) {
      progress.at('Comparing', { share: done / markets.length, count: ++read, unit: 'row' });
      const { metric, observedAt, sourceUrl, sourceLabel, supersededBy, retraction } = observation;
      if (supersededBy !== null) continue;
      const identity = { market, metric, observedAt, sourceUrl };
      if (retraction === 'withdrawn' && contents.states(market, observation)) {
        report?.write({ file: input.name, returned: { ...identity, sourceLabel } });
        if (count.returned++ < NAMED && report !== null) {
          note(
            `${input.name}: ${market} ${metric} ${observedAt} from ${sourceUrl} was withdrawn, and the file contains it again`,
          );
        }
      }
      if (retraction !== null || !contents.covers(market, observation)) continue;
      count.published += 1;
      ofMarket.published += 1;
      if (!contents.lacks(market, observation)) continue;
      ofMarket.missing += 1;
      report?.write({ file: input.name, missing: { ...identity, sourceLabel } });
      if (count.missing++ < NAMED && report !== null) {
        note(
          `${input.name}: ${market} ${metric} ${observedAt} from ${sourceUrl} is published, but the file has no row for it`,
        );
      }
      const reason = `The complete file ${input.name.slice(0, 200)} has no row for it (run ${runId}).`;
      const why = publicReason === undefined ? { reason } : { reason, publicReason };
      const record: RetractionRecord = { type: 'retraction', ...identity, kind: 'withdrawn', ...why };
      yield {
        kind: 'record',
        line: count.missing,
        text: JSON.stringify(record),
        defines: null,
        market,
        isRounded: false,
      };
    }
  }
  if (report === null) return;
  noteOthers(count.missing, 'missing');
  noteOthers(count.returned, 'withdrawn rows in the file');
}

function noteOthers(count: number, what: string): void {
  if (count > NAMED) note(`  and ${count - NAMED} more ${what}; --report FILE names all of them`);
}
