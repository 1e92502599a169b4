/** `tidemark exports`: the daily exports of a server on this machine. */
import { type Command, InvalidArgumentError } from 'commander';
import { keptLabelSchema } from '../../contract/bodies/export-manifest.ts';
import { note, printFields, printJson } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { settings } from './commands.ts';

const PROJECTION = 'exports';

const MAKE_HELP = `
The server must run on this machine, as the same user. The export of today then shows what is published now. Exports of
earlier days stay as they are, and so does one that is kept. See docs/exports.md.

Example:
  tidemark exports make --data .tidemark`;

const KEEP_HELP = `
The server must run on this machine, as the same user. Cite /api/v1/exports/DATE/datapackage.json: it stays, and all
that it names. The server makes a kept export again from the log if its files are lost. See docs/exports.md.

Example:
  tidemark exports keep 2026-11-22 --label 'As cited in our report'`;

const UNKEEP_HELP = `
Example:
  tidemark exports unkeep 2026-11-22`;

export function addExportCommands(program: Command): void {
  const exports = program.command(PROJECTION).description('the daily exports of a server on this machine');
  exports
    .command('make')
    .description('make the export of today again, without waiting for midnight')
    .addHelpText('after', MAKE_HELP)
    .action(async (_, command: Command) => {
      const { data, json } = command.optsWithGlobals<GlobalOptions>();
      const { askDaily } = await import('../../server/commands/daily.ts');
      note('The server makes the export of today. A million observations take some half a minute.');
      const { date } = await askDaily(settings({ TIDEMARK_DATA: data }), PROJECTION);
      if (json) return await printJson({ date });
      await printFields([['made', date]]);
    });
  exports
    .command('keep')
    .description('keep the export of a day for good, so that readers can cite it')
    .argument('<date>', 'its day, e.g. 2026-11-22', dayOf)
    .option('--label <text>', 'a public text about it', labelOf)
    .addHelpText('after', KEEP_HELP)
    .action(async (date: string, _, command: Command) => {
      const { label = null } = command.opts<{ readonly label?: string }>();
      await keep(command, date, { label });
    });
  exports
    .command('unkeep')
    .description('do not keep the export of a day any more: it goes after 35 days, like others')
    .argument('<date>', 'its day, e.g. 2026-11-22', dayOf)
    .addHelpText('after', UNKEEP_HELP)
    .action(async (date: string, _, command: Command) => await keep(command, date, null));
}

async function keep(command: Command, date: string, kept: { readonly label: string | null } | null): Promise<void> {
  const { data, json } = command.optsWithGlobals<GlobalOptions>();
  const { askDaily } = await import('../../server/commands/daily.ts');
  await askDaily(settings({ TIDEMARK_DATA: data }), PROJECTION, date, kept);
  if (json) return await printJson({ date, kept: kept !== null });
  await printFields([[kept === null ? 'not kept' : 'kept', `/api/v1/exports/${date}/datapackage.json`]]);
}

function dayOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  throw new InvalidArgumentError('It is a day such as 2026-11-22.');
}

function labelOf(text: string): string {
  const { error } = keptLabelSchema.safeParse(text);
  if (error === undefined) return text;
  throw new InvalidArgumentError(`It ${error.issues.map(({ message }) => message).join(', and ')}.`);
}
