/** `tidemark run`: one round of a service without a server. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { slugSchema } from '../../contract/values/market.ts';
import { formReader } from '../ingest/commands.ts';
import { addFileOptions, checkFileOptions } from '../ingest/file-options.ts';
import { addGitOptions, gitOf } from '../ingest/git-options.ts';
import { settings, targetOption } from '../local/commands.ts';
import { CommandError, EXIT_CODES } from '../program/exit-codes.ts';
import { seconds } from '../program/numbers.ts';
import type { RunFlags } from './send-all.ts';

const codeOf = (...exits: readonly (keyof typeof EXIT_CODES)[]) =>
  exits.map((exit) => `  ${EXIT_CODES[exit].code}  ${EXIT_CODES[exit].meaning}`).join('\n');

const HELP = `
Fetches the sources that are due, ingests the files, publishes, and ends. Without a server, a scheduled job runs it: see
docs/hosting-static.md. Kill it at any moment: the next run continues. A run without news writes no public file,
except once a day: that the sources were fetched. If files are named, --confirm-outliers and --reinstate leave --files alone. With
--dry-run, it fetches and publishes nothing.

The log is signed with TIDEMARK_LOG_KEY, or with the file that TIDEMARK_LOG_KEY_FILE names, or with log-key of the data
folder. A new key for a secret store: tidemark log keys new. Other settings are those of tidemark start.
A bucket is reached as AWS tools reach it: AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_ACCESS_KEY_ID and its secret, or AWS_PROFILE.

Exit codes:
  0  Published.
${codeOf('unchanged', 'sources-failed', 'refused', 'set-aside', 'busy', 'findings')}

Examples:
  tidemark run --source ecb-daily
  tidemark run prices.csv --mapping prices.mapping.jsonc --to ./site --json
  tidemark run --files ./files --mode correct --to ./site --from-log
  tidemark run --files ./files --mode correct --complete --retract-missing --dry-run --to ./site --from-log
  tidemark run --remove oil-typo --public-reason 'Its source never published it.' --to ./site
  tidemark run --git https://github.com/BerriAI/litellm --path model_prices_and_context_window.json --recipe litellm`;

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description('one round without a server: fetch what is due, ingest files, publish, end')
    .argument('[file...]', 'files to ingest, as of tidemark ingest')
    .option(
      '--source <name>',
      'fetch this source now, and no other: of the data folder, a file of a recipe, or a shipped recipe; may be repeated',
      (name: string, names: readonly string[] = []) => [...names, name],
    );
  addFileOptions(addGitOptions(command))
    .option(
      '--unconditional',
      'with --source: take the answer in even if it has not changed, and a list even if it is much shorter',
    )
    .addOption(targetOption())
    .option('--files <folder>', 'ingest its files, too; each CSV file has its mapping beside it: prices.mapping.jsonc')
    .option(
      '--remove <market>',
      'remove this market for good; may be repeated',
      (text: string, slugs: readonly string[] = []) => [...slugs, marketSlug(text)],
    )
    .option('--replaced-by <market>', 'with --remove: the market that readers are sent to')
    .option('--public-reason <text>', 'with --remove or --retract-missing: why, for readers')
    .option(
      '--from-log [source]',
      'if the data folder has no ledger, begin one from the log that the target publishes, or this URL or folder',
    )
    .addOption(
      new Option(
        '--state <place>',
        'in-target: keep an encrypted copy of the ledger beside the public files, with TIDEMARK_STATE_KEY',
      ).choices(['in-target']),
    )
    .option('--unsigned', 'publish without a log; not where one is published')
    .option(
      '--wait <seconds>',
      'how long to wait for another process that has the data folder or the target',
      seconds,
      60,
    )
    .option('--message-file <file>', 'write what was published there, as the message of a commit')
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], _, command: Command) => {
      const options = command.optsWithGlobals<RunFlags>();
      const { files: folder } = options;
      checkFileOptions(paths, options);
      checkUsage(options);
      const git = gitOf(options);
      const formOf = await formReader(options);
      const ofFolder = folder === undefined ? [] : await (await import('./files-folder.ts')).filesOf(folder, options);
      const files = { ofFolder, named: paths.map((path) => ({ path, source: formOf(path) })) };
      const { runOnce } = await import('./run-once.ts');
      await runOnce(options, settings({ TIDEMARK_DATA: options.data, TIDEMARK_TO: options.to }), files, git);
    });
}

/** @throws CommandError `usage` for options that do not fit each other */
function checkUsage(options: RunFlags): void {
  const { remove = [], publicReason, complete, retractMissing, files, dryRun, git } = options;
  const faults = [
    [remove.length > 0 && publicReason === undefined, '--remove needs --public-reason.'],
    [
      publicReason !== undefined && remove.length === 0 && !retractMissing,
      '--public-reason needs --remove or --retract-missing.',
    ],
    [complete && files === undefined, '--complete needs --files: the folder that has all rows.'],
    [dryRun && (remove.length > 0 || git !== undefined), '--dry-run is for files only.'],
  ] as const;
  for (const [isFault, text] of faults) if (isFault) throw new CommandError('usage', text);
}

function marketSlug(text: string): string {
  const { success, data } = slugSchema.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError('Write the slug of a market, such as gold-usd.');
}
