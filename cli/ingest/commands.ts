/** `tidemark ingest` and its options. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { openClient } from '../http/client.ts';
import { CommandError } from '../program/exit-codes.ts';
import { seconds } from '../program/numbers.ts';
import { note } from '../program/output.ts';
import { addFileOptions, checkFileOptions, type FileFlags, fileOptions } from './file-options.ts';
import { addGitOptions, type GitFlags, type GitPast, gitOf } from './git-options.ts';
import type { SourceForm } from './source-records.ts';

const WAIT_SECONDS = 60;

const HELP = `
A file is NDJSON (.ndjson, .jsonl), JSON (.json: an array of records, or { "records": […] }), or CSV or any other JSON
with --mapping, perhaps compressed by gzip or zstd. JSON has at most 16 million characters: write more as NDJSON.
Without --partial, it goes in batches of up to 1,000 records, and ends before the first batch with a refused row.
With --partial, refused rows are set aside; a file of more than ten batches then goes as one upload.
A dry run judges up to 50,000 records as a whole, and a longer file batch by batch.

A run that was interrupted continues with --resume: batches that have arrived are recognised, and cost no quota. To send a
file again without it is always safe, too: records that are stored already are counted as known, and not stored twice.

--confirm-outliers stores values that the outlier rule refuses. It sets outlierConfirmed on each observation that does not set
it itself. Use it only for a file of rows that you have checked.

A row stays published if a later file lacks it. --mode correct --complete compares the file with what is published: for each
market, metric and source label in the file, it lists published observations that the file lacks. --retract-missing withdraws
them, if every row of the file gave a record, and if the file has at least half of these observations: --minimum-share 0 withdraws
them anyway. Try it with --dry-run first.

A withdrawn row stays withdrawn, even if the file contains it again. --complete lists such rows. --reinstate reinstates them: it
sets reinstated on each observation that does not set it itself. It also reinstates values that were retracted as mistakes, so send
only the rows that you want back.

With --git, the earlier versions of a list are ingested from its git history, as by tidemark run: always with --mode correct
--partial. To continue after an interruption, or later, repeat the command: stored records are recognised.

Examples:
  tidemark ingest prices.csv --mapping prices.mapping.jsonc --dry-run
  tidemark ingest rates.json --mapping rates.mapping.jsonc
  tidemark ingest prices.csv.gz --mapping prices.mapping.jsonc --mode correct --partial --report faults.ndjson
  zcat records.ndjson.gz | tidemark ingest -
  tidemark ingest --git https://github.com/BerriAI/litellm --path model_prices_and_context_window.json --recipe litellm`;

interface IngestFlags extends FileFlags, GitFlags {
  readonly format?: SourceForm['form'];
  readonly report?: string;
  readonly resume?: string;
  readonly wait: number;
}

export function addIngestCommands(program: Command): void {
  const command = program
    .command('ingest')
    .description(
      'store files of records; ends with 4 if a row is refused, with 6 if rows are stored and not public yet',
    )
    .argument('[file...]', 'the files; - is standard input');
  addFileOptions(addGitOptions(command))
    .addOption(
      new Option('--format <format>', 'the format of the file (default: from its name)').choices([
        'ndjson',
        'json',
        'csv',
      ]),
    )
    .option('--public-reason <text>', 'with --retract-missing: why, for readers')
    .option('--report <file>', 'write every fault to this new file, a JSON object a line')
    .option('--upload-host <host>', 'the storage that takes large files, if the service itself does not')
    .option('--resume <run>', 'continue an interrupted run', runId)
    .option('--wait <seconds>', 'how long to wait for the generation', seconds, WAIT_SECONDS)
    .addHelpText('after', HELP)
    .action(async (paths: readonly string[], _, command: Command) => {
      const options = command.optsWithGlobals<IngestFlags>();
      const { complete, retractMissing, publicReason, wait, resume } = options;
      const git = gitOf(options);
      if (git !== null) return await sendPast(git, paths, options, command);
      if (paths.length === 0) throw new CommandError('usage', 'Name a file, or a repository with --git.');
      checkFileOptions(paths, options);
      if (publicReason !== undefined && !retractMissing) {
        throw new CommandError(
          'usage',
          '--public-reason needs --retract-missing.',
          'For corrections, write "publicReason" in the observation of the mapping, or in each record of NDJSON.',
        );
      }
      if (complete && paths.length > 1) {
        throw new CommandError('usage', '--complete needs one file.', 'Join the files of a source.');
      }
      const formOf = await formReader(options);
      const sources = paths.map((path) => ({ path, source: formOf(path) }));
      const { ingestFiles } = await import('./ingest-files.ts');
      // A random name. With the digest of the file as the name, sending A, B and again A as corrections would leave the values
      // of B.
      const run = resume ?? randomBytes(6).toString('hex');
      let isResumable = false;
      const onReceived = () => {
        if (!isResumable) note(`Run ${run}. If it is interrupted, repeat the command with --resume ${run}`);
        isResumable = true;
      };
      const { FileContents } = await import('./file-contents.ts');
      const compared = complete ? { complete: new FileContents() } : {};
      const asked = { ...fileOptions(options), ...compared, runId: run, wait, onReceived };
      await ingestFiles(await openClient(options), sources, asked, options);
    });
}

/** Options that apply to files, and not to past versions of a list. */
const OF_FILES = ['mapping', 'format', 'complete', 'retractMissing', 'publicReason', 'reinstate', 'resume'] as const;

async function sendPast(git: GitPast, paths: readonly string[], options: IngestFlags, command: Command): Promise<void> {
  const isAppending = options.mode === 'append' && command.getOptionValueSource('mode') === 'cli';
  if (paths.length > 0 || isAppending || OF_FILES.some((name) => options[name] !== undefined))
    throw new CommandError(
      'usage',
      '--git cannot be combined with files or their options.',
      'See tidemark ingest --help.',
    );
  const { ingestPast } = await import('./ingest-past.ts');
  const asked = { ...fileOptions(options), wait: options.wait, runId: randomBytes(6).toString('hex') };
  await ingestPast(await openClient(options), git, asked, options);
}

function runId(text: string): string {
  if (/^[0-9a-f]{12}$/.test(text)) return text;
  throw new InvalidArgumentError('Write the twelve letters and digits that the interrupted run has printed.');
}

/**
 * @param beside the place where the mapping file is expected, for messages. Null: it is given by an option
 * @throws CommandError for a mapping with faults
 */
export async function formReader(
  { mapping, format }: { readonly mapping?: string | undefined; readonly format?: SourceForm['form'] },
  beside: string | null = null,
): Promise<(path: string) => SourceForm> {
  const parsed = mapping === undefined ? null : (await import('../mapping/mapping-file.ts')).readMappingFile(mapping);
  return (path) => {
    const named = format ?? formByName(path) ?? (parsed === null ? 'ndjson' : 'csv');
    // With a mapping for JSON, a JSON file contains rows, not records.
    const form = named === 'json' && parsed?.json !== undefined ? 'csv' : named;
    if (form !== 'csv') return { form };
    if (parsed !== null) return { form, mapping: parsed };
    if (path !== '-' && !existsSync(path)) throw new CommandError('usage', `There is no file ${path}.`);
    const hint = `Begin one: tidemark mapping init ${path} > ${beside ?? 'new.mapping.jsonc'}`;
    const needs = beside === null ? 'name its mapping with --mapping' : `its mapping ${beside} is missing`;
    throw new CommandError('usage', `${path} is CSV: ${needs}.`, hint);
  };
}

/** Null: the file name does not show the form. */
export function formByName(path: string): SourceForm['form'] | null {
  const [, ending = ''] = /\.([a-z]+)(?:\.(?:gz|zst))?$/i.exec(path) ?? [];
  const forms: Readonly<Record<string, SourceForm['form']>> = {
    ...{ ndjson: 'ndjson', jsonl: 'ndjson', json: 'json', csv: 'csv', tsv: 'csv', txt: 'csv' },
  };
  return forms[ending.toLowerCase()] ?? null;
}
