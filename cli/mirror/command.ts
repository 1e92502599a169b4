/** `tidemark mirror`: a verified copy of all public files of a service, which is kept up to date and can be served. */
import { type Command, Option } from 'commander';
import { counted } from '../../server/terminal/words.ts';
import { logKeyOption } from '../log/commands.ts';
import { CommandError, type Exit, endWith } from '../program/exit-codes.ts';
import { byteCount, portNumber, seconds } from '../program/numbers.ts';
import { printFields, printJson } from '../program/output.ts';
import { type GlobalOptions, isLoopbackName, parseUrl } from '../program/profile.ts';

interface MirrorFlags extends GlobalOptions {
  readonly serve?: boolean;
  readonly host: string;
  readonly port: number;
  readonly every: number;
  readonly once?: boolean;
  readonly maxBytes: number;
  readonly logKey?: readonly string[];
  readonly allowHttp?: boolean;
}

const HELP = `
The folder holds the copy alone. Kill the command at any moment and start it again: it goes on. Without --once it follows
until Ctrl-C. A body that breaks a promise is not taken over: the copy stays as it was, and the finding is printed.
Without --log-key, the mirror trusts the key that the service shows first.
GET /api/v1/mirror of a mirror says what it copies, and how old the copy is.

Examples:
  tidemark mirror https://data.example ./mirror --serve --port 8788
  tidemark mirror https://data.example ./mirror --once`;

const EXITS: Readonly<Record<string, Exit>> = {
  behind: 'unfinished',
  faulty: 'findings',
  unreachable: 'unreachable',
  forked: 'forked',
};

export function addMirrorCommand(program: Command): void {
  program
    .command('mirror')
    .description('keep a verified copy of all public files of a service, and serve it')
    .argument('<url>', 'the base URL of the service, or of its files on a static host')
    .argument('<folder>', 'the folder of the copy')
    .option('--serve', 'serve the copy, too')
    .addOption(new Option('--host <address>', 'the address to listen on').default('127.0.0.1'))
    .option('--port <n>', 'the port; 0 picks a free one', portNumber, 8788)
    .option('--every <seconds>', 'the pause between two rounds', seconds, 15)
    .option('--once', 'end after one round; after two if something was newer than the log')
    .addOption(
      new Option('--max-bytes <n>', 'copy at most this much, e.g. 500m or 20g')
        .argParser(byteCount)
        .default(20e9, '20g'),
    )
    .addOption(logKeyOption())
    .option('--allow-http', 'follow a service over http on another machine, which anybody on the way can change')
    .addHelpText('after', HELP)
    .action(async (text: string, folder: string, _, command: Command) => {
      const options = command.optsWithGlobals<MirrorFlags>();
      const { host, port, every, maxBytes, logKey: logKeys = [] } = options;
      const { runMirror } = await import('../../server/commands/mirror.ts');
      const { end, document } = await runMirror({
        url: serviceUrl(text, options),
        folder,
        serve: options.serve ? { host, port } : null,
        everySeconds: every,
        isOnce: options.once === true,
        maxBytes,
        // A mirror has a longer default, because the largest files of a log may come over slow lines.
        timeoutSeconds: command.getOptionValueSourceWithGlobals('timeout') === 'default' ? null : options.timeout,
        logKeys,
        environment: process.env,
      });
      const exit = end === 'stopped' && options.once ? 'unfinished' : EXITS[end];
      if (exit !== undefined) endWith(exit);
      if (!options.once) return;
      if (options.json) return await printJson(document);
      const { log, ...fields } = document;
      await printFields([
        ...Object.entries(fields),
        ['log', log && `${log.origin}, ${counted(log.size, 'entry', 'entries')}`],
      ]);
    });
}

/** @throws CommandError for an http URL, whose answers anybody on the path could change */
function serviceUrl(text: string, { allowHttp }: MirrorFlags): URL {
  const url = parseUrl(text);
  if (url.protocol === 'https:' || isLoopbackName(url.hostname) || allowHttp)
    return new URL(url.pathname.replace(/\/*$/, '/'), url);
  throw new CommandError(
    'usage',
    `Anybody on the way to ${url.origin} could change its answers.`,
    'Use its https URL. In a network that you trust: --allow-http.',
  );
}
