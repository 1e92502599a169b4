/** `tidemark backup` and `tidemark restore`, on a data folder of this machine. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';
import { counted } from '../../server/terminal/words.ts';
import { knownLogsPath, readKnownLogs } from '../log/known-logs.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note, printFields, printJson, progressOf } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { settings } from './commands.ts';

interface BackupFlags extends GlobalOptions {
  readonly keep: number;
  readonly verify?: boolean;
}

interface RestoreFlags extends GlobalOptions {
  readonly fromLog?: string;
  readonly forgetNames?: true;
  readonly from?: string;
  readonly replace?: boolean;
  readonly keepKeys?: true;
  readonly revokeKeys?: true;
}

const RESTORE_HELP = `
The server must be stopped. Every file of the backup is checked before the data folder is changed. Published objects
stay, so readers see no gap: the next start publishes every market again, in place.

API keys that were revoked or rotated after the backup stay so, and accounts that were erased are erased again, if the
ledger that is moved aside can be read and is later than the backup. Otherwise the command lists the keys that would
work again, changes nothing, and asks for --keep-keys or --revoke-keys.

Examples:
  tidemark restore /mnt/backups/tidemark --replace
  tidemark restore /mnt/backups/tidemark --data ./new-folder --keep-keys --from 2026-11-22T03-00-00.000Z
  tidemark restore --from-log https://mirror.example --data ./new-folder

Without any backup, --from-log begins a new ledger from the signed log that this service has published: here, or in any
copy of it. The file log-key must be in the data folder. docs/log.md, "A ledger from the log", says what is lost.`;

const BACKUP_HELP = `
The folder gets one sub-folder for each backup, and the uploaded files that all of them share. It is as secret as
the data folder: it holds the keys. An interrupted backup leaves the earlier ones as they are.

Examples:
  tidemark backup /mnt/backups/tidemark
  tidemark backup /mnt/backups/tidemark --keep 30 --verify --json`;

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('copy the ledger, the uploads and the keys into a folder; the server may run meanwhile')
    .argument('<folder>', 'the folder of backups, best on another disk')
    .option('--keep <n>', 'backups to keep, with this one', count, 7)
    .option('--verify', 'also read all files again that earlier backups have copied')
    .addHelpText('after', BACKUP_HELP)
    .action(async (dir: string, _, command: Command) => {
      const options = command.optsWithGlobals<BackupFlags>();
      const { keep, verify = false, data, json } = options;
      const { backUp } = await import('../../server/commands/backup.ts');
      const line = progressOf(options);
      const report = await backUp(settings({ TIDEMARK_DATA: data }), {
        dir,
        keep,
        verify,
        progress: shownOn(line),
      }).finally(line.clear);
      if (json) return await printJson(report);
      const { backup, generation, ledgerBytes, sharedFiles, copiedFiles, kept } = report;
      await printFields([
        ['backup', backup],
        ['generation', generation],
        ['ledger', `${(ledgerBytes / 1_000_000).toFixed(1)} MB`],
        ['files', `${counted(sharedFiles, 'upload or archive', 'uploads and archives')}, new: ${copiedFiles}`],
        ['kept', counted(kept.length, 'backup')],
      ]);
    });

  program
    .command('restore')
    .description('put a backup into the data folder; the server must be stopped')
    .argument('[folder]', 'the folder of backups')
    .option('--from-log <where>', 'no backup: begin from the published log, at a base URL or in a folder')
    .option('--forget-names', 'with --from-log: go on without names of representatives that the copy does not have')
    .option('--from <name>', 'one of its backups (default: the newest)')
    .option('--replace', 'move the ledger that is there aside, with its uploads and keys')
    .option('--keep-keys', 'API keys work as in the backup, also those that were revoked since')
    .addOption(
      new Option(
        '--revoke-keys',
        "revoke all API keys of the backup; the next start writes a new operator's key",
      ).conflicts('keepKeys'),
    )
    .addHelpText('after', RESTORE_HELP)
    .action(async (dir: string | undefined, _, command: Command) => {
      const options = command.optsWithGlobals<RestoreFlags>();
      if (options.fromLog !== undefined) return await beginAgain(options.fromLog, dir, options);
      if (dir === undefined) throw new CommandError('usage', 'Name the folder of backups, or use --from-log.', null);
      const { from = null, replace = false, keepKeys, revokeKeys, data, json } = options;
      const keys = keepKeys ? 'keep' : revokeKeys ? 'revoke' : null;
      const { restoreBackup } = await import('../../server/commands/restore.ts');
      const line = progressOf(options);
      const asked = { dir, from, replace, keys, progress: shownOn(line) } as const;
      const report = await restoreBackup(settings({ TIDEMARK_DATA: data }), asked).finally(line.clear);
      if (json) return await printJson(report);
      const { dataFolder, backup, generation, replaced, changedKeys, repeatedErasures, repaired } = report;
      const { repeatedTakedowns: takedowns, returnedMarkets: returned } = report;
      await printFields([
        ['restored', dataFolder],
        ['backup', `${backup}, of generation ${generation ?? 0}`],
        ['moved aside', replaced ?? 'nothing was there'],
        ...(changedKeys === 0
          ? []
          : [['keys', `${counted(changedKeys, 'key')} ${revokeKeys ? '' : 'stay '}revoked or rotated`] as const]),
        ...(repeatedErasures === 0 ? [] : [['erasures', `${repeatedErasures}, done again by the next start`] as const]),
        ...(takedowns === 0 ? [] : [['takedowns', `${takedowns}, done again by the next start`] as const]),
        ...Object.entries(repaired).map(([slug, outcome]) => ['repaired', `${slug}: ${outcome}`] as const),
      ]);
      if (returned.length > 0) {
        note(`Removed after this backup, and public again with the next start: ${returned.join(', ')}.`);
      }
      if (report.logSize !== null && !report.isLongerLogShown) {
        const size = report.logSize.toLocaleString('en-GB');
        note(
          `The log continues after ${size} entries. If a later one was public, read docs/operations.md, "The log after a restore", first.`,
        );
      }
      if (report.logSize !== null) note('The log then repeats all standing facts, so it may become twice as long.');
      note(`The next start publishes every market again, in place: tidemark start --data ${dataFolder}`);
    });
}

async function beginAgain(source: string, dir: string | undefined, options: RestoreFlags): Promise<void> {
  const { from, replace = false, forgetNames = false, keepKeys, revokeKeys, data, json, timeout } = options;
  if ([dir, from, keepKeys, revokeKeys].some((given) => given !== undefined)) {
    const hint = 'A log has no accounts and no keys. Leave the folder, --from, --keep-keys and --revoke-keys out.';
    throw new CommandError('usage', '--from-log does not use a backup.', hint);
  }
  const { restoreFromLog } = await import('../../server/commands/restore-from-log.ts');
  const line = progressOf(options);
  const seen = [...readKnownLogs(knownLogsPath(options)).values()].map(({ checkpoint }) => checkpoint);
  const asked = { source, replace, seen, forgetNames, timeoutSeconds: timeout, progress: shownOn(line) };
  const report = await restoreFromLog(settings({ TIDEMARK_DATA: data }), asked).finally(line.clear);
  if (json) return await printJson(report);
  const { dataFolder, origin, logSize, markets, observations, removed, takenDown, lostNames, replaced } = report;
  await printFields([
    ['begun', dataFolder],
    ['from', `${source}, the log ${origin} of ${counted(logSize, 'entry', 'entries')}`],
    ['has', `${counted(markets, 'market')}, ${counted(observations, 'observation')}, removed markets: ${removed}`],
    ['moved aside', replaced ?? 'nothing was there'],
    ...(takenDown === 0 ? [] : [['taken down', counted(takenDown, 'entry', 'entries')] as const]),
    ...lostNames.map((slug) => ['lost name', `${slug}: its representative, of whom the log has a digest`] as const),
  ]);
  note(
    `The log continues after ${logSize.toLocaleString('en-GB')} entries. If a later one was public anywhere, begin from that copy instead: two versions of an entry would be a fork.`,
  );
  note(
    'These are not in a log, so they are lost: accounts, API keys, watchlists, claims, idempotency, the audit, uploads, sources that are fetched, earlier exports.',
  );
  note(`The next start makes another operator's key, and publishes every market: tidemark start --data ${dataFolder}`);
}

const shownOn = (line: ProgressLine) => (step: string, done: number, of: number) =>
  line.at(step, { share: of === 0 ? null : done / of });

function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Write a number from 1 to 9999.');
  return Number(text);
}
