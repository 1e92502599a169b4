/** `tidemark doctor`: makes the checks of an operator, and names the remedy for each fault. */
import type { Command } from 'commander';
import type { Diagnosis } from '../../server/doctor/diagnosis.ts';
import type { FolderReport } from '../../server/doctor/folder.ts';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';
import { counted } from '../../server/terminal/words.ts';
import { endWith } from '../program/exit-codes.ts';
import { isPersonReading, note, print, printJson, progressOf, Table } from '../program/output.ts';
import { type GlobalOptions, readProfile } from '../program/profile.ts';
import { settings } from './commands.ts';

interface DoctorFlags extends GlobalOptions {
  readonly ledger?: boolean;
}

const HELP = `
Without a URL: the settings, the data folder, its ledger and its backups, and the server that runs there. With a URL: what
readers get there, for example through a proxy, and its certificate; with --data both. It changes nothing.
Ends with 1 if there is a fault, and with 0 if there are warnings only.

Examples:
  tidemark doctor
  tidemark doctor https://data.example --json`;

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check a data folder and a service, and say how to correct what is wrong; ends with 1 on a fault')
    .argument('[url]', 'the base URL of a service, as readers use it')
    .option('--ledger', 'read all of the ledger of a running server, by a snapshot in its data folder')
    .addHelpText('after', HELP)
    .action(async (url: string | undefined, _, command: Command) => {
      const options = command.optsWithGlobals<DoctorFlags>();
      const asked = url === undefined ? options : { ...options, url };
      const progress = progressOf(options);
      progress.at('Examining', { share: null });
      const named = asked.url ?? (asked.profile === undefined ? null : (await readProfile(asked)).readUrl.href);
      const folder = await examineLocal(named, options, progress);
      const remote = named ?? folder.server;
      const isAsked = remote !== null || folder.found.length === 0;
      const profile = isAsked ? await readProfile(remote === null ? options : { ...options, url: remote }) : null;
      progress.at('Asking the service', { share: null });
      const { examineService } = await import('../../server/doctor/service.ts');
      const service = profile === null ? [] : await examineService(profile.readUrl, options.timeout);
      progress.clear();
      await show([...folder.found, ...service], options.json === true);
    });
}

/** If a service is named, it may be on another machine. Then local checks need a named data folder, too. */
async function examineLocal(
  named: string | null,
  { data, ledger }: DoctorFlags,
  progress: ProgressLine,
): Promise<FolderReport> {
  if (named !== null && data === undefined) return { found: [], server: null };
  const { examineFolder } = await import('../../server/doctor/folder.ts');
  const question = { readsLedger: ledger === true, nowMs: Date.now(), progress };
  return await examineFolder(settings({ TIDEMARK_DATA: data }), question);
}

async function show(found: readonly Diagnosis[], asJson: boolean): Promise<void> {
  const [faults, warnings] = ['fault', 'warning'].map((state) => found.filter((one) => one.state === state).length);
  if (faults) endWith('findings');
  if (asJson) return await printJson({ faults, warnings, checks: found });
  const table = new Table(['STATE', 'CHECK', 'FOUND']);
  for (const { state, check, detail, hint } of found) {
    await table.add([state, check, detail]);
    if (hint !== null) await table.add(['', '', `→ ${hint}`]);
  }
  await table.end();
  if (isPersonReading()) await print('\n');
  note(`${counted(faults ?? 0, 'fault')}, ${counted(warnings ?? 0, 'warning')}`);
}
