/** `tidemark undo` and its options. */
import { type Command, Option } from 'commander';
import { openClient } from '../http/client.ts';
import { CommandError } from '../program/exit-codes.ts';
import { pastMoment, seconds } from '../program/numbers.ts';
import type { GlobalOptions } from '../program/profile.ts';
import type { UndoOptions } from './undo.ts';

const WAIT_SECONDS = 60;

const HELP = `
Puts values back that a batch, an upload or a run of a source has changed, or all that one source gave within a time. Added
values are retracted as mistakes; replaced values are corrected back; retracted values stand again. Histories and the log keep
everything. Observations that were changed again since then are named, and stay. Definitions of markets stay.

Without --apply it is a dry run: the service examines each record, and nothing changes. Repeat an interrupted command: what
is undone already is left alone. Needs the scope ingest:correct.

The ids are in the output of \`ingest\`. Later, \`audit search --target market/SLUG\` names the batches that changed a market;
or give --source and --since.

Values are selected by the time at which they were recorded. If that gives more values than a batch has stored, because others
wrote into the same markets at the same time, the command is refused: name the other batches too, or select by --source,
--since and --until.

Examples:
  tidemark undo bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A
  tidemark undo run_01JD8N5W5XQ6M4T0VZ8R2K7C3A --apply
  tidemark undo --source "ECB reference rates" --since 2026-11-20T14:00:00Z --until 2026-11-20T15:00:00Z
  tidemark undo --source "ECB reference rates" --since 2026-11-20T14:00:00Z --records back.ndjson
  tidemark run back.ndjson --mode correct --to ./site`;

interface UndoFlags extends GlobalOptions, UndoOptions {
  readonly source?: string;
  readonly since?: number;
  readonly until?: number;
}

export function addUndoCommand(program: Command): void {
  program
    .command('undo')
    .description('put values back that a batch, an upload or a run has changed; a dry run without --apply')
    .argument('[id...]', 'batches (bat_…), uploads (upl_…) or runs of a source (run_…)')
    .option('--source <label>', 'only values with this sourceLabel')
    .option('--since <time>', 'instead of an id: values that were recorded from this time on', pastMoment('--since'))
    .option('--until <time>', 'with --since: up to this time; default: now', pastMoment('--until'))
    .option('--records <file>', 'write the records to this new file, and send nothing')
    .addOption(new Option('--apply', 'send the records: the earlier values stand again').conflicts('records'))
    .option('--public-reason <text>', 'why, for readers: it becomes public with each value that is put back')
    .option('--report <file>', 'write every fault to this new file, a JSON object a line')
    .option('--wait <seconds>', 'how long to wait for the generation', seconds, WAIT_SECONDS)
    .addHelpText('after', HELP)
    .action(async (ids: readonly string[], _, command: Command) => {
      const options = command.optsWithGlobals<UndoFlags>();
      const { source = null, since, until } = options;
      if ((ids.length === 0) === (since === undefined)) {
        throw new CommandError(
          'usage',
          'Name batches, uploads or runs by their ids, or name a time with --since; not both.',
          'See tidemark undo --help.',
        );
      }
      if (since !== undefined && source === null) {
        throw new CommandError('usage', '--since needs --source.', 'Name the sourceLabel of the wrong values.');
      }
      if (until !== undefined && (since === undefined || until < since)) {
        throw new CommandError('usage', '--until needs an earlier --since.', 'See tidemark undo --help.');
      }
      const { undo } = await import('./undo.ts');
      const wrong = since === undefined ? ids : { sinceMs: since, untilMs: until ?? Date.now() };
      await undo(await openClient(options), wrong, source, options);
    });
}
