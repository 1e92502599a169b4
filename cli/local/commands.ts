/** Commands that work on a data folder of this machine. `start` serves it; the others need its server stopped. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ALL_SCOPES, type Scope, USER_SCOPES } from '../../contract/operations/scopes.ts';
import { CommandError } from '../program/exit-codes.ts';
import { print } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';

const START_SETTINGS = `
Settings in the environment:
  HOST, PORT, TIDEMARK_DATA, TIDEMARK_TO  the same as --host, --port, --data, --to
  AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_PROFILE, …  of a bucket (--to s3://BUCKET/PREFIX), as AWS tools take them
  TIDEMARK_SAMPLE=no            the same as --no-sample
  TIDEMARK_WAITLIST_EMAIL=MAIL  the public address for requests for API keys
  TIDEMARK_OPERATOR_NAME=NAME   who runs this service, on every page; also TIDEMARK_OPERATOR_CONTACT=MAIL|URL
  TIDEMARK_DATA_LICENCE=NAME    the licence of the data, on every page: a name such as CC-BY-4.0, or a URL
  TIDEMARK_UPLOADS_KEPT_DAYS=N  days to keep uploaded files after their end (default: for good)
  TIDEMARK_METRICS_PORT=N       serve /metrics on this port of 127.0.0.1, or of TIDEMARK_METRICS_HOST
  TIDEMARK_PROJECTIONS=LIST     files that are published besides the bodies: all, none, or some of log,
                                history-files, latest, recent, market-pages, feeds, exports, compat (the default),
                                market-feeds, badges, embeds
  TIDEMARK_READ_BASE_URL=URL    where readers find the service, for files that name it
  TIDEMARK_VERIFY_HOURS=N       how often the server verifies what it serves (default 24; 0: never)
  TIDEMARK_LOG_ORIGIN=NAME      the name of the signed log, for the first start, such as
                                data.example.com/prices (default: a random one)
  TIDEMARK_LOG_KEY=KEY          the private key of the log, in place of log-key of the data folder; or
                                TIDEMARK_LOG_KEY_FILE, a file that holds it
  TIDEMARK_LOG_NEXT_KEY=KEY     the key with which another server will go on with the log
  TIDEMARK_WITNESSES=LIST       witnesses that cosign the log: pairs of a key and a URL
  TIDEMARK_SOURCE_HOSTS=LIST    internal hosts that sources may be at, with scheme and port, such as
                                http://prices:8080
  TIDEMARK_SECRET_NAME=HOST VALUE  a secret that recipes name as \${NAME}, and the one host it may go to; or
                                TIDEMARK_SECRET_NAME_FILE, a file that holds both
  TIDEMARK_LOG=json|text|quiet  log lines for programs, for people (the default), or faults only
  TIDEMARK_PROXIES=LIST         proxies in front, as addresses or networks: they say who sends a
                                request (X-Forwarded-For)
  TIDEMARK_LOCAL_ISSUER=everywhere  allow tokens of \`tidemark token\` from other machines
  TIDEMARK_ISSUER=URL           an OIDC issuer for users; with TIDEMARK_AUDIENCE, and perhaps
                                TIDEMARK_JWKS_URI and TIDEMARK_SCOPE_PREFIX

Example:
  tidemark start --port 0 --no-sample --data ./prices`;

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
    .addHelpText('after', START_SETTINGS)
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
    .addOption(new Option('--hours <n>', 'how long it is valid, 1 to 24').argParser(hours).default(8))
    .addHelpText('after', '\nExample:\n  tidemark token --user alice --hours 1')
    .action(async (_, command: Command) => {
      const { user, scopes: named, hours: lifetimeHours, data } = command.optsWithGlobals<TokenFlags>();
      const { issueToken } = await import('../../server/commands/token.ts');
      const token = issueToken(settings({ TIDEMARK_DATA: data }), { user, scopes: named, lifetimeHours });
      await print(`${token}\n`);
    });

  /** A command that needs the server stopped. */
  const stopped = (name: string, description: string, example: string) =>
    program
      .command(name)
      .description(`${description}; the server must be stopped`)
      .addHelpText('after', `\nExample:\n  tidemark ${example}\nSee docs/operations.md.`);
  const folderOf = (command: Command) => settings({ TIDEMARK_DATA: command.optsWithGlobals<GlobalOptions>().data });

  stopped('repair', 'set the record of each market to what its observations add up to', 'repair gold-usd')
    .argument('<slug...>', 'the markets')
    .action(async (slugs: readonly string[], _, command: Command) => {
      const { repairByName } = await import('../../server/commands/repair.ts');
      await repairByName(folderOf(command), slugs);
    });

  stopped('verify-audit', 'check the chains and seals of the audit', 'verify-audit --data .tidemark').action(
    async (_, command: Command) => {
      const { checkAudit } = await import('../../server/commands/verify-audit.ts');
      await checkAudit(folderOf(command));
    },
  );

  stopped('gc', 'remove objects that no reader can reach any more', 'gc --dry-run --data .tidemark')
    .option('--dry-run', 'only list them')
    .action(async ({ dryRun = false }: { readonly dryRun?: boolean }, command: Command) => {
      const { removeGarbage } = await import('../../server/commands/gc.ts');
      await removeGarbage(folderOf(command), dryRun);
    });
}

export const targetOption = () =>
  new Option(
    '--to <place>',
    'another folder for the public files and nothing else, or s3://BUCKET/PREFIX, by the AWS_… variables; later runs and starts keep it',
  ).argParser((place) => {
    // As of a variable of a shell that is not set.
    if (place.trim() === '') throw new InvalidArgumentError('Name a folder, or leave the option out.');
    return place;
  });

/** The environment, with the options that were given. */
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
