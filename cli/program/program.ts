/** The commands, with their options and help. Each command loads its own code when it runs. */
import { readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import { addIngestCommands } from '../ingest/commands.ts';
import { addInitCommand } from '../init/command.ts';
import { addBackupCommands } from '../local/backup-commands.ts';
import { addLocalCommands } from '../local/commands.ts';
import { addDoctorCommand } from '../local/doctor-command.ts';
import { addExportCommands } from '../local/export-commands.ts';
import { addLogCommands, addStateCommands } from '../local/log-commands.ts';
import { addReceiptCommands } from '../log/commands.ts';
import { addMappingCommands } from '../mapping/commands.ts';
import { addMirrorCommand } from '../mirror/command.ts';
import { addReadCommands } from '../reads/commands.ts';
import { addRunCommand } from '../run/command.ts';
import { addSourceCommands } from '../sources/commands.ts';
import { addUndoCommand } from '../undo/command.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { seconds } from './numbers.ts';
import { PARSER_OUTPUT } from './output.ts';

const EXAMPLES = `
Examples:
  tidemark start                                  serve the sample on http://127.0.0.1:8787
  tidemark markets list                           what the server in ./.tidemark shows
  tidemark markets history gold-usd --csv > gold.csv
  tidemark verify https://data.example            check every public promise
  tidemark ingest prices.csv --mapping prices.mapping.jsonc --dry-run
  tidemark publish --all                          publish everything again, and wait

Settings come from options, then from the environment (TIDEMARK_URL, TIDEMARK_WRITE_URL, TIDEMARK_KEY,
TIDEMARK_KEY_FILE, TIDEMARK_PROFILE, TIDEMARK_CONFIG, TIDEMARK_DATA), then from the default profile in
~/.config/tidemark/config.json (mode 600), then from the server that runs in ./.tidemark, or on port 8787.
With --data or TIDEMARK_DATA, only the server of that folder is used.

Exit codes:
${Object.values(EXIT_CODES)
  .map(({ code, meaning }) => `  ${code}  ${meaning}`)
  .join('\n')}`;

/** @param words the arguments; empty: the program with all commands */
export async function createProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command('tidemark')
    .description('Market data as static files: serve it, fill it, look after it.')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput(PARSER_OUTPUT)
    .configureHelp({ commandUsage })
    .showSuggestionAfterError()
    .option('--url <url>', 'base URL of the public reads')
    .option('--write-url <url>', 'base URL of the write API, if it is another one')
    .option('--key-file <file>', 'a file (mode 600) that holds the key')
    .option('--profile <name>', 'a profile of the configuration file')
    .option('--config <file>', 'the configuration file')
    .option('--data <folder>', 'the data folder of a server on this machine')
    .option('--json', 'print JSON, and no progress')
    .option('--quiet', 'show no progress')
    .option('--timeout <seconds>', 'the time limit of one answer, until its last byte', seconds, 30)
    .option(
      '--patience <seconds>',
      'the time for all retries together, also of a server that does not run (default: 120, and 2 for such a server)',
      seconds,
    )
    .option('--allow-clear-text', 'send the key over http to other machines')
    .addHelpText('after', EXAMPLES);
  addLocalCommands(program);
  addRunCommand(program);
  addInitCommand(program);
  addBackupCommands(program);
  addExportCommands(program);
  addLogCommands(program);
  addStateCommands(program);
  addDoctorCommand(program);
  addReadCommands(program);
  addReceiptCommands(program);
  addMirrorCommand(program);
  addMappingCommands(program);
  addIngestCommands(program);
  addUndoCommand(program);
  addSourceCommands(program);
  // Loading the table of operations takes longer than most commands, so it is loaded only if its commands are used.
  const [name] = program.parseOptions([...words]).operands;
  if (!program.commands.some((command) => command.name() === name)) {
    const { addOperationCommands } = await import('../operations/commands.ts');
    addOperationCommands(program);
  }
  return program;
}

/** Shows required options in the usage line. */
function commandUsage(command: Command): string {
  const needed = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => `${flags} `);
  return new Help().commandUsage(command).replace('[options]', `${needed.join('')}[options]`);
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
