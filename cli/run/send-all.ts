/** Sends the files of a run, and compares those of `--files` with what is published. */
import { randomBytes } from 'node:crypto';
import { SOURCES_URL } from '../../contract/files/routes.ts';
import type { Client } from '../http/client.ts';
import { isAnswered } from '../http/refusals.ts';
import { MarketNames } from '../ingest/contradictions.ts';
import { FileContents } from '../ingest/file-contents.ts';
import { type FileFlags, fileOptions } from '../ingest/file-options.ts';
import type { GitFlags } from '../ingest/git-options.ts';
import { type FileSummary, type NamedFile, sendFiles } from '../ingest/ingest-files.ts';
import { note } from '../program/output.ts';
import { allMarkets } from '../reads/walk.ts';

/** The options of `tidemark run`, as the parser gives them. */
export interface RunFlags extends FileFlags, GitFlags {
  /** Names of sources, or places of recipes. Absent: the sources that are due. */
  readonly source?: readonly string[];
  readonly unconditional?: boolean;
  readonly files?: string;
  /** Markets to remove permanently, before the files are ingested. The reason becomes public. */
  readonly remove?: readonly string[];
  readonly replacedBy?: string;
  readonly unsigned?: boolean;
  readonly fromLog?: string | true;
  readonly state?: 'in-target';
  readonly wait: number;
  readonly messageFile?: string;
  readonly to?: string;
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
  options: RunFlags,
): Promise<readonly FileSummary[]> {
  const runId = randomBytes(6).toString('hex');
  const how = { ...fileOptions(options), inBatches: true, wait: 0, names: new MarketNames() } as const;
  const sent = await sendFiles(client, named, { ...how, runId: `${runId}-named` }, options);
  const { files: folder } = options;
  const complete = options.complete ? new FileContents() : null;
  const compared = complete && folder !== undefined ? { complete, completeName: folder } : {};
  const asserted = named.length === 0 ? how.asserted : [];
  const sentFolder = await sendFiles(client, ofFolder, { ...how, asserted, runId, ...compared }, options);
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
