/** Commands that read the public interface, and `publish`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AsOf } from '../../clients/typescript/as-of.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import type { Share } from '../../publisher/verify/reading/share.ts';
import { openClient } from '../http/client.ts';
import { logKeyOption } from '../log/commands.ts';
import { CommandError } from '../program/exit-codes.ts';
import { withClient, withOptions } from '../program/handlers.ts';
import { pastMoment, seconds } from '../program/numbers.ts';
import { type GlobalOptions, readProfile } from '../program/profile.ts';
import type { HistoryForm } from './markets.ts';

const WAIT_SECONDS = 300;

interface AsOfFlags extends GlobalOptions {
  readonly asOf?: number;
  readonly byRelease?: boolean;
}

interface HistoryFlags extends AsOfFlags {
  readonly csv?: boolean;
  readonly ndjson?: boolean;
  readonly versions?: boolean;
  readonly in?: string;
}

interface VerifyFlags extends GlobalOptions {
  readonly share?: Share;
  readonly removed?: readonly string[];
  readonly static?: boolean;
  readonly log?: boolean;
  readonly logKey?: readonly string[];
  readonly newLog?: boolean;
}

interface PublishFlags extends GlobalOptions {
  readonly all?: boolean;
  readonly purge?: boolean;
  readonly wait: number;
  readonly idempotencyKey?: string;
}

export function addReadCommands(program: Command): void {
  const markets = program.command('markets').description('the published markets').helpCommand(false);

  markets
    .command('list')
    .description('all markets with their newest price, ordered by slug')
    .addHelpText('after', '\nExample:\n  tidemark markets list --url https://data.example --json')
    .action(withClient(async (client, { json = false }) => (await import('./markets.ts')).listMarkets(client, json)));

  markets
    .command('show')
    .description('one market')
    .argument('<slug>')
    .addOption(asOfOption('the values'))
    .addOption(byReleaseOption())
    .addHelpText(
      'after',
      '\nExamples:\n  tidemark markets show gold-usd\n  tidemark markets show gold-usd --as-of 2026-11-01T00:00:00Z',
    )
    .action(
      withOptions(async (options: AsOfFlags, slug: string) => {
        const { showMarket, showMarketAsOf } = await import('./markets.ts');
        const [asOf, asJson] = [asOfOf(options), options.json === true];
        const client = await openClient(options);
        await (asOf === null ? showMarket(client, slug, asJson) : showMarketAsOf(client, slug, asOf, asJson));
      }),
    );

  markets
    .command('history')
    .description(
      'the observations of a market: every version, newest first; with --csv or --ndjson the standing ones, oldest first',
    )
    .argument('<slug>')
    .addOption(new Option('--csv', 'print the file of the standing observations as CSV').conflicts(['ndjson', 'json']))
    .addOption(new Option('--ndjson', 'the same, one JSON object a line').conflicts('json'))
    .option('--versions', 'every version, newest first, page by page: the default without --csv and --ndjson')
    .option('--in <currency>', 'also each price in another currency, by rates of the service', currencyOf)
    .addOption(asOfOption('only the versions'))
    .addOption(byReleaseOption())
    .addHelpText(
      'after',
      `
With --csv and --ndjson, the published file of the history is read, or those of its years; where the service has none, its
pages. --as-of and --versions read the pages.

With --csv, = + - @ and their full-width forms get an apostrophe where they begin a text, or follow a semicolon in it, so that
no spreadsheet takes it for a formula; numbers stay as they are.

--in derives each price by markets of the kind fx or currency whose unit is a currency: the newest rate of the same day (UTC), at
most 7 days older, or two rates by a third currency; final rates before others. Exact, then rounded half to even to the digits of
the price, at least six. With --as-of, by the rates that were visible then. A value that is not converted stays empty, and the
column "conversion" says why: no-rate, no-rate-of-day, rate-unknown (its newest rate is unknown), value-unknown, not-money,
not-standing (it was replaced or retracted).

Examples:
  tidemark markets history gold-usd --csv > gold.csv
  tidemark markets history gold-usd --csv --in EUR > gold-in-eur.csv`,
    )
    .action(
      withOptions(async (options: HistoryFlags, slug: string) => {
        const [asOf, form] = [asOfOf(options), formOf(options)];
        const client = await openClient(options);
        const isFile = (form === 'csv' || form === 'ndjson') && asOf === null && !options.versions;
        if (options.in !== undefined) {
          const { printConvertedHistory } = await import('./converted.ts');
          await printConvertedHistory(client, { slug, currency: options.in, form, asOf, isFile });
        } else if (isFile) await (await import('./history-file.ts')).printHistoryFile(client, slug, form);
        else await (await import('./markets.ts')).printHistory(client, slug, form, asOf);
      }),
    );

  program
    .command('status')
    .description('the published generation, late sources, lag, marks and queue; ends with 1 if the service fails')
    .addHelpText('after', '\nExample:\n  tidemark status --url https://data.example')
    .action(withClient(async (client, { json = false }) => (await import('./status.ts')).printStatus(client, json)));

  program
    .command('verify')
    .description('check every public promise of a service, without a key; ends with 1 on any finding')
    .argument('[url]', 'its base URL; default: that of the profile')
    .option('--share <index/of>', 'only a share of the markets, e.g. 3/128', shareOf)
    .option(
      '--removed <slug>',
      'a removed market: its URLs must say so, and the list must leave it out; may be repeated',
      (slug, before: readonly string[] = []) => [...before, slug],
    )
    .option('--static', 'judge the files, not how they are sent; the default for a host that knows only files')
    .option('--log', 'check the signed log, too: that it only grew, and that it gives every public value again')
    .addOption(logKeyOption())
    .option('--new-log', 'with --log: its operator has begun a new log on purpose, so forget the one that was seen')
    .addHelpText(
      'after',
      `
With --log, the keys and the newest checkpoint are remembered in logs.json, beside the configuration file.

Examples:
  tidemark verify https://data.example
  tidemark verify https://data.example --log
  tidemark verify --log https://user.github.io/data/

The last one reads plain files on any web server.`,
    )
    .action(async (url: string | undefined, _, command: Command) => {
      const options = command.optsWithGlobals<VerifyFlags>();
      const { readUrl } = await readProfile(url === undefined ? options : { ...options, url });
      const { verifyService } = await import('./verify.ts');
      const { share, removed = [], log = false, logKey, newLog = false } = options;
      if (!log && (logKey || newLog)) {
        throw new CommandError('usage', `${logKey ? '--log-key' : '--new-log'} needs --log.`, 'Add --log.');
      }
      const { knownLogsPath } = await import('../log/known-logs.ts');
      const logCheck = log ? { vkeys: logKey ?? null, memory: knownLogsPath(options), isNew: newLog } : null;
      const asked = { ...(share && { share }), removed };
      await verifyService(readUrl, asked, logCheck, options);
    });

  program
    .command('publish')
    .description('publish markets again, and wait for the generation that shows them')
    .argument('[slug...]', 'the markets')
    .option('--all', 'all markets')
    .option('--purge', 'remove the markets from caches, too')
    .option('--wait <seconds>', 'how long to wait; 0: not at all', seconds, WAIT_SECONDS)
    .option('--idempotency-key <key>', 'repeat an earlier call')
    .addHelpText('after', '\nExamples:\n  tidemark publish gold-usd silver-usd\n  tidemark publish --all --wait 3600')
    .action(
      withOptions(async (options: PublishFlags, slugs: readonly string[]) => {
        const { all = false, purge = false, wait, idempotencyKey } = options;
        if (all === slugs.length > 0) {
          const example = 'tidemark publish gold-usd';
          throw new CommandError('usage', 'Name the markets, or give --all, and not both.', example);
        }
        const { publishMarkets } = await import('./publish.ts');
        const asked = { markets: all ? ('all' as const) : slugs, purge, wait, idempotencyKey };
        await publishMarkets(await openClient(options), asked, options.json === true);
      }),
    );
}

function formOf({ csv, ndjson, json }: HistoryFlags): HistoryForm {
  return csv ? 'csv' : ndjson ? 'ndjson' : json ? 'json' : 'table';
}

function asOfOption(things: string): Option {
  const words = `${things} that were visible at that moment, e.g. 2026-11-01T00:00:00Z`;
  return new Option('--as-of <time>', words).argParser(pastMoment('--as-of'));
}

function byReleaseOption(): Option {
  return new Option('--by-release', 'with --as-of: versions count from their releasedAt where it is known');
}

function asOfOf({ asOf, byRelease = false }: AsOfFlags): AsOf | null {
  if (asOf !== undefined) return { atMs: asOf, clock: byRelease ? 'released' : 'recorded' };
  if (byRelease) throw new CommandError('usage', '--by-release needs --as-of.', 'Add --as-of 2026-11-01T00:00:00Z.');
  return null;
}

function currencyOf(text: string): string {
  if (currencyExponent(text) !== null) return text;
  throw new InvalidArgumentError('It is not a currency of ISO 4217. Write its code, such as EUR.');
}

function shareOf(text: string): Share {
  const [, index, of] = /^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  if (of !== undefined && Number(index) < Number(of)) return { index: Number(index), of: Number(of) };
  throw new InvalidArgumentError('Write it as in 3/128; the first number is smaller than the second.');
}
