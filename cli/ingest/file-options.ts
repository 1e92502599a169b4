/** The options of `tidemark ingest` and `tidemark run` that say what happens with files. */
import { type Command, Option } from 'commander';
import { CommandError } from '../program/exit-codes.ts';
import { share } from '../program/numbers.ts';
import type { GlobalOptions } from '../program/profile.ts';
import type { IngestOptions } from './ingest-run.ts';

export interface FileFlags extends GlobalOptions {
  readonly mapping?: string;
  readonly mode: IngestOptions['mode'];
  readonly partial?: boolean;
  readonly confirmOutliers?: boolean;
  readonly reinstate?: boolean;
  readonly complete?: boolean;
  readonly retractMissing?: boolean;
  readonly minimumShare: number;
  readonly dryRun?: boolean;
  /** Why something is withdrawn (or removed), for readers. */
  readonly publicReason?: string;
}

export function addFileOptions(command: Command): Command {
  return command
    .option('--mapping <file>', 'the mapping of CSV files, or of JSON documents, to records')
    .addOption(
      new Option('--mode <mode>', 'what to do with known observations that differ')
        .choices(['append', 'correct'])
        .default('append'),
    )
    .option('--partial', 'of files, set refused rows aside, and store the others')
    .option('--confirm-outliers', 'accept values of files that the outlier rule would refuse; needs ingest:correct')
    .option('--reinstate', 'with --mode correct: reinstate retracted values that the files contain')
    .option(
      '--complete',
      'the file, or the folder of --files, is complete: report published observations that it lacks',
    )
    .option('--retract-missing', 'with --complete: withdraw the missing rows')
    .option('--minimum-share <share>', 'of what is published, which must be there for --retract-missing', share, 0.5)
    .option('--dry-run', 'report the result of every row of the files, and change nothing');
}

/** @throws CommandError `usage` for options that do not fit each other */
export function checkFileOptions(paths: readonly string[], flags: FileFlags): void {
  const { complete, retractMissing, reinstate, mode } = flags;
  const faults = [
    [paths.filter((path) => path === '-').length > 1, '- can be named only once.'],
    [retractMissing && !complete, '--retract-missing needs --complete.'],
    [(complete || reinstate) && mode !== 'correct', `${complete ? '--complete' : '--reinstate'} needs --mode correct.`],
  ] as const;
  for (const [isFault, text] of faults) if (isFault) throw new CommandError('usage', text);
}

export function fileOptions(flags: FileFlags) {
  const { mode, partial = false, dryRun = false, confirmOutliers, reinstate, publicReason } = flags;
  const { retractMissing = false, minimumShare } = flags;
  const asserted: IngestOptions['asserted'] = [
    ...(confirmOutliers ? (['outlierConfirmed'] as const) : []),
    ...(reinstate ? (['reinstated'] as const) : []),
  ];
  const missing = { retractMissing, minimumShare, ...(publicReason !== undefined && { publicReason }) };
  return { mode, partial, dryRun, asserted, ...missing, showsCorrections: true } as const;
}
