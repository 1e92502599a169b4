/** Commands that work on a data folder of this machine. `start` serves it; the others need its server stopped. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ALL_SCOPES, type Scope, USER_SCOPES } from '../../contract/operations/scopes.ts';
import { SETTINGS_HELP } from '../../server/settings/settings-help.ts';
import { CommandError } from '../program/exit-codes.ts';
import { print } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';

interface StartOptions extends GlobalOptions {
  readonly host?: string;
  readonly port?: string;
  readonly sample?: boolean | string;
  readonly to?: string;
}

interface TokenFlags extends GlobalOptions {
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly hours: number;
}

export function addLocalCommands(program: Command): void {
  const samples = new Set<string>();
  program
    .command('start')
    .description('serve the data folder until Ctrl-C; the next start continues')
    .option('--host <address>', 'the address to listen on (default 127.0.0.1)')
    .option('--port <n>', 'the port (default 8787); 0 picks a free one')
    .option(
      '--sample [name]',
      'begin with a bundled sample: currencies (the default in a folder that has published nothing) or models',
    )
    .option('--no-sample', 'begin with nothing, for your own data; later starts need no option')
    .on('option:sample', () => samples.add('--sample'))
    .on('option:no-sample', () => samples.add('--no-sample'))
    .addOption(targetOption())
    .addHelpText('after', `${SETTINGS_HELP}\n\nExample:\n  tidemark start --port 0 --no-sample --data ./prices`)
    .action(async (_, command: Command) => {
      if (samples.size > 1) throw new CommandError('usage', '--sample and --no-sample contradict each other.');
      const { host, port, sample, data, to } = command.optsWithGlobals<StartOptions>();
      const { runServer } = await import('../../server/commands/run.ts');
      await runServer(
        settings({
          HOST: host,
          PORT: port,
          TIDEMARK_DATA: data,
          TIDEMARK_TO: to,
          TIDEMARK_SAMPLE: sample === undefined ? undefined : sample === true ? 'yes' : sample || 'no',
        }),
      );
    });

  program
    .command('token')
    .description('print an access token of the embedded issuer, for trying out the write API as a user')
    .requiredOption('--user <name>', 'the user of the token')
    .addOption(
      new Option('--scopes <list>', `separated by commas; known: ${ALL_SCOPES.join(',')}`)
        .argParser(scopes)
        .default(USER_SCOPES, USER_SCOPES.join(',')),
    )
    .option('--hours <n>', 'how long it is valid, 1 to 24', hours, 8)
    .addHelpText('after', '\nExample:\n  tidemark token --user alice --hours 1')
    .action(async (_, command: Command) => {
      const { user, scopes: named, hours: lifetimeHours, data } = command.optsWithGlobals<TokenFlags>();
      const { issueToken } = await import('../../server/commands/token.ts');
      const token = issueToken(settings({ TIDEMARK_DATA: data }), { user, scopes: named, lifetimeHours });
      await print(`${token}\n`);
    });

  /** A command that needs a stopped server. */
  const stopped = (name: string, description: string, example: string) =>
    program
      .command(name)
      .description(`${description}; the server must be stopped`)
      .addHelpText('after', `\nExample:\n  tidemark ${example}\nSee docs/operations.md.`);
  const folderOf = (command: Command) => settings({ TIDEMARK_DATA: command.optsWithGlobals<GlobalOptions>().data });

  stopped('repair', 'set the record of each market to what its observations add up to', 'repair gold-usd')
    .argument('<slug...>', 'the markets')
    .action(async (slugs: readonly string[], _, command: Command) => {
      const { repairByName } = await import('../../server/commands/stopped-server.ts');
      await repairByName(folderOf(command), slugs);
    });

  stopped('verify-audit', 'check the chains and seals of the audit', 'verify-audit --data .tidemark').action(
    async (_, command: Command) => {
      const { checkAudit } = await import('../../server/commands/stopped-server.ts');
      await checkAudit(folderOf(command));
    },
  );

  stopped('gc', 'remove objects that no reader can reach any more', 'gc --dry-run --data .tidemark')
    .option('--dry-run', 'only list them')
    .action(async ({ dryRun = false }: { readonly dryRun?: boolean }, command: Command) => {
      const { removeGarbage } = await import('../../server/commands/stopped-server.ts');
      await removeGarbage(folderOf(command), dryRun);
    });
}

export const targetOption = () =>
  new Option(
    '--to <place>',
    'another folder for the public files and nothing else, or s3://BUCKET/PREFIX, by the AWS_… variables; later runs and starts keep it',
  ).argParser((place) => {
    // An empty text usually comes from a shell variable that is not set.
    if (place.trim() === '') throw new InvalidArgumentError('Name a folder, or leave the option out.');
    return place;
  });

/** The environment, with the given options set in it. */
export function settings(options: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...process.env, ...Object.fromEntries(given) };
}

function scopes(list: string): readonly Scope[] {
  const names = list.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !ALL_SCOPES.includes(name as Scope));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no scope ${JSON.stringify(unknown)}.`);
  return names as Scope[];
}

function hours(text: string): number {
  if (!/^([1-9]|1\d|2[0-4])$/.test(text)) throw new InvalidArgumentError('Write a number from 1 to 24.');
  return Number(text);
}
