/** Sends the files of a run, and compares those of `--files` with what is published. */
import { randomBytes } from 'node:crypto';
import { SOURCES_URL } from '../../contract/files/routes.ts';
import type { Client } from '../http/client.ts';
import { isAnswered } from '../http/refusals.ts';
import { FileContents } from '../ingest/file-contents.ts';
import { type FileSummary, type NamedFile, sendFiles } from '../ingest/ingest-files.ts';
import type { Asserted } from '../ingest/source-records.ts';
import { note } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { allMarkets } from '../reads/walk.ts';

/** The options of a run that files depend on. */
export interface FileFlags extends GlobalOptions {
  /** Names of sources, or places of recipes. Absent: the sources that are due. */
  readonly source?: readonly string[];
  readonly mapping?: string;
  readonly files?: string;
  readonly mode: 'append' | 'correct';
  readonly partial?: boolean;
  readonly confirmOutliers?: boolean;
  readonly reinstate?: boolean;
  readonly complete?: boolean;
  readonly retractMissing?: boolean;
  readonly minimumShare: number;
  readonly dryRun?: boolean;
  /** Why something is removed or withdrawn, for readers. */
  readonly publicReason?: string;
}

export interface RunFiles {
  /** The files of `--files`. */
  readonly ofFolder: readonly NamedFile[];
  /** Files that are named one by one. They are not compared. */
  readonly named: readonly NamedFile[];
}

/** Named files come first: they may reinstate or confirm single rows of the folder, whose files then are the last word. */
export async function sendAll(
  client: Client,
  { ofFolder, named }: RunFiles,
  options: FileFlags,
): Promise<readonly FileSummary[]> {
  const { mode, partial = false, dryRun = false, confirmOutliers, reinstate, files: folder } = options;
  const { retractMissing = false, minimumShare, publicReason } = options;
  const runId = randomBytes(6).toString('hex');
  const asserted: Asserted = [
    ...(confirmOutliers ? (['outlierConfirmed'] as const) : []),
    ...(reinstate ? (['reinstated'] as const) : []),
  ];
  const how = { mode, partial, inBatches: true, dryRun, wait: 0, showsCorrections: true } as const;
  const sent = await sendFiles(client, named, { ...how, asserted, runId: `${runId}-named` }, options);
  const complete = options.complete ? new FileContents() : null;
  const sentFolder = await sendFiles(
    client,
    ofFolder,
    {
      ...{ ...how, asserted: named.length === 0 ? asserted : [], runId },
      ...(complete && folder !== undefined && { complete, completeName: folder }),
      ...{ retractMissing, minimumShare, ...(publicReason !== undefined && { publicReason }) },
    },
    options,
  );
  const isWhole = sentFolder.every(({ stoppedAtLine }) => stoppedAtLine === null);
  // A dry run stores no recipe, so the ledger may not know the sources.
  if (complete !== null && isWhole && options.source === undefined) await nameOthers(client, complete, `${folder}`);
  return [...sent, ...sentFolder];
}

/** The number of markets that are named. */
const NAMED = 10;

const ENDED =
  'If its source has ended, send the market once with "status": "retired": its values stay. --remove SLUG is final, and for ' +
  'markets that should never have been there.';

/**
 * Names published, active markets of which the folder has no row, as after the deletion of a file: nothing shows that they were
 * ever in it. So they stay. With sources, a market may come from them, and nothing is named.
 */
async function nameOthers(client: Client, contents: FileContents, folder: string): Promise<void> {
  if ((await client.resource<{ data: readonly unknown[] }>({ path: SOURCES_URL })).data.length > 0) return;
  const ofFolder = new Set(contents.markets);
  const others: string[] = [];
  try {
    for await (const { slug, status } of allMarkets(client)) {
      if (!ofFolder.has(slug) && status !== 'retired') others.push(slug);
    }
  } catch (error) {
    // Nothing is published yet.
    if (!isAnswered(error, 404)) throw error;
  }
  for (const slug of others.slice(0, NAMED)) {
    note(`${slug} is published, and ${folder} has no row of it: it stays.`);
  }
  if (others.length > NAMED) note(`  and ${others.length - NAMED} more markets`);
  if (others.length > 0) note(ENDED);
}
