/** `tidemark sources`: files of other parties, which the service fetches on a schedule. */
import { type Command, Option } from 'commander';
import { openClient } from '../http/client.ts';
import { withClient, withOptions } from '../program/handlers.ts';
import { itemLimit, seconds } from '../program/numbers.ts';
import type { GlobalOptions } from '../program/profile.ts';

interface WaitFlags extends GlobalOptions {
  /** True: the option was given without a number. */
  readonly wait?: number | true;
}

/** Enough for a large file, whose ingest takes minutes. */
const WAIT_SECONDS = 600;

const waitOption = (description: string) => new Option('--wait [seconds]', description).argParser(seconds);

export function addSourceCommands(program: Command): void {
  const sources = program
    .command('sources')
    .description('files of others that the service fetches on a schedule')
    .helpCommand(false);

  sources
    .command('add')
    .description('check a recipe, and add its source')
    .argument('<recipe>', 'a file (JSON, comments allowed), or the name of a recipe that is shipped')
    .option('--replace', 'the source exists: replace its recipe')
    .addHelpText('after', '\nExamples:\n  tidemark sources add ecb-daily\n  tidemark sources add tea-board.json')
    .action(
      withOptions(async (options: GlobalOptions & { readonly replace?: boolean }, file: string) => {
        const { addSource } = await import('./sources.ts');
        await addSource(() => openClient(options), file, options.replace === true, options.json === true);
      }),
    );

  sources
    .command('list')
    .description('all sources, with their last and next runs')
    .addHelpText('after', '\nExample:\n  tidemark sources list')
    .action(withClient(async (client, { json = false }) => (await import('./sources.ts')).printSources(client, json)));

  const one = (verb: string, description: string) =>
    sources
      .command(verb)
      .description(description)
      .argument('<name>', 'the name of the source')
      .addHelpText('after', `\nExample:\n  tidemark sources ${verb} ecb-daily`);

  one('show', 'one source; with --json, its recipe too').action(
    withClient(async (client, { json = false }, name: string) =>
      (await import('./sources.ts')).showSource(client, name, json),
    ),
  );

  for (const verb of ['pause', 'resume'] as const) {
    one(verb, `${verb} the schedule of a source`).action(
      withClient(async (client, { json = false }, name: string) =>
        (await import('./sources.ts')).setPaused(client, name, verb === 'pause', json),
      ),
    );
  }

  one('remove', 'remove a source; its runs and the archive stay')
    .option('--yes', 'do not ask first')
    .action(
      withClient(async (client, { yes = false }: GlobalOptions & { readonly yes?: boolean }, name: string) =>
        (await import('./sources.ts')).removeSource(client, name, yes),
      ),
    );

  one('run', 'run a source now; with --wait, ends with 1 if it failed and with 4 if a row was refused')
    .addOption(waitOption(`until it has ended, for at most this many seconds (${WAIT_SECONDS})`))
    .option(
      '--unconditional',
      'take the answer in again even if it has not changed, and a list even if it is much shorter',
    )
    .action(
      withClient(async (client, options: WaitFlags & { readonly unconditional?: boolean }, name: string) => {
        const asked = { wait: waitOf(options, 0), unconditional: options.unconditional === true };
        await (await import('./runs.ts')).runSource(client, name, asked, options.json === true);
      }),
    );

  one('runs', 'the runs of a source, newest first')
    .option('--limit <n>', 'at most this many', itemLimit, 20)
    .action(
      withClient(async (client, { limit, json = false }: GlobalOptions & { readonly limit: number }, name: string) =>
        (await import('./runs.ts')).listRuns(client, name, limit, json),
      ),
    );

  one('replay', 'derive the records of a run again from the archive; ends with 1 if they are others')
    .argument('[run]', 'the id of the run; default: the newest one that took records in')
    .addOption(waitOption(`for at most this many seconds (${WAIT_SECONDS})`))
    .action(
      withClient(async (client, options: WaitFlags, name: string, run: string | undefined) => {
        const { replayRun } = await import('./runs.ts');
        await replayRun(client, name, run ?? null, waitOf(options, WAIT_SECONDS), options.json === true);
      }),
    );
}

function waitOf({ wait }: WaitFlags, unless: number): number {
  if (wait === undefined) return unless;
  return wait === true ? WAIT_SECONDS : wait;
}
